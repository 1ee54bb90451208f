import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { type BinnedFeature, totalBinCount } from "../../gbdt/split/binning.ts";
import { binGoesLeft } from "../../gbdt/split/candidate.ts";
import {
  countBins,
  type CandidatePlan,
  listCandidates,
  mostFrequentBins,
  planCandidates,
  sideCounts,
} from "./candidate-plan.ts";

interface Shape {
  readonly binCount: number;
  readonly hasMissing: boolean;
  readonly monotone?: number;
  /** For a categorical feature only. */
  readonly oneHot?: boolean | undefined;
}

const instanceCount = 30;

function featureOf(
  { binCount, hasMissing, monotone = 0, oneHot }: Shape,
  random: SeededRandom,
  name = "f",
): BinnedFeature {
  const bins = Uint16Array.from({ length: instanceCount }, () => random.below(binCount + (hasMissing ? 1 : 0)));
  if (oneHot !== undefined)
    return {
      name,
      thresholds: new Float32Array(0),
      lowest: 0,
      categories: Array.from({ length: binCount }, (_, i) => `c${i}`),
      oneHot,
      binCount,
      hasMissing,
      bins,
    };
  return {
    name,
    thresholds: Float32Array.from({ length: binCount }, (_, i) => i + 1),
    lowest: -1,
    binCount,
    hasMissing,
    monotone,
    bins,
  };
}

/** Per position, the set of (global) bins whose sum is written there. */
function binsSummed(plan: CandidatePlan): number[][] {
  const written: number[][] = [];
  for (let chain = 0; chain + 1 < plan.chainOffsets.length; chain++) {
    const sum: number[] = [];
    for (let step = plan.chainOffsets[chain]; step < plan.chainOffsets[chain + 1]; step++) {
      sum.push(plan.sources[step]);
      const target = plan.targets[step];
      if (target < 0) continue;
      expect(written[target], `position ${target} is written twice`).toBeUndefined();
      written[target] = [...sum];
    }
  }
  return written;
}

function expectPlan(features: readonly BinnedFeature[], skippedBins: Int32Array, positions: Uint32Array): void {
  const candidates = listCandidates(features);
  const plan = planCandidates(features, candidates, skippedBins, positions);
  const written = binsSummed(plan);
  expect(Object.keys(written).length).toBe(candidates.length);
  const all = Uint32Array.from({ length: instanceCount }, (_, i) => i).filter((i) => i % 4 !== 1);
  const binCounts = countBins(
    features.map(({ bins }) => bins),
    plan,
    all,
  );
  const counts = sideCounts(plan, binCounts);
  const firstBins = features.map((_, f) =>
    features.slice(0, f).reduce((sum, feature) => sum + totalBinCount(feature), 0),
  );

  features.forEach((feature, f) => {
    if (skippedBins[f] >= 0) expect([...plan.sources]).not.toContain(firstBins[f] + skippedBins[f]);
    expect(plan.binCounts[f]).toBe(totalBinCount(feature));
    for (let bin = 0; bin < totalBinCount(feature); bin++) {
      expect(binCounts[firstBins[f] + bin]).toBe(all.filter((i) => feature.bins[i] === bin).length);
    }
  });
  candidates.forEach((candidate, rank) => {
    const feature = features[candidate.feature];
    const first = firstBins[candidate.feature];
    const bins = Array.from({ length: totalBinCount(feature) }, (_, bin) => bin);
    const left = bins.filter((bin) => binGoesLeft(feature, candidate, bin)).map((bin) => first + bin);
    const right = bins.filter((bin) => !binGoesLeft(feature, candidate, bin)).map((bin) => first + bin);
    const side = [...written[positions[rank]]].sort((a, b) => a - b);
    const monotone = feature.monotone ?? 0;
    expect(plan.lowerSides[positions[rank]], "the monotone constraint of the side sent").toBe(
      side.join() === left.join() ? monotone : -monotone + 0,
    );
    const isSide = side.join() === left.join() || side.join() === right.join();
    expect(isSide, `candidate ${JSON.stringify(candidate)} sums bins ${side.join()}`).toBe(true);
    expect(new Set(side).size).toBe(side.length);
    expect(counts[positions[rank]]).toBe(side.reduce((sum, bin) => sum + binCounts[bin], 0));
  });
}

describe("every candidate is one side of its split, without the skipped bin", () => {
  const shapes = [1, 2, 3, 6].flatMap((binCount) =>
    [false, true].flatMap((hasMissing) => [0, 1, -1].map((monotone) => ({ binCount, hasMissing, monotone }))),
  );
  test.each(shapes)(
    "one feature, bins $binCount, missing $hasMissing, monotone $monotone, each bin skipped once, and none skipped",
    (shape) => {
      const feature = featureOf(shape, new SeededRandom("one"));
      for (let skipped = -1; skipped < totalBinCount(feature); skipped++) {
        const count = listCandidates([feature]).length;
        expectPlan([feature], Int32Array.of(skipped), new SeededRandom(`order ${skipped}`).permutation(count));
      }
    },
  );

  const categorical = [1, 2, 3, 6].flatMap((binCount) =>
    [false, true].flatMap((hasMissing) => [false, true].map((oneHot) => ({ binCount, hasMissing, oneHot }))),
  );
  test.each(categorical)(
    "one feature of $binCount categories, missing $hasMissing, one-hot $oneHot, each bin skipped once, and none",
    (shape) => {
      const feature = featureOf(shape, new SeededRandom("one"));
      for (let skipped = -1; skipped < totalBinCount(feature); skipped++) {
        expectPlan(
          [feature],
          Int32Array.of(skipped),
          new SeededRandom(`order ${skipped}`).permutation(listCandidates([feature]).length),
        );
      }
    },
  );

  test("several features at once", () => {
    const shape = fc.record({
      binCount: fc.integer({ min: 1, max: 7 }),
      hasMissing: fc.boolean(),
      monotone: fc.constantFrom(0, 1, -1),
      oneHot: fc.constantFrom(undefined, true, false),
    });
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 4 }), fc.nat(), (shapes, seed) => {
        const random = new SeededRandom(seed);
        const features = shapes.map((one, f) => featureOf(one, random, `f${f}`));
        const skipped = Int32Array.from(features, (feature) => random.below(totalBinCount(feature) + 1) - 1);
        expectPlan(features, skipped, random.permutation(listCandidates(features).length));
      }),
    );
  });
});

test("candidates are listed by feature, then threshold, then missing right before left", () => {
  const random = new SeededRandom("tie order");
  const features = [
    featureOf({ binCount: 2, hasMissing: true }, random),
    featureOf({ binCount: 3, hasMissing: false }, random),
  ];
  expect(listCandidates(features)).toEqual([
    { feature: 0, bin: 0, missingLeft: false },
    { feature: 0, bin: 0, missingLeft: true },
    { feature: 0, bin: 1, missingLeft: false },
    { feature: 1, bin: 0, missingLeft: false },
    { feature: 1, bin: 1, missingLeft: false },
  ]);
});

test("mostFrequentBins: over the given instances only, the missing bin too, the lowest on a tie", () => {
  const base = { thresholds: Float32Array.of(1, 2, 3), lowest: 0, binCount: 3, hasMissing: true };
  const features: BinnedFeature[] = [
    { ...base, name: "a", bins: Uint16Array.of(0, 1, 1, 2, 2, 0, 0) },
    { ...base, name: "b", bins: Uint16Array.of(3, 3, 1, 3, 2, 2, 2) },
  ];
  expect([...mostFrequentBins(features, Uint32Array.of(0, 1, 2, 3, 4))]).toEqual([1, 3]);
  expect([...mostFrequentBins(features, Uint32Array.of(4, 5, 6))]).toEqual([0, 2]);
});
