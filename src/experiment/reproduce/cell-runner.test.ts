import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelRun } from "../../../test/support/measured-cells.ts";
import { cellName, type CellSpec } from "./cell.ts";
import { type CellRunner, planCells, type RunCell, runCells, type RunProgress } from "./cell-runner.ts";
import { CellStore } from "./cell-store.ts";
import { syntheticCreditTable } from "./credit-tables.ts";
import { paperDatasets } from "./paper-datasets.ts";
import { scales } from "./scale.ts";
import { pairOf } from "./sweep.ts";

const { batched, unbatched } = pairOf(
  { ...scales.smoke, repeats: () => 2 },
  { dataset: "default", trees: 1, keyBits: 128 },
);
const table = syntheticCreditTable(paperDatasets.default, 500, 7);
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tandem-runner-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function runner(changes: Partial<CellRunner> = {}): Promise<CellRunner> {
  return {
    store: await CellStore.open(folder),
    tables: new Map([["default", table]]),
    programDigest: "p",
    seed: 7,
    ...changes,
  };
}

const silent: RunProgress = { planned: () => {}, started: () => {}, event: () => {}, finished: () => {} };

/** Stands in for the processes, which test/reproduce.test.ts starts: notes what is run, and how often. */
function noting(names: string[], seconds: readonly number[] = []): RunCell {
  return async (spec) => {
    names.push(cellName(spec).endsWith("unbatched") ? "U" : "B");
    return { run: { ...modelRun(spec), secondsPerTree: seconds[names.length - 1] ?? 1 } };
  };
}

describe("running cells", () => {
  it("takes turns, and the smallest time counts", async () => {
    const names: string[] = [];
    const cells = await runCells([[unbatched, batched]], await runner(), silent, noting(names, [4, 3, 5, 2]));
    expect(names.join("")).toBe("UBUB");
    expect(cells.pair({ batched, unbatched })).toMatchObject({
      perTreeShare: 2 / 4,
      batched: { runCount: 2 },
      unbatched: { runCount: 2 },
    });
  });

  it("runs a cell of two groups once", async () => {
    const names: string[] = [];
    await runCells([[unbatched, batched], [batched]], await runner(), silent, noting(names));
    expect(names.join("")).toBe("UBUB");
  });

  it("goes on where it stopped, and plans no more than that", async () => {
    const names: string[] = [];
    const note = noting(names);
    const dying: RunCell = async (...args) => {
      if (names.length === 3) throw new Error("the machine went down");
      return note(...args);
    };
    await expect(runCells([[unbatched, batched]], await runner(), silent, dying)).rejects.toThrow(
      "the machine went down",
    );
    expect(await planCells([[unbatched, batched]], await runner())).toMatchObject({ toRun: 1, finished: 3 });
    await runCells([[unbatched, batched]], await runner(), silent, note);
    expect(names.join("")).toBe("UBUB");
    const plan = await planCells([[unbatched, batched]], await runner());
    expect(plan).toEqual({ toRun: 0, finished: 4, seconds: 0 });
  });

  it.each<[string, Partial<CellRunner>, Partial<CellSpec>]>([
    ["another program", { programDigest: "q" }, {}],
    ["other rows", { seed: 8 }, {}],
    ["other data", { tables: new Map([["default", syntheticCreditTable(paperDatasets.default, 500, 8)]]) }, {}],
    ["other parameters", {}, { speed: { packing: false } }],
  ])("measures again under %s", async (_, changes, parameters) => {
    await runCells([[batched]], await runner(), silent, noting([]));
    expect(await planCells([[{ ...batched, ...parameters }]], await runner(changes))).toMatchObject({
      toRun: 2,
      finished: 0,
    });
  });

  it("counts an overflow as a run that failed", async () => {
    const cells = await runCells([[batched]], await runner(), silent, async () => ({ overflow: "a sum overflows" }));
    expect(cells.overflows).toEqual({ overflowed: 2, runs: 2 });
    expect(cells.cell(batched)).toBeNull();
  });
});
