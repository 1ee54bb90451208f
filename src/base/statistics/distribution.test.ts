import fc from "fast-check";
import { expect, test } from "vitest";
import { binner, categoryBins, numberBins } from "./distribution.ts";
import { stabilityIndex } from "./stability-index.ts";

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

test("of any numbers: every value is in a bin, and each bin but that of missing values has 2% or more", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.float(), fc.integer({ min: 0, max: 3 }), fc.constant(Number.NaN)), { minLength: 1 }),
      (values) => {
        const bins = numberBins(values);
        expect(bins.counts).toHaveLength(bins.bounds.length + 2);
        expect(total(bins.counts)).toBe(values.length);
        const binOf = binner(bins, null);
        const counts = bins.counts.map(() => 0);
        for (const value of values) counts[binOf(value)]++;
        expect(counts).toEqual(bins.counts);
        if (bins.bounds.length > 0)
          for (const count of bins.counts.slice(0, -1)) expect(count).toBeGreaterThanOrEqual(0.02 * values.length);
        expect(stabilityIndex(bins.counts, counts)).toBe(0);
      },
    ),
  );
});

test("a few values apart do not get a bin of their own", () => {
  const values = [...Array.from({ length: 990 }, () => 1), ...Array.from({ length: 10 }, (_, i) => 100 + i)];
  expect(numberBins(values)).toEqual({ bounds: [], counts: [1000, 0] });
});

test("categories: rare ones and those of others are one bin, whatever codes they have now", () => {
  const names = ["a", "b", "c", "d"];
  const codes = [...Array(60).fill(0), ...Array(30).fill(1), 2, ...Array(5).fill(3), NaN, 9, 9, 9] as number[];
  const bins = categoryBins(codes, names, ["a", "b", "c"]);
  expect(bins).toEqual({ categories: ["a", "b"], counts: [60, 30, 9, 1] });
  const binOf = binner(bins, ["b", "new", "a"]);
  expect([0, 1, 2, 3, Number.NaN].map((code) => binOf(code))).toEqual([1, 2, 0, 2, 3]);
});

test("of a large table evenly spread rows are counted", () => {
  const { counts, bounds } = numberBins(Float64Array.from({ length: 500_000 }, (_, i) => i));
  expect([bounds.length, total(counts)]).toEqual([9, Math.ceil(500_000 / 3)]);
});
