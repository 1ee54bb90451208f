import { expect, test } from "vitest";
import { noOperations } from "../../src/scheme/scheme.ts";
import { ReproduceProgress } from "./reproduce-progress.ts";

function recorded(terminal: boolean): { progress: ReproduceProgress; written: string[] } {
  const written: string[] = [];
  return { progress: new ReproduceProgress({ terminal, write: (text) => void written.push(text) }), written };
}

test("elsewhere: a line per training, and the time left scaled by how wrong the plan has been", () => {
  const { progress, written } = recorded(false);
  progress.planned({ toRun: 2, finished: 3, seconds: 40 });
  progress.started("first", 10);
  progress.event({ type: "tree", party: "active", tree: 0, treeCount: 2, metrics: {}, counts: noOperations() });
  progress.finished("first", 20);
  progress.started("second", 30);
  progress.finished("second", 61);
  expect(written).toEqual([
    "2 trainings, 3 finished before; about 40 s on this machine\n",
    "1/2  first  20 s, 60 s left\n",
    "2/2  second  61 s\n",
  ]);
});

test("on a terminal: a bar that moves with every tree", () => {
  const { progress, written } = recorded(true);
  progress.planned({ toRun: 1, finished: 0, seconds: 40 });
  progress.started("first", 40);
  progress.event({ type: "tree", party: "active", tree: 0, treeCount: 2, metrics: {}, counts: noOperations() });
  expect(written[1]).toContain(`${"░".repeat(28)}  1/1  first  40 s left`);
  expect(written[2]).toContain(`${"█".repeat(14)}${"░".repeat(14)}  1/1  first  20 s left`);
});

test("nothing to train is said", () => {
  const { progress, written } = recorded(false);
  progress.planned({ toRun: 0, finished: 8, seconds: 0 });
  expect(written).toEqual(["nothing to train, 8 finished before\n"]);
});
