/**
 * Which of a party's candidates may split a node where its owner has set minimums: a function of counts alone, which
 * the passive party and the centralised trainer both call.
 *
 * Sums add up, parent = left + right, so whoever has two of them has the third. Candidates are therefore offered or
 * withheld at both children of a split together, and what was withheld once stays withheld below: the sums that are
 * shown of one candidate in a tree are over nodes that all have the minimums, and so is whatever adds and subtracts
 * them.
 *
 * Counted are the instances that are summed, those of the tree's sample: a large node of which few are sampled shows
 * the sum of few. And all candidates are counted at every pair, those of columns that are not drawn there too: a column
 * that is drawn at a node and at some of those below would otherwise show the rest by subtraction.
 */
import { assert } from "../../base/assert.ts";
import { type BinnedFeature, totalBinCount } from "./binning.ts";
import { type Candidate, candidateIndex } from "./candidate.ts";
import { isCategorical } from "./category-candidate.ts";
import { leftSums } from "./histogram.ts";
import { offeredCategoryCandidates } from "./offered-categories.ts";

/**
 * The least number of summed instances of a node, and on each side of a candidate; 1: no minimum, an empty side is
 * allowed.
 */
export interface Minimums {
  readonly perNode: number;
  readonly perCandidate: number;
}

export const noMinimums: Minimums = { perNode: 1, perCandidate: 1 };

export function areOff({ perNode, perCandidate }: Minimums): boolean {
  return perNode <= 1 && perCandidate <= 1;
}

export interface CountedNode {
  readonly id: number;
  /** The summed ones: indices into the bins. */
  readonly members: Uint32Array;
}

/** One party's candidates in one tree. */
export class OfferedCandidates {
  readonly #minimums: Minimums;
  readonly #features: readonly BinnedFeature[];
  readonly #bins: readonly Uint16Array[];
  /**
   * Per node, feature and candidate, in the order of candidatesOf: 1 if offered. Nodes whose children are known are
   * left out.
   */
  readonly #offered = new Map<number, readonly Uint8Array[]>();

  /** @param bins per feature the bin of each possible member */
  constructor(minimums: Minimums, features: readonly BinnedFeature[], bins: readonly Uint16Array[], root: CountedNode) {
    this.#minimums = minimums;
    this.#features = features;
    this.#bins = bins;
    this.#offered.set(
      root.id,
      features.map((_, feature) => this.#offeredOf(feature, [root], null)),
    );
  }

  /** Learns the children of a split, once. */
  split(parent: number, left: CountedNode, right: CountedNode): void {
    const before = this.#offered.get(parent);
    assert(before !== undefined, "children are told once, after their parent");
    const offered = before.map((above, feature) => this.#offeredOf(feature, [left, right], above));
    this.#offered.set(left.id, offered).set(right.id, offered).delete(parent);
  }

  /** Whether a candidate is offered at a node; of a node that is not known, or whose children are, nothing is. */
  has(node: number, feature: number, candidate: Candidate): boolean {
    return this.#offered.get(node)?.[feature][candidateIndex(this.#features[feature], candidate)] === 1;
  }

  /** Per candidate of a feature 1 if it is offered at a pair of nodes, or at the root. */
  #offeredOf(feature: number, nodes: readonly CountedNode[], above: Uint8Array | null): Uint8Array {
    const binned = this.#features[feature];
    if (isCategorical(binned))
      return offeredCategoryCandidates(
        binned,
        this.#minimums,
        nodes.map(({ members }) => this.#binCounts(feature, members)),
        above,
      );
    const large = this.#largeEnough(feature, nodes);
    return above === null ? large : large.map((isLarge, i) => isLarge & above[i]);
  }

  /** Per candidate of a feature 1 if it has the minimum on both sides at all nodes, which have theirs too. */
  #largeEnough(feature: number, nodes: readonly CountedNode[]): Uint8Array {
    const { perNode, perCandidate } = this.#minimums;
    const isSmall = (count: number, minimum: number): boolean => minimum > 1 && count < minimum;
    const [first, ...others] = nodes.map(({ members }) =>
      Uint8Array.from(this.#leftCounts(feature, members), (left) =>
        isSmall(members.length, perNode) || isSmall(left, perCandidate) || isSmall(members.length - left, perCandidate)
          ? 0
          : 1,
      ),
    );
    return others.reduce((large, other) => large.map((isLarge, i) => isLarge & other[i]), first);
  }

  #leftCounts(feature: number, members: Uint32Array): Float64Array {
    return leftSums(this.#features[feature], this.#binCounts(feature, members));
  }

  #binCounts(feature: number, members: Uint32Array): Float64Array {
    const bins = this.#bins[feature];
    const counts = new Float64Array(totalBinCount(this.#features[feature]));
    for (const member of members) counts[bins[member]]++;
    return counts;
  }
}
