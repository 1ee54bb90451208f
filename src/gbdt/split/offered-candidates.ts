/**
 * Which of a party's candidates may split a node under minimums or limits of what splits reveal: a function of counts
 * and of the earlier splits, which the passive party and the centralised trainer both call.
 *
 * Sums add up, parent = left + right, so two of them determine the third. Candidates are therefore offered or
 * suppressed at both children of a split together, and a suppressed candidate stays suppressed below: all visible sums
 * of one candidate in a tree are over nodes that satisfy the minimums, and so is every sum or difference of them.
 *
 * Only summed instances count, those of the tree's sample: a large node with few sampled instances would reveal the sum
 * of few. And all candidates are counted at every pair, also those of columns that are not drawn there: a column that
 * is drawn at a node and at some of its descendants would otherwise reveal the rest by subtraction.
 */
import { assert } from "../../base/assert.ts";
import { type BinnedFeature, totalBinCount } from "./binning.ts";
import { type Candidate, candidateCount, candidateIndex } from "./candidate.ts";
import { isCategorical } from "./category-candidate.ts";
import { leftSums } from "./histogram.ts";
import { offeredCategoryCandidates } from "./offered-categories.ts";
import { spacedThresholds } from "./spaced-thresholds.ts";
import { BitPlaces } from "./bit-places.ts";
import { ThresholdPlaces } from "./threshold-places.ts";
import type { RevealedSplits } from "./revealed-splits.ts";

/**
 * The minimum number of summed instances of a node, and on each side of a candidate; 1: no minimum, an empty side is
 * allowed.
 */
export interface Minimums {
  readonly perNode: number;
  readonly perCandidate: number;
  /** Between neighbouring thresholds of a feature, and for its missing values; default: 1. */
  readonly between?: number;
}

export const noMinimums: Minimums = { perNode: 1, perCandidate: 1 };

export function areOff({ perNode, perCandidate, between = 1 }: Minimums): boolean {
  return perNode <= 1 && perCandidate <= 1 && between <= 1;
}

export interface CountedNode {
  readonly id: number;
  /** The summed instances: indices into the bins. */
  readonly members: Uint32Array;
}

/** One party's candidates in one tree. */
export class OfferedCandidates {
  readonly #minimums: Minimums;
  readonly #features: readonly BinnedFeature[];
  readonly #bins: readonly Uint16Array[];
  /** Null: the number of thresholds is not limited. */
  readonly #places: ThresholdPlaces | null;
  /** Null: what splits reveal is not limited in bits. */
  readonly #bits: BitPlaces | null;
  /**
   * Per node, feature and candidate, in the order of candidatesOf: 1 if offered. Nodes whose children are known are
   * removed.
   */
  readonly #offered = new Map<number, readonly Uint8Array[]>();

  /**
   * @param bins per feature the bin of each possible member
   * @param revealed what splits have revealed so far, if that is limited; the caller that decides a split adds to it
   * @param ever per feature and candidate 1 if it is offered at any node; null: all are
   */
  constructor(
    minimums: Minimums,
    features: readonly BinnedFeature[],
    bins: readonly Uint16Array[],
    root: CountedNode,
    revealed: RevealedSplits | null = null,
    ever: readonly Uint8Array[] | null = null,
  ) {
    this.#minimums = minimums;
    this.#features = features;
    this.#bins = bins;
    this.#places = revealed?.thresholds ? new ThresholdPlaces(revealed.thresholds, features, root.id) : null;
    this.#bits = revealed?.budget ? new BitPlaces(revealed.budget, features, root.id) : null;
    this.#offered.set(
      root.id,
      features.map((_, feature) => this.#offeredOf(feature, [root], ever?.[feature] ?? null)),
    );
  }

  /** Registers the children of a split, once. */
  split(parent: number, left: CountedNode, right: CountedNode): void {
    const before = this.#offered.get(parent);
    assert(before !== undefined, "children are registered once, after their parent");
    this.#places?.split(parent, left.id, right.id);
    this.#bits?.split(parent, left.id, right.id);
    const offered = before.map((above, feature) => this.#offeredOf(feature, [left, right], above));
    this.#offered.set(left.id, offered).set(right.id, offered).delete(parent);
  }

  /** Whether a candidate is offered at a node; false for unknown nodes and nodes whose children are known. */
  has(node: number, feature: number, candidate: Candidate): boolean {
    return this.#offered.get(node)?.[feature][candidateIndex(this.#features[feature], candidate)] === 1;
  }

  /** Per bin of a feature its piece, where sets of categories must be unions of pieces; null: they need not. */
  pieces(node: number, feature: number): Uint32Array | null {
    return this.#bits?.pieces(node, feature) ?? null;
  }

  /** Per candidate of a feature 1 if it is offered at a pair of nodes, or at the root. */
  #offeredOf(feature: number, nodes: readonly CountedNode[], above: Uint8Array | null): Uint8Array {
    const binned = this.#features[feature];
    const [{ id }] = nodes;
    const placed = both(this.#places?.allowed(id, feature) ?? null, this.#bits?.allowed(id, feature) ?? null);
    const before = both(above, placed);
    if (areOff(this.#minimums)) {
      const all = before ?? new Uint8Array(candidateCount(binned)).fill(1);
      return wholePieces(all, this.pieces(id, feature));
    }
    const counts = nodes.map(({ members }) => this.#binCounts(feature, members));
    if (isCategorical(binned)) {
      const shown = offeredCategoryCandidates(binned, this.#minimums, counts, before);
      return wholePieces(shown, this.pieces(id, feature));
    }
    const large = this.#largeEnough(binned, counts);
    const offered = both(large, before) ?? large;
    const { between = 1 } = this.#minimums;
    return between <= 1 ? offered : spacedThresholds(binned, between, counts, offered, before);
  }

  /** Per candidate of a feature 1 if all nodes, and both sides at each of them, satisfy the minimums. */
  #largeEnough(feature: BinnedFeature, counts: readonly Float64Array[]): Uint8Array {
    const { perNode, perCandidate } = this.#minimums;
    const isSmall = (count: number, minimum: number): boolean => minimum > 1 && count < minimum;
    const [first, ...others] = counts.map((bins) => {
      const size = bins.reduce((a, b) => a + b, 0);
      return Uint8Array.from(leftSums(feature, bins), (left) =>
        isSmall(size, perNode) || isSmall(left, perCandidate) || isSmall(size - left, perCandidate) ? 0 : 1,
      );
    });
    return others.reduce((large, other) => large.map((isLarge, i) => isLarge & other[i]), first);
  }

  #binCounts(feature: number, members: Uint32Array): Float64Array {
    const bins = this.#bins[feature];
    const counts = new Float64Array(totalBinCount(this.#features[feature]));
    for (const member of members) counts[bins[member]]++;
    return counts;
  }
}

/** A piece with a category that is not offered can be in no set. */
function wholePieces(offered: Uint8Array, pieces: Uint32Array | null): Uint8Array {
  if (pieces === null) return offered;
  const broken = new Set(pieces.filter((_, bin) => offered[bin] === 0));
  return offered.map((isOffered, bin) => (broken.has(pieces[bin]) ? 0 : isOffered));
}

/** The intersection; null stands for all. */
function both(a: Uint8Array | null, b: Uint8Array | null): Uint8Array | null {
  return a === null || b === null ? (a ?? b) : a.map((has, i) => has & b[i]);
}
