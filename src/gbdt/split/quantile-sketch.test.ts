/** The sketch against the cuts of XGBoost 2.1 (test/fixtures/xgboost/make_cuts.py), which are those of 1.7 as well. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { binFeature } from "./binning.ts";

interface GoldenCuts {
  readonly column: string;
  readonly count: number;
  readonly maxBin: number;
  readonly cuts: number[];
}

const fixture = new URL("../../../test/fixtures/xgboost/cuts.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(fixture, "utf8")) as { cases: GoldenCuts[] };

/** As make_cuts.py computes them. */
const columns: Readonly<Record<string, (i: number, spread: number) => number>> = {
  uniform: (_, spread) => spread / 8,
  skewed: (_, spread) => (spread * spread) / 1e6 - 300,
  sorted: (i) => i / 4 - 1000,
  repeated: (_, spread) => (spread % 3001) / 16,
  steps: (i, spread) => (spread % 2 === 0 ? 0 : Math.floor(i / 7) / 2),
  missing: (_, spread) => (spread % 5 === 0 ? NaN : spread / 8),
};

function valuesOf({ column, count }: GoldenCuts): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => columns[column](i, (i * 7919) % 100003));
}

test.each(cases)("$column, $count rows, max_bin $maxBin: XGBoost's cuts", (golden) => {
  const { thresholds } = binFeature("x", valuesOf(golden), golden.maxBin, null, true);
  expect([...thresholds]).toEqual(golden.cuts);
});

test("exact quantiles are other cuts, where a column has more than 8 * max_bin values", () => {
  const differs = cases.filter((golden) => {
    const { thresholds } = binFeature("x", valuesOf(golden), golden.maxBin);
    return [...thresholds].join() !== golden.cuts.join();
  });
  expect(differs.length).toBeGreaterThan(10);
  expect(differs.every(({ count, maxBin }) => count > 8 * maxBin)).toBe(true);
});

test("rows decide in their order", () => {
  const random = new SeededRandom(5);
  const values = Float32Array.from({ length: 30_000 }, () => random.normal());
  const order = random.permutation(values.length);
  const shuffled = Float32Array.from(order, (i) => values[i]);
  const [one, other] = [values, shuffled].map((column) => [...binFeature("x", column, 32, null, true).thresholds]);
  expect(one).not.toEqual(other);
});

test("a column without values, of one value, and of the two zeros", () => {
  for (const values of [[NaN, NaN], [7], [-0, 0, -0], [1, 2]].map((column) => Float32Array.from(column)))
    expect({ ...binFeature("x", values, 4), missingLeftLast: undefined }).toEqual({
      ...binFeature("x", values, 4, null, true),
      missingLeftLast: undefined,
    });
});
