/**
 * The candidates that one node of a tree is answered with: those of the features that may split it, in the tree's secret
 * order. Where columns are sampled, nodes may have different sets; within a set the order stays that of the tree.
 */
import { assert } from "../base/assert.ts";
import type { BinnedFeature } from "../gbdt/binning.ts";
import { candidateCount } from "../gbdt/candidate.ts";
import type { ColumnSampler, NodePlace } from "../gbdt/column-sampling.ts";
import { type CandidatePlan, listCandidates, type PlannedCandidate, planCandidates } from "./candidate-plan.ts";
import { secretPermutation } from "./secret-permutation.ts";

export interface CandidateSet {
  /** Indices of its features, ascending; those of the plan are places in here. */
  readonly features: Uint32Array;
  readonly plan: CandidatePlan;
  /** byPosition[position] = rank of the candidate in tie order. */
  readonly byPosition: Uint32Array;
}

export interface CandidateJob {
  readonly features: readonly BinnedFeature[];
  readonly permutationSecret: Uint8Array;
  /** Per feature the bin that is left out of sums, or -1. */
  readonly skippedBins: Int32Array;
  /** Null: every feature may split every node. */
  readonly sampler: ColumnSampler | null;
}

/** The sets of one tree. */
export class TreeCandidates {
  readonly #job: CandidateJob;
  readonly #tree: number;
  /** Per feature the first of its candidates in the list of all. */
  readonly #first: Uint32Array;
  /** Of all candidates, in the tree's secret order. */
  readonly #positions: Uint32Array;
  readonly #sets = new Map<string, CandidateSet>();

  /** @param round the trees of a round share their secret order, so that they can share what is known of the root */
  constructor(job: CandidateJob, tree: number, round: number) {
    this.#job = job;
    this.#tree = tree;
    const counts = job.features.map(candidateCount);
    this.#first = Uint32Array.from(counts, (_, i) => counts.slice(0, i).reduce((a, b) => a + b, 0));
    this.#positions = secretPermutation(job.permutationSecret, round, counts.reduce((a, b) => a + b, 0));
  }

  at(place: Omit<NodePlace, "tree">): CandidateSet {
    const { features, sampler } = this.#job;
    const drawn = sampler?.at({ tree: this.#tree, ...place }, features.length) ?? Uint32Array.from(features, (_, i) => i);
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
    const candidates = listCandidates(features).map((candidate) => ({ ...candidate, feature: drawn[candidate.feature] }));
    const inTree = Uint32Array.from(Array.from(drawn).flatMap((index) => Array.from({ length: candidateCount(this.#job.features[index]) }, (_, i) => this.#positions[this.#first[index] + i])));
    const byPosition = inTree.map((_, rank) => rank).sort((a, b) => inTree[a] - inTree[b]);
    const positions = new Uint32Array(byPosition.length);
    byPosition.forEach((rank, position) => (positions[rank] = position));
    const skippedBins = Int32Array.from(drawn, (index) => this.#job.skippedBins[index]);
    return { features: drawn, plan: planCandidates(features, candidates, skippedBins, positions), byPosition };
  }
}

/** @returns the candidate at a position of the secret order */
export function candidateIn(set: CandidateSet, position: number): PlannedCandidate & { readonly rank: number } {
  const rank = set.byPosition[position];
  assert(rank !== undefined, "a position within the set");
  return { ...set.plan.candidates[rank], rank };
}
