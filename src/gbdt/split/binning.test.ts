import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { binFeature, binOf, totalBinCount } from "./binning.ts";

const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -20, max: 20 }).map((n) => Math.fround(n / 3)) },
  { weight: 3, arbitrary: fc.float({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.constant(NaN) },
);
const column = fc.array(value, { minLength: 1, maxLength: 120 }).map((values) => Float32Array.from(values));
const distinctOf = (values: Float32Array): number[] =>
  [...new Set(values.filter((x) => !Number.isNaN(x)).map((x) => x + 0))].sort((a, b) => a - b);

describe("binFeature", () => {
  it("puts every value between its bin's thresholds, and missing values after all bins", () => {
    fc.assert(
      fc.property(column, fc.integer({ min: 2, max: 40 }), (values, maxBin) => {
        const feature = binFeature("x", values, maxBin);
        const { thresholds, binCount, bins } = feature;
        expect(thresholds.length).toBe(binCount);
        expect(binCount).toBeGreaterThanOrEqual(1);
        expect(binCount).toBeLessThanOrEqual(maxBin);
        for (let b = 1; b < binCount; b++) expect(thresholds[b]).toBeGreaterThan(thresholds[b - 1]);
        expect(feature.hasMissing).toBe(values.some(Number.isNaN));
        expect(totalBinCount(feature)).toBe(binCount + Number(feature.hasMissing));
        values.forEach((x, i) => {
          expect(binOf(feature, x)).toBe(bins[i]);
          if (Number.isNaN(x)) expect(bins[i]).toBe(binCount);
          else {
            expect(x).toBeLessThan(thresholds[bins[i]]);
            if (bins[i] > 0) expect(x).toBeGreaterThanOrEqual(thresholds[bins[i] - 1]);
          }
        });
        if (distinctOf(values).length > 0) {
          for (let b = 0; b < binCount; b++) expect(bins).toContain(b); // no bin is empty
        }
      }),
    );
  });

  it("gives every distinct value its own bin if there are few enough, and cuts at data values otherwise", () => {
    fc.assert(
      fc.property(column, fc.integer({ min: 2, max: 40 }), (values, maxBin) => {
        const distinct = distinctOf(values);
        const { thresholds, binCount } = binFeature("x", values, maxBin);
        const cuts = [...thresholds.subarray(0, binCount - 1)];
        if (distinct.length <= maxBin) expect(cuts).toEqual(distinct.slice(1));
        else for (const cut of cuts) expect(distinct).toContain(cut);
      }),
    );
  });

  it("does not depend on the order of rows", () => {
    fc.assert(
      fc.property(column, fc.nat(), (values, seed) => {
        const order = new SeededRandom(seed).permutation(values.length);
        const shuffled = Float32Array.from(order, (i) => values[i]);
        expect(binFeature("x", shuffled, 8).thresholds).toEqual(binFeature("x", values, 8).thresholds);
      }),
    );
  });

  it("makes bins of nearly equal size from continuous values", () => {
    const random = new SeededRandom(3);
    const { bins, binCount } = binFeature(
      "x",
      Float32Array.from({ length: 6400 }, () => random.normal()),
      32,
    );
    expect(binCount).toBe(32);
    const counts = new Uint32Array(binCount);
    for (const bin of bins) counts[bin]++;
    expect(Math.min(...counts)).toBeGreaterThan(190);
    expect(Math.max(...counts)).toBeLessThan(210);
  });

  it("spends one bin on a value that most rows have, and the others on the rest", () => {
    const values = Float32Array.from({ length: 1000 }, (_, i) => (i < 940 ? 0 : i));
    const { bins, binCount } = binFeature("x", values, 16);
    expect(bins.subarray(0, 940).every((bin) => bin === 0)).toBe(true);
    expect(binCount).toBe(16);
    expect(bins[945]).toBeGreaterThan(0);
  });

  it("closes the last bin above the maximum as XGBoost does", () => {
    expect([...binFeature("x", Float32Array.of(2, 1), 4).thresholds]).toEqual([2, Math.fround(4 + 1e-5)]);
    expect([...binFeature("x", Float32Array.of(-3), 4).thresholds]).toEqual([Math.fround(1e-5)]);
    expect(binOf(binFeature("x", Float32Array.of(1, 2), 4), 1e9)).toBe(1);
  });

  it("gives an all-missing feature one empty bin, and merges the two zeros", () => {
    const missing = binFeature("x", Float32Array.of(NaN, NaN), 4);
    expect([missing.binCount, missing.hasMissing, ...missing.bins]).toEqual([1, true, 1, 1]);
    const zeros = binFeature("x", Float32Array.of(-1, 0, -0), 4);
    expect(zeros.binCount).toBe(2);
    expect(Object.is(zeros.thresholds[0], 0)).toBe(true);
  });

  it("rejects infinite values and an invalid maxBin", () => {
    expect(() => binFeature("x", Float32Array.of(Infinity), 4)).toThrow("infinite");
    expect(() => binFeature("x", Float32Array.of(1), 1)).toThrow("maxBin");
  });
});
