import { allShortcuts } from "../../src/scheme/shortcuts.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelRepeat } from "../../test/support/measured-trials.ts";
import { trialName, type TrialSpec } from "./trial.ts";
import { type TrialRunner, planTrials, type RunTrial, runTrials, type TrialProgress } from "./trial-runner.ts";
import { TrialStore } from "./trial-store.ts";
import { syntheticCreditTable } from "./credit-tables.ts";
import { paperDatasets } from "./paper-datasets.ts";
import { scales } from "../reproduce/scale.ts";
import { pairOf } from "../reproduce/sweep.ts";

const { batched, unbatched } = pairOf(
  { ...scales.smoke, repeats: () => 2 },
  { dataset: "default", trees: 1, keyBits: 128 },
);
const table = syntheticCreditTable(paperDatasets.default, 500, 7);
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tandem-runner-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function runner(changes: Partial<TrialRunner> = {}): Promise<TrialRunner> {
  return {
    store: await TrialStore.open(folder),
    tables: new Map([["default", table]]),
    programDigest: "p",
    seed: 7,
    ...changes,
  };
}

const silent: TrialProgress = { planned: () => {}, started: () => {}, event: () => {}, finished: () => {} };

/** Stands in for the processes, which test/reproduce.test.ts starts: notes what is run, and how often. */
function noting(names: string[], seconds: readonly number[] = []): RunTrial {
  return async (spec) => {
    names.push(trialName(spec).endsWith("unbatched") ? "U" : "B");
    return { repeat: { ...modelRepeat(spec), secondsPerTree: seconds[names.length - 1] ?? 1 } };
  };
}

describe("running trials", () => {
  it("takes turns, and the smallest time counts", async () => {
    const names: string[] = [];
    const trials = await runTrials([[unbatched, batched]], await runner(), silent, noting(names, [4, 3, 5, 2]));
    expect(names.join("")).toBe("UBUB");
    expect(trials.pair({ batched, unbatched })).toMatchObject({
      perTreeFraction: 2 / 4,
      batched: { repeatCount: 2 },
      unbatched: { repeatCount: 2 },
    });
  });

  it("runs a trial of two groups once", async () => {
    const names: string[] = [];
    await runTrials([[unbatched, batched], [batched]], await runner(), silent, noting(names));
    expect(names.join("")).toBe("UBUB");
  });

  it("resumes where it stopped, and plans no more than that", async () => {
    const names: string[] = [];
    const note = noting(names);
    const dying: RunTrial = async (...args) => {
      if (names.length === 3) throw new Error("the machine went down");
      return note(...args);
    };
    await expect(runTrials([[unbatched, batched]], await runner(), silent, dying)).rejects.toThrow(
      "the machine went down",
    );
    expect(await planTrials([[unbatched, batched]], await runner())).toMatchObject({ toRun: 1, finished: 3 });
    await runTrials([[unbatched, batched]], await runner(), silent, note);
    expect(names.join("")).toBe("UBUB");
    const plan = await planTrials([[unbatched, batched]], await runner());
    expect(plan).toEqual({ toRun: 0, finished: 4, seconds: 0 });
  });

  it.each<[string, Partial<TrialRunner>, Partial<TrialSpec>]>([
    ["another program", { programDigest: "q" }, {}],
    ["other rows", { seed: 8 }, {}],
    ["other data", { tables: new Map([["default", syntheticCreditTable(paperDatasets.default, 500, 8)]]) }, {}],
    ["other parameters", {}, { shortcuts: { ...allShortcuts, packing: false } }],
  ])("measures again under %s", async (_, changes, parameters) => {
    await runTrials([[batched]], await runner(), silent, noting([]));
    expect(await planTrials([[{ ...batched, ...parameters }]], await runner(changes))).toMatchObject({
      toRun: 2,
      finished: 0,
    });
  });

  it("counts an overflow as a repeat that failed", async () => {
    const trials = await runTrials([[batched]], await runner(), silent, async () => ({ overflow: "a sum overflows" }));
    expect(trials.overflows).toEqual({ overflowed: 2, repeats: 2 });
    expect(trials.trial(batched)).toBeNull();
  });
});
