/**
 * The best split of a node, with one tie-breaking order everywhere: highest gain; among bit-equal gains the lowest
 * owner, then the lowest feature, then the order of candidatesOf; among category sets that of bestPartition.
 */
import { assert } from "../../base/assert.ts";
import { candidateAt, candidatesOf, type Candidate } from "./candidate.ts";
import { isPartitioned } from "./category-candidate.ts";
import { bestPartition } from "./category-partition.ts";
import { type TreeGain, unbounded, type WeightBounds } from "./gain.ts";
import { leftSums } from "./histogram.ts";
import { betterScored, isBetter, type NodeRule, type Score } from "./integer-rule.ts";
import type { BinnedFeature } from "./binning.ts";
import { selectBest } from "./select-best.ts";
import { addNoise, type CandidateNoise } from "./tree-noise.ts";

/** One party's best split of a node. */
export interface PartySplit {
  readonly gain: number;
  /** Index within the party's features. */
  readonly feature: number;
  readonly candidate: Candidate;
  /** Where sums are hidden. */
  readonly score?: Score;
}

/**
 * The best split of one feature.
 * @param index the feature's index among its party's features
 * @param histogram of the feature; it is not changed
 * @param totals the node's row, from nodeTotals
 * @param isOffered which candidates may be chosen; null: all
 * @param noise of a passive party's sums; null: none
 * @param pieces per bin its piece, where sets of categories must be unions of pieces; null: they need not
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
  pieces: Uint32Array | null = null,
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
        : bestPartition(
            { rows, hasMissing: feature.hasMissing, suppressed, pieces },
            totals,
            gain,
            bounds,
            noise?.draws,
          );
    return best && { gain: best.gain, feature: index, candidate: best.candidate };
  }
  const sides = leftSums(feature, histogram);
  const rule = gain.ruleOf(totals);
  if (rule !== null) return bestByRule(feature, index, sides, totals, gain, rule, isOffered);
  if (noise !== null) addNoise(sides, totals.length, noise.left, 1);
  const gains = gain.gains(sides, totals, bounds, feature.monotone ?? 0, noise?.draws);
  if (isOffered !== null)
    candidatesOf(feature).forEach((candidate, i) => (gains[i] = isOffered(candidate) ? gains[i] : -Infinity));
  const best = selectBest(gains);
  return best.indices.length === 0
    ? null
    : { gain: best.gain, feature: index, candidate: candidateAt(feature, best.indices[0]) };
}

/** Where sums are hidden: the first of the best in the order of integers, with its gain in doubles. */
function bestByRule(
  feature: BinnedFeature,
  index: number,
  sides: Float64Array,
  totals: Float64Array,
  gain: TreeGain,
  rule: NodeRule,
  isOffered: ((candidate: Candidate) => boolean) | null,
): PartySplit | null {
  const stride = totals.length;
  let best: { readonly place: number; readonly score: Score } | null = null;
  for (let place = 0; place * stride < sides.length; place++) {
    const at = place * stride + gain.slot;
    const score = rule.score(sides[at], sides[at + 1]);
    if (score === null || isOffered?.(candidateAt(feature, place)) === false) continue;
    best = betterScored(best, { place, score });
  }
  if (best === null) return null;
  const [own] = gain.gains(sides.subarray(best.place * stride, (best.place + 1) * stride), totals);
  assert(own > -Infinity, "what the rule allows has a gain");
  return { gain: own, feature: index, candidate: candidateAt(feature, best.place), score: best.score };
}

/** The better of two splits of one party; the first one on a tie. */
export function betterOfParty(first: PartySplit | null, second: PartySplit | null): PartySplit | null {
  if (first?.score === undefined || second?.score === undefined) return betterSplit(first, second);
  return isBetter(second.score, first.score) ? second : first;
}

/**
 * Where sums are hidden, the active party learns a passive party's best split only if it is better than the best of its
 * own columns.
 * @param own the active party's
 */
export function isTold(own: Pick<PartySplit, "score"> | null, score: Score | undefined): boolean {
  return own?.score === undefined || score === undefined || isBetter(score, own.score);
}

/** The better of two splits; the first one on a tie. */
export function betterSplit<S extends { readonly gain: number }>(first: S | null, second: S | null): S | null {
  if (first === null || second === null) return first ?? second;
  return second.gain > first.gain ? second : first;
}
