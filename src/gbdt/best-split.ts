/**
 * The best split of a node, with one order for ties everywhere: highest gain; among bit-equal gains the lowest owner,
 * then the lowest feature, then the order of candidatesOf.
 */
import { assert } from "../base/assert.ts";
import type { QuantisedGradients } from "../base/quantised-gradients.ts";
import { candidatesOf, type Candidate } from "./candidate.ts";
import { type TreeGain, unbounded, type WeightBounds } from "./gain.ts";
import { featureHistogram, leftSums } from "./histogram.ts";
import type { BinnedFeature } from "./binning.ts";

export interface Best {
  /** -Infinity if no candidate is allowed. */
  readonly gain: number;
  /** Ascending; every candidate whose gain is bit-equal to the maximum. Empty if none is allowed. */
  readonly indices: number[];
}

/** The highest of `gains` and everybody who reaches it. */
export function selectBest(gains: ArrayLike<number>): Best {
  let gain = -Infinity;
  let indices: number[] = [];
  for (let i = 0; i < gains.length; i++) {
    assert(!Number.isNaN(gains[i]), "a gain is not a number");
    if (gains[i] > gain) [gain, indices] = [gains[i], [i]];
    else if (gains[i] === gain && gain !== -Infinity) indices.push(i);
  }
  return { gain, indices };
}

/** One party's best split of a node. */
export interface PartySplit {
  readonly gain: number;
  /** Index within the party's features. */
  readonly feature: number;
  readonly candidate: Candidate;
}

/**
 * The best split of one feature.
 * @param index the feature's place among its party's
 * @param totals the node's row, from nodeTotals
 * @param isOffered which candidates may be chosen; null: all
 * @returns null if no candidate is allowed
 */
export function bestFeatureSplit(
  feature: BinnedFeature,
  index: number,
  gradients: QuantisedGradients,
  instances: Uint32Array,
  totals: Float64Array,
  gain: TreeGain,
  bounds: WeightBounds = unbounded,
  isOffered: ((candidate: Candidate) => boolean) | null = null,
): PartySplit | null {
  const sides = leftSums(feature, featureHistogram(feature, gradients, instances));
  const gains = gain.gains(sides, totals, bounds, feature.monotone ?? 0);
  if (isOffered !== null) candidatesOf(feature).forEach((candidate, i) => (gains[i] = isOffered(candidate) ? gains[i] : -Infinity));
  const best = selectBest(gains);
  return best.indices.length === 0 ? null : { gain: best.gain, feature: index, candidate: candidatesOf(feature)[best.indices[0]] };
}

/** The better of two splits; the first one on a tie. */
export function betterSplit<S extends { readonly gain: number }>(first: S | null, second: S | null): S | null {
  if (first === null || second === null) return first ?? second;
  return second.gain > first.gain ? second : first;
}
