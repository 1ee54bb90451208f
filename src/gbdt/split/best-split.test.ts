import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { binFeature, type BinnedFeature } from "./binning.ts";
import { bestSplitOf, betterSplit, type PartySplit } from "./best-split.ts";
import { selectBest } from "./select-best.ts";
import { TreeGain } from "./gain.ts";
import { featureHistogram, nodeTotals } from "./histogram.ts";

describe("selectBest", () => {
  it("finds the maximum and all indices that reach it", () => {
    const gain = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(-Infinity));
    fc.assert(
      fc.property(fc.array(gain, { maxLength: 30 }), (gains) => {
        const max = Math.max(...gains, -Infinity);
        const winners = gains.flatMap((g, i) => (g === max && g !== -Infinity ? [i] : []));
        expect(selectBest(Float64Array.from(gains))).toEqual({ gain: max, indices: winners });
      }),
    );
  });

  it("treats the next double as less", () => {
    expect(selectBest([1, 1 + Number.EPSILON, 1]).indices).toEqual([1]);
  });

  it("stops at a gain that is not a number", () => {
    expect(() => selectBest([1, NaN])).toThrow("not a number");
  });
});

describe("bestSplitOf", () => {
  const gradients = {
    instanceCount: 4,
    grids: [
      { shift: -1, resolution: 1 },
      { shift: 0, resolution: 1 },
    ],
    columns: [Float64Array.of(0, 0, 2, 2), Float64Array.of(1, 1, 1, 1)],
  };
  const gain = new TreeGain(gradients.grids, { lambda: 1, gamma: 0, minChildWeight: 0, alpha: 0, maxDeltaStep: 0 });
  const all = Uint32Array.of(0, 1, 2, 3);
  const best = (features: readonly BinnedFeature[], instances = all): PartySplit | null =>
    features
      .map((feature, i) => {
        const histogram = featureHistogram(feature, gradients, instances);
        return bestSplitOf(feature, i, histogram, nodeTotals(gradients, instances), gain);
      })
      .reduce((first, second) => betterSplit(first, second), null);

  it("takes the lower of two equal features", () => {
    const good = binFeature("x", Float32Array.of(1, 2, 3, 4), 8);
    const constant = binFeature("c", Float32Array.of(1, 1, 1, 1), 8);
    expect(best([constant, good, good])).toMatchObject({ feature: 1, candidate: { bin: 1, missingLeft: false } });
  });

  it("takes the lowest threshold over bins that are empty in the node", () => {
    const feature = binFeature("x", Float32Array.of(1, 2, 3, 4), 8);
    expect(best([feature], Uint32Array.of(0, 3))).toMatchObject({ candidate: { bin: 0, missingLeft: false } });
  });

  it("sends missing values right if the node has none", () => {
    const feature = binFeature("x", Float32Array.of(1, NaN, 3, 4), 8);
    expect(best([feature], Uint32Array.of(0, 2, 3))).toMatchObject({ candidate: { bin: 0, missingLeft: false } });
    expect(best([feature])).toMatchObject({ candidate: { bin: 0, missingLeft: true } });
  });

  it("returns null where nothing can be split", () => {
    expect(best([])).toBeNull();
    expect(best([binFeature("c", Float32Array.of(1, 1, 1, 1), 8)])).toBeNull();
    expect(best([binFeature("x", Float32Array.of(1, 2, 3, 4), 8)], Uint32Array.of(2))).toBeNull();
  });
});
