import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { totalBinCount } from "./binning.ts";
import { binGoesLeft, candidateCount, candidateIndex, candidatesOf, partition } from "./candidate.ts";
import { binCategories } from "./category-binning.ts";
import { leftSums } from "./histogram.ts";

const rows = 40;

function featureOf(categoryCount: number, hasMissing: boolean, oneHot: boolean) {
  const random = new SeededRandom(`${categoryCount}/${hasMissing}`);
  const names = Array.from({ length: categoryCount }, (_, i) => `c${i}`);
  const codes = Float32Array.from({ length: rows }, (_, row) =>
    hasMissing && row % 7 === 3 ? NaN : row < categoryCount ? row : random.below(categoryCount),
  );
  return binCategories("kind", codes, names, oneHot ? 1000 : 1);
}

const text = (categoryCount: number, hasMissing: boolean, oneHot: boolean): string[] =>
  candidatesOf(featureOf(categoryCount, hasMissing, oneHot)).map(
    (candidate) =>
      `${"categories" in candidate ? candidate.categories.join() : "?"}${candidate.missingLeft ? "L" : "R"}`,
  );

test("one category against the rest: missing values left, then right with it", () => {
  expect(text(2, true, true)).toEqual(["0L", "0R", "1L", "1R"]);
  expect(text(3, false, true)).toEqual(["0L", "1L", "2L"]);
  expect(text(1, true, true)).toEqual(["0L"]);
  expect(text(1, false, true)).toEqual([]);
});

test("category sums for sets: each category, then the missing values", () => {
  expect(text(3, true, false)).toEqual(["0L", "1L", "2L", "R"]);
  expect(text(3, false, false)).toEqual(["0L", "1L", "2L"]);
  expect(text(1, true, false)).toEqual([]);
});

describe("counts, indices and sums of candidates", () => {
  const shapes = [1, 2, 3, 8].flatMap((count) =>
    [true, false].flatMap((hasMissing) => [true, false].map((oneHot) => ({ count, hasMissing, oneHot }))),
  );
  test.each(shapes)("$count categories, missing $hasMissing, one-hot $oneHot", ({ count, hasMissing, oneHot }) => {
    const feature = featureOf(count, hasMissing, oneHot);
    const candidates = candidatesOf(feature);
    expect(candidateCount(feature)).toBe(candidates.length);
    const instances = Uint32Array.from({ length: rows }, (_, i) => i);
    const counts = new Float64Array(totalBinCount(feature));
    for (const bin of feature.bins) counts[bin]++;
    const sums = leftSums(feature, counts);
    expect(sums).toHaveLength(candidates.length);
    candidates.forEach((candidate, i) => {
      expect(candidateIndex(feature, candidate)).toBe(i);
      const { left, right } = partition(feature, candidate, instances);
      expect(left).toHaveLength(sums[i]);
      expect(left.length + right.length).toBe(rows);
      expect(Math.min(left.length, right.length)).toBeGreaterThan(0);
      expect([...left].every((instance) => binGoesLeft(feature, candidate, feature.bins[instance]))).toBe(true);
      expect(binGoesLeft(feature, candidate, feature.binCount + 1), "an unknown category").toBe(true);
    });
  });
});
