import { describe, expect, it } from "vitest";
import { binFeature } from "./binning.ts";
import { binGoesLeft, candidateAt, candidateCount, candidateIndex, candidatesOf, partition } from "./candidate.ts";

const dense = binFeature("x", Float32Array.of(3, 1, 2, 1), 8);
const holed = binFeature("x", Float32Array.of(3, NaN, 2, 1), 8);
const likeXgboost = binFeature("x", Float32Array.of(3, NaN, 2, 1), 8, null, true);
const text = (feature: typeof dense): string[] =>
  candidatesOf(feature).map(
    (candidate) => `${"bin" in candidate ? candidate.bin : "?"}${candidate.missingLeft ? "L" : "R"}`,
  );

describe("candidatesOf", () => {
  it("goes by threshold, then missing right before missing left", () => {
    expect(text(dense)).toEqual(["0R", "1R"]);
    expect(text(holed)).toEqual(["0R", "0L", "1R", "1L", "2R"]);
  });

  it("with XGBoost's cuts goes through all that send missing values right, then down those that send them left", () => {
    expect(text(likeXgboost)).toEqual(["0R", "1R", "2R", "1L", "0L"]);
    expect(text({ ...likeXgboost, monotone: 1 })).toEqual(["0R", "1R", "2R", "1L", "0L", "-1L"]);
    expect(text(binFeature("x", Float32Array.of(3, 1, 2, 1), 8, null, true))).toEqual(["0R", "1R"]);
  });

  it("has present against missing even for one bin, and nothing for a constant", () => {
    expect(text(binFeature("x", Float32Array.of(5, NaN), 8))).toEqual(["0R"]);
    expect(text(binFeature("x", Float32Array.of(5, 5), 8))).toEqual([]);
  });

  it("is counted by candidateCount", () => {
    for (const feature of [
      dense,
      holed,
      binFeature("x", Float32Array.of(NaN), 8),
      binFeature("x", Float32Array.of(1), 8),
      { ...holed, monotone: 1 },
      likeXgboost,
      { ...likeXgboost, monotone: 1 },
    ]) {
      expect(candidateCount(feature)).toBe(candidatesOf(feature).length);
      for (const [i, candidate] of candidatesOf(feature).entries()) {
        expect(candidateAt(feature, i)).toEqual(candidate);
        expect(candidateIndex(feature, candidate)).toBe(i);
      }
    }
  });
});

describe("partition", () => {
  it("keeps order and the direction of missing values", () => {
    const instances = Uint32Array.of(3, 2, 1, 0);
    expect(partition(holed, { bin: 1, missingLeft: false }, instances)).toEqual({
      left: Uint32Array.of(3, 2),
      right: Uint32Array.of(1, 0),
    });
    expect(partition(holed, { bin: 0, missingLeft: true }, instances)).toEqual({
      left: Uint32Array.of(3, 1),
      right: Uint32Array.of(2, 0),
    });
    expect(binGoesLeft(holed, { bin: 2, missingLeft: false }, holed.binCount)).toBe(false);
  });
});
