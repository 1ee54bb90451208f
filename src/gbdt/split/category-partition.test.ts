import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { bestPartition, type CategoryRows } from "./category-partition.ts";
import { TreeGain } from "./gain.ts";
import { addRow } from "./histogram.ts";

const grids = [
  { shift: -1, resolution: 2 ** -20 },
  { shift: 0, resolution: 2 ** -20 },
];
const plain = { lambda: 0, gamma: 0, minChildWeight: 0, alpha: 0, maxDeltaStep: 0 };

/** Rows of (g, h, count) on the grid, from real sums. */
function rowsOf(sums: readonly (readonly [g: number, h: number, count: number])[]): Float64Array {
  return Float64Array.from(
    sums.flatMap(([g, h, count]) => [Math.round((g + count) * 2 ** 20), Math.round(h * 2 ** 20), count]),
  );
}

function totalOf(rows: Float64Array): Float64Array {
  const total = new Float64Array(3);
  for (let at = 0; at < rows.length; at += 3) addRow(total, rows.subarray(at, at + 3));
  return total;
}

function randomCategories(seed: number, count: number, hasMissing: boolean): CategoryRows {
  const random = new SeededRandom(`partition ${seed}`);
  const rows = rowsOf(
    Array.from(
      { length: count + (hasMissing ? 1 : 0) },
      () => [random.normal() * 3, 1 + random.uniform() * 5, 10] as const,
    ),
  );
  return { rows, hasMissing, suppressed: new Uint8Array(count + (hasMissing ? 1 : 0)) };
}

const best = (given: CategoryRows, gain = new TreeGain(grids, plain)) =>
  bestPartition(given, totalOf(given.rows), gain);

test("with pieces: the best of all their unions, by exhaustive search", () => {
  for (let seed = 0; seed < 40; seed++) {
    const random = new SeededRandom(`pieces ${seed}`);
    const hasMissing = seed % 2 === 0;
    const given = randomCategories(seed, 6, hasMissing);
    const pieces = Array.from(given.suppressed, () => random.below(4));
    const gain = new TreeGain(grids, plain);
    const total = totalOf(given.rows);
    const found = best({ ...given, pieces }, gain);
    let highest = -Infinity;
    for (let set = 1; set < 15; set++) {
      const side = new Float64Array(3);
      const isRight = (place: number): boolean => (set >> pieces[place]) % 2 === 1;
      pieces.forEach((_, place) => {
        if (isRight(place)) addRow(side, given.rows.subarray(3 * place, 3 * place + 3));
      });
      // Missing values alone are on no side.
      const sides = pieces.slice(0, 6).map((_, place) => isRight(place));
      if (new Set(sides).size === 2) highest = Math.max(highest, gain.gains(side, total)[0]);
    }
    expect(found?.gain ?? -Infinity, `seed ${seed}`).toBe(highest);
    if (found === null) continue;
    const { categories, missingLeft } = found.candidate;
    const right = new Set(missingLeft ? categories : [...categories, 6]);
    pieces.forEach((piece, a) => {
      pieces.forEach((other, b) => expect(piece !== other || right.has(a) === right.has(b)).toBe(true));
    });
  }
});

describe("the best of all sets, by exhaustive search", () => {
  test.each([2, 3, 5, 7])("of %i categories, with and without missing values", (count) => {
    for (let seed = 0; seed < 20; seed++) {
      const given = randomCategories(seed, count, seed % 2 === 0);
      const gain = new TreeGain(grids, plain);
      const total = totalOf(given.rows);
      const found = best(given, gain);
      let highest = -Infinity;
      for (let set = 1; set < 2 ** count - 1; set++) {
        for (const withMissing of given.hasMissing ? [false, true] : [false]) {
          const side = new Float64Array(3);
          for (let place = 0; place < count + (withMissing ? 1 : 0); place++)
            if (place === count || (set >> place) % 2 === 1)
              addRow(side, given.rows.subarray(3 * place, 3 * place + 3));
          highest = Math.max(highest, gain.gains(side, total)[0]);
        }
      }
      expect(found?.gain, `seed ${seed}`).toBe(highest);
      expect(found?.right[2]).toBe(
        10 * ((found?.candidate.categories.length ?? 0) + (found?.candidate.missingLeft === false ? 1 : 0)),
      );
    }
  });
});

test("categories go right from the lowest weight (the highest gradient) on; equal weights by their codes", () => {
  const given = (sums: Parameters<typeof rowsOf>[0]): CategoryRows => ({
    rows: rowsOf(sums),
    hasMissing: false,
    suppressed: new Uint8Array(sums.length),
  });
  expect(
    best(
      given([
        [-4, 2, 5],
        [4, 2, 5],
        [-4, 2, 5],
        [4, 2, 5],
      ]),
    )?.candidate,
  ).toEqual({ categories: [1, 3], missingLeft: true });
  // Too little hessian for a weight: both are at 0, the first one before the cut that only one satisfies.
  const gain = new TreeGain(grids, { ...plain, minChildWeight: 2 });
  expect(
    best(
      given([
        [0.5, 1, 1],
        [0.5, 1, 1],
        [-9, 3, 5],
        [9, 3, 5],
      ]),
      gain,
    )?.candidate.categories,
  ).toEqual([0, 1, 3]);
  expect(
    best(
      given([
        [-0.5, 1, 1],
        [0, 1, 1],
        [-9, 3, 5],
        [9, 3, 5],
      ]),
      gain,
    )?.candidate.categories,
  ).toEqual([3]);
});

test("max_cat_threshold limits the categories taken from either end", () => {
  const sums = Array.from({ length: 10 }, (_, i) => [i < 5 ? 5 - i / 10 : -5 + i / 10, 3, 10] as const);
  const given = { rows: rowsOf(sums), hasMissing: false, suppressed: new Uint8Array(10) };
  expect(best(given)?.candidate.categories).toEqual([0, 1, 2, 3, 4]);
  expect(best(given, new TreeGain(grids, { ...plain, maxCatThreshold: 3 }))?.candidate.categories).toEqual([0, 1]);
  expect(best(given, new TreeGain(grids, { ...plain, maxCatThreshold: 1 }))).toBeNull();
  const missing = { rows: rowsOf([...sums, [40, 3, 10]]), hasMissing: true, suppressed: new Uint8Array(11) };
  expect(best(missing, new TreeGain(grids, { ...plain, maxCatThreshold: 3 }))?.candidate).toEqual({
    categories: [0, 1, 2, 3, 4, 7, 8, 9],
    missingLeft: false,
  }); // all but two, from the back
});

test("suppressed categories stay left, missing values too; a single visible category can be split off", () => {
  const rows = rowsOf([
    [9, 3, 5],
    [-1, 3, 5],
    [-2, 3, 5],
    [8, 3, 5],
  ]);
  const suppressed = (...flags: number[]): CategoryRows => ({
    rows: rows.map((value, i) => (flags[Math.floor(i / 3)] === 1 ? 0 : value)),
    hasMissing: true,
    suppressed: Uint8Array.from(flags),
  });
  const found = (given: CategoryRows) => bestPartition(given, totalOf(rows), new TreeGain(grids, plain));
  expect(found(suppressed(0, 0, 0, 0))?.candidate).toEqual({ categories: [0], missingLeft: false });
  expect(found(suppressed(0, 1, 1, 1))?.candidate).toEqual({ categories: [0], missingLeft: true });
  expect(found(suppressed(1, 0, 0, 1))?.candidate.categories).not.toContain(0);
  expect(found(suppressed(1, 0, 0, 1))?.candidate.missingLeft).toBe(true);
  expect(found(suppressed(1, 1, 1, 1))).toBeNull();
});

test("nothing to split: one category, or all of them on one side", () => {
  expect(best({ rows: rowsOf([[1, 1, 3]]), hasMissing: false, suppressed: new Uint8Array(1) })).toBeNull();
  expect(
    best({
      rows: rowsOf([
        [1, 1, 3],
        [0, 0, 0],
      ]),
      hasMissing: false,
      suppressed: new Uint8Array(2),
    }),
  ).toBeNull();
});
