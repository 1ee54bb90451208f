/**
 * The candidates of one node of a tree: those of the features that may split it, in the tree's secret order. With
 * column sampling, nodes may have different sets; within a set the order stays that of the tree.
 *
 * Categories of features that are split by category sets come first, those of one feature together and in the order of
 * their codes: the active party has to sort them to find the sets. Which feature a group belongs to stays secret, and
 * so does the order of the groups.
 */
import { assert } from "../../base/assert.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { candidateCount, candidatesOf } from "../../gbdt/split/candidate.ts";
import { isPartitioned } from "../../gbdt/split/category-candidate.ts";
import type { ColumnSampler, NodePlace } from "../../gbdt/boost/column-sampling.ts";
import {
  type CandidatePlan,
  isFlipped,
  listCandidates,
  type PlannedCandidate,
  planCandidates,
} from "./candidate-plan.ts";
import type { CategoryGroup } from "./category-group.ts";
import { secretPermutation } from "./secret-permutation.ts";

export interface CandidateSet {
  /** Feature indices, ascending; the plan's features are indices into this array. */
  readonly features: Uint32Array;
  readonly plan: CandidatePlan;
  /** byPosition[position] = rank of the candidate in tie order. */
  readonly byPosition: Uint32Array;
  /** Consecutive, starting at position 0. */
  readonly groups: readonly (CategoryGroup & { readonly feature: number; readonly firstRank: number })[];
}

export interface CandidateJob {
  readonly features: readonly BinnedFeature[];
  readonly permutationSecret: Uint8Array;
  /** Per feature the skipped bin, or -1, or leftSidesOnly. */
  readonly skippedBins: Int32Array;
  /**
   * Sums are hidden: positions reveal nothing, and decide ties. Or columns are vetted, and positions say which
   * candidate is which. Left out: the order is secret.
   */
  readonly isInTieOrder?: boolean;
  /** Null: every feature may split every node. */
  readonly sampler: ColumnSampler | null;
}

/** The sets of one tree. */
export class TreeCandidates {
  readonly #job: CandidateJob;
  readonly #tree: number;
  /** Per feature the index of its first candidate in the list of all. */
  readonly #first: Uint32Array;
  /** All candidates, in the tree's secret order. */
  readonly #positions: Uint32Array;
  readonly #sets = new Map<string, CandidateSet>();

  /** @param round the trees of a round share their secret order, so that they can share the root's answers */
  constructor(job: CandidateJob, tree: number, round: number) {
    this.#job = job;
    this.#tree = tree;
    const counts = job.features.map(candidateCount);
    this.#first = Uint32Array.from(counts, (_, i) => counts.slice(0, i).reduce((a, b) => a + b, 0));
    const count = counts.reduce((a, b) => a + b, 0);
    this.#positions =
      job.isInTieOrder === true
        ? Uint32Array.from({ length: count }, (_, i) => i)
        : secretPermutation(job.permutationSecret, round, count);
  }

  at(place: Omit<NodePlace, "tree">): CandidateSet {
    const { features, sampler } = this.#job;
    return this.#of(sampler?.at({ tree: this.#tree, ...place }, features.length) ?? everyFeature(features));
  }

  /** The set of all features, regardless of column sampling. */
  get all(): CandidateSet {
    return this.#of(everyFeature(this.#job.features));
  }

  /** Per candidate of a set, in its order, the index among all candidates. */
  inAll(set: CandidateSet): Uint32Array {
    const all = this.all;
    if (set === all) return Uint32Array.from(set.byPosition.keys());
    const firstInSet = new Map<number, number>();
    let rank = 0;
    for (const index of set.features) {
      firstInSet.set(index, rank);
      rank += candidateCount(this.#job.features[index]);
    }
    const rankInAll = new Uint32Array(rank);
    for (const [index, first] of firstInSet)
      for (let i = 0; i < candidateCount(this.#job.features[index]); i++) rankInAll[first + i] = this.#first[index] + i;
    return Uint32Array.from(set.byPosition, (own) => all.plan.positions[rankInAll[own]]);
  }

  #of(drawn: Uint32Array): CandidateSet {
    const key = drawn.join();
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = this.#make(drawn);
      this.#sets.set(key, set);
    }
    return set;
  }

  #make(drawn: Uint32Array): CandidateSet {
    const features = Array.from(drawn, (index) => this.#job.features[index]);
    const candidates = listCandidates(features).map((candidate) => ({
      ...candidate,
      feature: drawn[candidate.feature],
    }));
    const inTree = Uint32Array.from(
      Array.from(drawn).flatMap((index) =>
        Array.from(
          { length: candidateCount(this.#job.features[index]) },
          (_, i) => this.#positions[this.#first[index] + i],
        ),
      ),
    );
    const groups = this.#groupsOf(drawn, inTree);
    const grouped = groups.flatMap(({ firstRank, size }) => Array.from({ length: size }, (_, i) => firstRank + i));
    const isGrouped = new Set(grouped);
    const others = Array.from(inTree.keys())
      .filter((rank) => !isGrouped.has(rank))
      .sort((a, b) => inTree[a] - inTree[b]);
    const byPosition = Uint32Array.from([...grouped, ...others]);
    const positions = new Uint32Array(byPosition.length);
    byPosition.forEach((rank, position) => (positions[rank] = position));
    const skippedBins = Int32Array.from(drawn, (index) => this.#job.skippedBins[index]);
    return { features: drawn, plan: planCandidates(features, candidates, skippedBins, positions), byPosition, groups };
  }

  /** The category groups of some features, ordered by the secret position of the first category of each. */
  #groupsOf(drawn: Uint32Array, inTree: Uint32Array): CandidateSet["groups"] {
    const groups: CandidateSet["groups"][number][] = [];
    let firstRank = 0;
    for (const index of drawn) {
      const feature = this.#job.features[index];
      const size = candidateCount(feature);
      if (isPartitioned(feature) && size > 0) {
        const flipped = candidatesOf(feature).findIndex(
          (candidate) => "categories" in candidate && isFlipped(feature, candidate, this.#job.skippedBins[index]),
        );
        groups.push({ feature: index, firstRank, size, hasMissing: feature.hasMissing, flipped });
      }
      firstRank += size;
    }
    return groups.sort((a, b) => inTree[a.firstRank] - inTree[b.firstRank]);
  }
}

function everyFeature(features: readonly BinnedFeature[]): Uint32Array {
  return Uint32Array.from(features, (_, i) => i);
}

/** @returns the candidate at a position of the secret order */
export function candidateIn(set: CandidateSet, position: number): PlannedCandidate & { readonly rank: number } {
  const rank = set.byPosition[position];
  assert(rank !== undefined, "the position is within the set");
  return { ...set.plan.candidates[rank], rank };
}
