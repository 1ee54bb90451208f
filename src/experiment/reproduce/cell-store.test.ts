import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelRun } from "../../../test/support/measured-cells.ts";
import { autoSlots } from "../../codec/layout.ts";
import { cannotOverflow, slotResolution } from "../../codec/slot.ts";
import { type CellSpec, cellName, fineGrid } from "./cell.ts";
import { cellDigest, CellStore } from "./cell-store.ts";
import { scales } from "./scale.ts";
import { pairOf } from "./sweep.ts";

const { batched: spec } = pairOf(scales.full, { dataset: "default", trees: 50, keyBits: 1024 });
const context = { dataDigest: "data", programDigest: "program", seed: 7 };
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tandem-cells-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a cell's digest", () => {
  it.each<[string, CellSpec, typeof context]>([
    ["trees", { ...spec, trees: 51 }, context],
    ["key", { ...spec, keyBits: 512 }, context],
    ["codec", { ...spec, codec: "unbatched" }, context],
    ["training rows", { ...spec, trainRows: 18_299 }, context],
    ["test rows", { ...spec, testRows: 5_698 }, context],
    ["shortcuts", { ...spec, speed: { packing: false } }, context],
    ["dataset", { ...spec, dataset: "giveme" }, context],
    ["data", spec, { ...context, dataDigest: "other" }],
    ["program", spec, { ...context, programDigest: "other" }],
    ["seed", spec, { ...context, seed: 8 }],
  ])("changes with the %s", (_, other, circumstances) => {
    expect(cellDigest(other, circumstances)).not.toBe(cellDigest(spec, context));
  });

  it("does not change with the number of repeats", () => {
    expect(cellDigest({ ...spec, repeats: 9 }, context)).toBe(cellDigest(spec, context));
  });
});

describe("the store", () => {
  it("gives back what was written, and nothing under another digest", async () => {
    const store = await CellStore.open(join(folder, "cells"));
    expect(await store.read(spec, "d")).toEqual([]);
    const outcomes = [{ run: modelRun(spec) }, { overflow: "a sum overflows" }];
    await store.write(spec, "d", outcomes);
    expect(await store.read(spec, "d")).toEqual(outcomes);
    expect(await store.read(spec, "e")).toEqual([]);
    expect(readdirSync(join(folder, "cells"))).toEqual(["default-18300rows-1024bit-50trees-batched.json"]);
  });

  it("measures again what was cut short or is something else", async () => {
    const store = await CellStore.open(folder);
    const path = join(folder, `${cellName(spec)}.json`);
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
