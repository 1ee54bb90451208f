import { allShortcuts } from "../../src/scheme/shortcuts.ts";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelRepeat } from "../../test/support/measured-trials.ts";
import { autoSlots } from "../../src/codec/layout.ts";
import { cannotOverflow, slotResolution } from "../../src/codec/slot.ts";
import { type TrialSpec, trialName, fineGrid } from "./trial.ts";
import { trialDigest, TrialStore } from "./trial-store.ts";
import { scales } from "../reproduce/scale.ts";
import { pairOf } from "../reproduce/sweep.ts";

const { batched: spec } = pairOf(scales.full, { dataset: "default", trees: 50, keyBits: 1024 });
const context = { dataDigest: "data", programDigest: "program", seed: 7 };
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tandem-trials-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a trial's digest", () => {
  it.each<[string, TrialSpec, typeof context]>([
    ["trees", { ...spec, trees: 51 }, context],
    ["key", { ...spec, keyBits: 512 }, context],
    ["codec", { ...spec, codec: "unbatched" }, context],
    ["training rows", { ...spec, trainRows: 18_299 }, context],
    ["test rows", { ...spec, testRows: 5_698 }, context],
    ["shortcuts", { ...spec, shortcuts: { ...allShortcuts, packing: false } }, context],
    ["dataset", { ...spec, dataset: "giveme" }, context],
    ["data", spec, { ...context, dataDigest: "other" }],
    ["program", spec, { ...context, programDigest: "other" }],
    ["seed", spec, { ...context, seed: 8 }],
  ])("changes with the %s", (_, other, circumstances) => {
    expect(trialDigest(other, circumstances)).not.toBe(trialDigest(spec, context));
  });

  it("does not change with the number of repeats", () => {
    expect(trialDigest({ ...spec, repeats: 9 }, context)).toBe(trialDigest(spec, context));
  });
});

describe("the store", () => {
  it("gives back what was written, and nothing under another digest", async () => {
    const store = await TrialStore.open(join(folder, "cells"));
    expect(await store.read(spec, "d")).toEqual([]);
    const outcomes = [{ repeat: modelRepeat(spec) }, { overflow: "a sum overflows" }];
    await store.write(spec, "d", outcomes);
    expect(await store.read(spec, "d")).toEqual(outcomes);
    expect(await store.read(spec, "e")).toEqual([]);
    expect(readdirSync(join(folder, "cells"))).toEqual(["default-18300rows-1024bit-50trees-batched.json"]);
  });

  it("measures again what was cut short or is something else", async () => {
    const store = await TrialStore.open(folder);
    const path = join(folder, `${trialName(spec)}.json`);
    for (const text of [
      "",
      '{"name":"x","digest":"d","outcomes":[{"run":',
      '{"name":"x","digest":"d","outcomes":[{"run":{}}]}',
    ]) {
      writeFileSync(path, text);
      expect(await store.read(spec, "d")).toEqual([]);
    }
  });
});

describe("the unbatched side's grid", () => {
  it("is 2^-40 for every number of instances, and exact", () => {
    expect(fineGrid).toMatchObject({ codec: "unbatched", resolution_bits: 40 });
    for (const rows of [500, 18_300, 91_500]) {
      const [slot] = autoSlots(fineGrid, [{ min: -1, max: 1 }], rows);
      expect(slotResolution(slot)).toBe(2 ** -40);
      expect(cannotOverflow(slot, rows)).toBe(true);
    }
  });
});
