import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { plainAddon } from "../plain-addon.ts";
import { SeededRandom } from "../random.ts";
import { everyRow, nativeRowLoops, portableRowLoops, type RowLoops } from "./row-loops.ts";

const addon = plainAddon();
const random = new SeededRandom("row loops");
/** Around the sizes of blocks and chunks; the last takes several threads. */
const counts = [1, 7, 8, 63, 64, 65, 1023, 1024, 1025, 2500, 65_535, 65_537, 140_003];

function someRows(count: number, of: number): Uint32Array {
  return Uint32Array.from({ length: count }, () => random.below(of));
}

/** Integers of either sign whose sums are exact. */
function integers(count: number): Float64Array {
  return Float64Array.from({ length: count }, () => random.below(2 ** 31) - 2 ** 30);
}

/** Ascending, as members of a node. */
function members(of: number): Uint32Array {
  return everyRow(of).filter(() => random.below(3) > 0);
}

function bits(count: number): Uint8Array {
  return Uint8Array.from({ length: Math.ceil(count / 8) }, () => random.below(256));
}

/** What a call returns, and all bytes that it writes. */
type Case = (loops: RowLoops) => unknown;

function casesOf(count: number): Readonly<Record<string, Case>> {
  const all = count + 100;
  const columns = [integers(all), integers(all), integers(all)];
  const rows = someRows(count, all);
  const bitmap = bits(count);
  const ofAll = bits(all);
  const table = Uint8Array.from({ length: 300 }, () => random.below(2));
  const bins = Uint16Array.from({ length: all }, () => random.below(300));
  const places = Int32Array.from({ length: all }, (_, row) => (row % 3 === 0 ? -1 : all - 1 - row));
  const distinct = members(all);
  const values = Float64Array.from({ length: count }, () => random.normal() / 2);
  values.set([0, -0, -1, 1, 2 ** -25, -(2 ** -25), 3 * 2 ** -25, -3 * 2 ** -25].slice(0, count));
  const leaves = someRows(count, 15);
  const weights = Float64Array.from({ length: 15 }, () => random.normal());
  const grids = [2 ** -24, 0.1, 1].map((resolution) => ({ shift: -8, top: 0.75, resolution, largest: 2 ** 24 }));
  return {
    sums: (loops) => loops.sums(columns, rows),
    "one sum": (loops) => loops.sums(columns.slice(0, 1), rows),
    "sums of set": (loops) => loops.sumsOfSet(columns, rows, bitmap),
    sizes: (loops) => loops.sumOfSizes(columns[0], rows),
    "set bits": (loops) => loops.countSet(bitmap, count),
    divided: (loops) => loops.divided(rows, bitmap),
    "divided, all inside": (loops) => loops.divided(rows, bitmap.slice().fill(255)),
    "divided, all outside": (loops) => loops.divided(rows, bitmap.slice().fill(0)),
    picked: (loops) => loops.picked(ofAll, rows),
    "looked up": (loops) => loops.lookedUp(table, bins, rows),
    placed: (loops) => written(new Int32Array(all), (to) => loops.place(columns[0], distinct, places, to)),
    "placed in their own place": (loops) =>
      written(new Int32Array(all), (to) => loops.place(columns[1], distinct, null, to)),
    rounded: (loops) => grids.map((grid) => written(new Float64Array(count), (to) => loops.round(values, grid, to))),
    marked: (loops) => written(new Uint32Array(all), (to) => loops.mark(distinct, 4_000_000_000, to)),
    "added by leaf": (loops) =>
      written(
        Float64Array.from({ length: 3 * count }, (_, i) => i / 7),
        (to) => loops.addByLeaf(leaves, weights, to, 1, 3),
      ),
  };
}

/** All bits of what a call gave: -0 is not 0. */
function printOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    ArrayBuffer.isView(part)
      ? createHash("sha256")
          .update(new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
          .digest("hex")
      : Object.is(part, -0)
        ? "-0"
        : part,
  );
}

function written<T>(to: T, write: (to: T) => unknown): { readonly to: T; readonly result: unknown } {
  const result = write(to);
  return { to, result };
}

describe.skipIf(addon === null)("the addon has the bits of the TypeScript loops", () => {
  const native = addon === null ? portableRowLoops : nativeRowLoops(addon, 0);

  test.each(counts)("%i rows", (count) => {
    for (const [name, made] of Object.entries(casesOf(count))) {
      const found = made(native);
      const expected = made(portableRowLoops);
      expect(printOf(found), name).toBe(printOf(expected));
    }
  });

  test("values on half steps of the grid, and on its limits", () => {
    const steps = Float64Array.from({ length: 4001 }, (_, i) => (i - 2000) / 2);
    for (const resolution of [2 ** -24, 0.3, 1, 2 ** 20]) {
      const grid = { shift: -1000 * resolution, top: 900 * resolution, resolution, largest: 800 };
      const values = steps.map((step) => step * resolution);
      const [found, expected] = [native, portableRowLoops].map((loops) =>
        written(new Float64Array(values.length), (to) => loops.round(values, grid, to)),
      );
      expect(found).toStrictEqual(expected);
    }
  });

  test.each([NaN, -1.5, -Infinity])("the first value that is %d has no place on the grid", (bad) => {
    const values = new Float64Array(5000).fill(0.25);
    values[4321] = bad;
    values[4900] = bad;
    const grid = { shift: -1, top: 1, resolution: 2 ** -24, largest: 2 ** 24 };
    for (const loops of [native, portableRowLoops]) expect(loops.round(values, grid, values.slice())).toBe(4321);
  });

  test("a grid that is too fine for the addon's floor is left to TypeScript", () => {
    const values = Float64Array.from({ length: 3000 }, () => random.uniform() * 2 ** 52);
    const grid = { shift: 0, top: 2 ** 52, resolution: 1, largest: 2 ** 52 };
    const [found, expected] = [native, portableRowLoops].map((loops) =>
      written(new Float64Array(3000), (to) => loops.round(values, grid, to)),
    );
    expect(found).toStrictEqual(expected);
    expect(() => addon?.roundToGrid(values, Float64Array.of(0, 2 ** 52, 1, 2 ** 52), values.slice(), 1)).toThrow(
      "too fine",
    );
  });

  test("rows that do not exist, and arrays of wrong sizes, are refused", () => {
    const rows = everyRow(3000).slice();
    const column = integers(3000);
    const bitmap = bits(3000);
    rows[2900] = 3000;
    expect(() => native.sums([column], rows)).toThrow("every row exists");
    expect(() => native.sumOfSizes(column, rows)).toThrow("every row exists");
    expect(() => native.picked(bitmap, Uint32Array.of(8 * bitmap.length))).toThrow("every row exists");
    expect(() => native.lookedUp(new Uint8Array(4), new Uint16Array(3000), rows)).toThrow("every row exists");
    expect(() => native.lookedUp(new Uint8Array(4), Uint16Array.of(0, 4), Uint32Array.of(0, 1))).toThrow("every row");
    expect(() => native.place(column, rows, null, new Int32Array(3000))).toThrow("every row exists");
    expect(() => native.mark(rows, 1, new Uint32Array(3000))).toThrow("every row exists");
    expect(() => native.addByLeaf(rows, new Float64Array(3000), column.slice(), 0, 1)).toThrow("every row exists");
    expect(() => native.sumsOfSet([column], rows, bitmap.slice(1))).toThrow("wrong size");
    expect(() => native.divided(rows, bitmap.slice(1))).toThrow("out of range");
    expect(() => addon?.divideRows(rows, bitmap, new Uint32Array(1), new Uint32Array(2999), 1)).toThrow("wrong size");
    expect(() => addon?.rowSums([column, column.slice(1)], rows, null, new Float64Array(2), 1)).toThrow("same length");
    expect(() => native.addByLeaf(rows, new Float64Array(3001), column, 0, 2)).toThrow("every leaf");
  });

  test("a place beyond the result, and none, are skipped by both", () => {
    const column = integers(4000);
    const places = Int32Array.from({ length: 4000 }, (_, row) => (row % 2 === 0 ? -1 : 4000 + row));
    for (const loops of [native, portableRowLoops]) {
      const result = new Int32Array(4000).fill(7);
      loops.place(column, everyRow(4000), places, result);
      expect(result).toEqual(new Int32Array(4000).fill(7));
    }
  });
});

test("every row: the same array for the same count", () => {
  expect(everyRow(5)).toEqual(Uint32Array.of(0, 1, 2, 3, 4));
  expect(everyRow(5)).toBe(everyRow(5));
  expect(everyRow(2)).toEqual(Uint32Array.of(0, 1));
  expect(everyRow(5)).toEqual(Uint32Array.of(0, 1, 2, 3, 4));
});
