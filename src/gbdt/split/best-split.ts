/**
 * The best split of a node, with one tie-breaking order everywhere: highest gain; among bit-equal gains the lowest
 * owner, then the lowest feature, then the order of candidatesOf; among category sets that of bestPartition.
 */
import { candidateAt, candidatesOf, type Candidate } from "./candidate.ts";
import { isPartitioned } from "./category-candidate.ts";
import { bestPartition } from "./category-partition.ts";
import { type TreeGain, unbounded, type WeightBounds } from "./gain.ts";
import { leftSums } from "./histogram.ts";
import type { BinnedFeature } from "./binning.ts";
import { selectBest } from "./select-best.ts";
import { addNoise, type CandidateNoise } from "./tree-noise.ts";

/** One party's best split of a node. */
export interface PartySplit {
  readonly gain: number;
  /** Index within the party's features. */
  readonly feature: number;
  readonly candidate: Candidate;
}

/**
 * The best split of one feature.
 * @param index the feature's index among its party's features
 * @param histogram of the feature; it is not changed
 * @param totals the node's row, from nodeTotals
 * @param isOffered which candidates may be chosen; null: all
 * @param noise of a passive party's sums; null: none
 * @returns null if no candidate is allowed
 */
export function bestSplitOf(
  feature: BinnedFeature,
  index: number,
  histogram: Float64Array,
  totals: Float64Array,
  gain: TreeGain,
  bounds: WeightBounds = unbounded,
  isOffered: ((candidate: Candidate) => boolean) | null = null,
  noise: CandidateNoise | null = null,
): PartySplit | null {
  if (isPartitioned(feature)) {
    const rows = noise === null ? histogram : histogram.slice();
    // A candidate is one category, which goes right.
    if (noise !== null && noise.left.length > 0) addNoise(rows, totals.length, noise.left, -1);
    const suppressed = Uint8Array.from(candidatesOf(feature), (candidate) =>
      isOffered === null || isOffered(candidate) ? 0 : 1,
    );
    const best =
      suppressed.length === 0
        ? null
        : bestPartition({ rows, hasMissing: feature.hasMissing, suppressed }, totals, gain, bounds, noise?.draws);
    return best && { gain: best.gain, feature: index, candidate: best.candidate };
  }
  const sides = leftSums(feature, histogram);
  if (noise !== null) addNoise(sides, totals.length, noise.left, 1);
  const gains = gain.gains(sides, totals, bounds, feature.monotone ?? 0, noise?.draws);
  if (isOffered !== null)
    candidatesOf(feature).forEach((candidate, i) => (gains[i] = isOffered(candidate) ? gains[i] : -Infinity));
  const best = selectBest(gains);
  return best.indices.length === 0
    ? null
    : { gain: best.gain, feature: index, candidate: candidateAt(feature, best.indices[0]) };
}

/** The better of two splits; the first one on a tie. */
export function betterSplit<S extends { readonly gain: number }>(first: S | null, second: S | null): S | null {
  if (first === null || second === null) return first ?? second;
  return second.gain > first.gain ? second : first;
}
