/** Events about workers that join, work, hang and leave. */
import { afterEach, expect, test } from "vitest";
import { TestCrew } from "../../test/support/crews.ts";
import { type Answer, type BlockWork, bytesAnswer, nothing } from "../scheme/blocks/block.ts";
import type { CrewWorker } from "../wire/generated/tandem/v1/crew_pb.ts";
import { doing } from "./activity.ts";
import { crewSnapshot, workersShown } from "./crew-snapshot.ts";
import type { CrewSummary } from "./crew-summary.ts";
import { CrewStatusTable } from "./crew-status.ts";
import type { CrewEvent } from "./remote-blocks.ts";
import { sealOf } from "./seal.ts";

/** Loads and answers when released. */
class Slow implements BlockWork {
  static taking = Promise.resolve();
  static answering = Promise.resolve();
  begin(): void {}
  take(): Promise<void> {
    return Slow.taking;
  }
  async answer(): Promise<Answer> {
    await Slow.answering;
    return bytesAnswer(nothing);
  }
}

const schemeNamed = (): { block: () => BlockWork } => ({ block: () => new Slow() });
const rowCount = 14;
const job = {
  scheme: "slow",
  terms: nothing,
  rowCount,
  columns: { bins: [new Uint16Array(rowCount)], binCounts: Uint32Array.of(2) },
};
const entry = { head: Uint8Array.of(1), payload: new Uint8Array(1000) };
const question = { head: Uint8Array.of(1), payload: nothing };

const crew = new TestCrew();
afterEach(() => crew.stop());
const saw = <K extends CrewEvent["kind"]>(kind: K): Extract<CrewEvent, { kind: K }>[] =>
  crew.events.filter((event): event is Extract<CrewEvent, { kind: K }> => event.kind === kind);
const last = (): CrewSummary | undefined => saw("progress").at(-1)?.crew;

test("workers that join, their activity, awaited blocks, lost workers, and the final state", async () => {
  const workers = ["w0", "w1"].map((id) => crew.work(id, { schemeNamed, threads: 3 }));
  const blocks = await crew.crew({ workersMin: 2, lines: undefined }).open(job);
  await crew.until(() => saw("worker-joined").length === 2);
  expect(saw("worker-joined").map(({ worker, threads }) => [worker, threads])).toEqual([
    ["w0", 3],
    ["w1", 3],
  ]);
  await blocks.begin();
  for (let block = 0; block < 2; block++) await blocks.append(block, entry);
  let answer = (): void => {};
  Slow.answering = new Promise((resolve) => (answer = resolve));
  const asked = blocks.ask([question, question]);
  await crew.until(() => last()?.workers.every((worker) => worker.doing === "summing") === true);
  await crew.until(() => last()?.awaited?.of.every(({ worker }) => worker !== "") === true);
  expect(last()).toMatchObject({
    blocks: 2,
    freeBlocks: 0,
    workerCount: 2,
    workers: ["w0", "w1"].map((worker) => ({ worker, threads: 3, blocks: 1, doing: "summing" })),
  });
  expect(last()?.awaited?.of.toSorted((a, b) => (a.worker < b.worker ? -1 : 1))).toEqual([
    { worker: "w0", blocks: 1 },
    { worker: "w1", blocks: 1 },
  ]);
  expect(last()?.bytesToEngine).toBeGreaterThan(2000);
  expect(last()?.workers[0].memoryBytes).toBeGreaterThan(1 << 20);

  workers[0].kill();
  let take = (): void => {};
  Slow.taking = new Promise((resolve) => (take = resolve));
  answer();
  await crew.until(() => last()?.workers.some((worker) => worker.doing === "replaying") === true);
  take();
  await asked;
  await crew.until(() => saw("worker-lost").length === 1);
  expect(saw("worker-lost")).toEqual([{ kind: "worker-lost", worker: "w0", blocks: 1 }]);
  await blocks.close();
  const end = last();
  expect(end).toMatchObject({ awaited: null, workerCount: 1 });
  expect(end?.bytesFromEngine).toBeGreaterThan(0);
  const count = crew.events.length;
  await crew.until(() => crew.clock.now() > 60_000);
  expect(crew.events.length, "no events after the end").toBe(count);
});

test("entries of workers are bounded before they are shown", async () => {
  const crewKey = new Uint8Array(32);
  const statusTable = new CrewStatusTable(crew.engine.connect().statusTable, (epoch) => sealOf(crewKey, epoch));
  const worker = { version: "1", threads: 2 ** 31, blocks: 2 ** 31, memoryMib: 7, doing: 99 };
  await statusTable.putWorker("Not.a\u001bname", worker);
  await statusTable.putWorker("b", { ...worker, threads: 1, blocks: 1, trouble: "/secret/path", doing: doing.summing });
  const { workers } = await statusTable.read();
  const facts = { blocks: 4, bytesToEngine: 0, bytesFromEngine: 0, awaited: null };
  const shown = crewSnapshot({ epoch: null, hasOthers: false, workers }, facts);
  expect(shown).toEqual({
    ...facts,
    workerCount: 2,
    freeBlocks: 0,
    workers: [
      { worker: "b", threads: 1, memoryBytes: 7 * 2 ** 20, blocks: 1, doing: "hindered" },
      { worker: "unnamed", threads: 4096, memoryBytes: 7 * 2 ** 20, blocks: 4, doing: "idle" },
    ],
  });
  expect(JSON.stringify(shown)).not.toContain("secret");
  const named = (id: string): CrewWorker & { id: string } => ({ ...workers[0], id });
  const many = Array.from({ length: 300 }, (_, i) => named(`w${i}`));
  const crowd = crewSnapshot({ epoch: null, hasOthers: false, workers: many }, facts);
  expect([crowd.workers.length, crowd.workerCount]).toEqual([workersShown, 300]);
});
