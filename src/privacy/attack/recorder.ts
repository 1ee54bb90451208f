/**
 * The transcript of a centralised training: the rows that a passive party would have sent, in its own secret order, and
 * the splits that it would have won. The integers are the same as in the federated job.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { WatchedTree } from "../../gbdt/boost/train.ts";
import type { ColumnSampler } from "../../gbdt/boost/column-sampling.ts";
import { assert } from "../../base/assert.ts";
import { isTold, type PartySplit } from "../../gbdt/split/best-split.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { type Candidate, candidateCount, leftBins } from "../../gbdt/split/candidate.ts";
import type { SearchWatch } from "../../gbdt/split/centralised-search.ts";
import { featureHistogram, nodeTotals } from "../../gbdt/split/histogram.ts";
import type { GrowingNode } from "../../gbdt/tree/grow.ts";
import { bestOfCandidates } from "../../scheme/candidates/best-candidates.ts";
import { entryIndices, tieOrder } from "../../scheme/candidates/candidate-order.ts";
import type { CandidatePlan } from "../../scheme/candidates/candidate-plan.ts";
import { candidateIn, type CandidateSet, TreeCandidates } from "../../scheme/candidates/candidate-set.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import { type MembershipFacts, membershipFacts } from "../../base/membership.ts";
import type { SeenNode, SeenTree, Transcript, WonSplit } from "./transcript.ts";

export interface RecordedParty {
  /** Its index among the parties; 0 is the active one. */
  readonly owner: number;
  readonly features: readonly BinnedFeature[];
  readonly permutationSecret: Uint8Array;
  /** Per feature the bin that is left out of sums, or -1. */
  readonly skippedBins: Int32Array;
  readonly sampler: ColumnSampler | null;
  /**
   * Left out: members are sent. Counts stay in the rows even where they are not sent: attacks then find at least as
   * much.
   */
  readonly membership?: MembershipFacts;
  /**
   * Sums are hidden: of each node the best candidate is opened, if it beats the active party's own. Its place is not
   * revealed, but attacks may use it: candidates stand in tie order.
   */
  readonly isInTieOrder?: boolean;
}

export interface OwnSide {
  readonly feature: number;
  readonly bins: Uint8Array;
}

/** A split that the party won: per bin 1 if it goes left, as leftBins says. */
export interface OwnSplit {
  readonly tree: number;
  readonly node: number;
  readonly feature: number;
  readonly left: Uint8Array;
}

type MutableNode = { -readonly [K in keyof SeenNode]: SeenNode[K] };

/** Observes trainCentralised for one passive party. */
export class TranscriptRecorder {
  readonly party: RecordedParty;
  readonly #trees: SeenTree[] = [];
  readonly #splits: OwnSplit[] = [];
  readonly #rounds = new Map<number, number>();

  constructor(party: RecordedParty) {
    this.party = party;
  }

  get #membership(): MembershipFacts {
    return this.party.membership ?? membershipFacts.sent;
  }

  get #hidesSums(): boolean {
    return this.party.isInTieOrder === true;
  }

  /** @param instanceCount of the job */
  transcript(instanceCount: number): Transcript {
    const { features, sampler, skippedBins } = this.party;
    const job = {
      featureCount: features.filter((feature) => candidateCount(feature) > 0).length,
      takesAllColumns: sampler?.takesAll ?? true,
      isLinked: this.#membership.candidatesAreLinked || this.#hidesSums,
      leavesOutBin: !skippedBins.includes(-1) && !this.#hidesSums,
    };
    return { instanceCount, job, trees: this.#trees, predictions: [] };
  }

  /** The splits that the party won, as it knows them. */
  get splits(): readonly OwnSplit[] {
    return this.#splits;
  }

  /** What the owner knows about a position: the feature, and per bin 1 if it is on the side that was summed. */
  sideAt(tree: number, position: number): OwnSide {
    const set = this.#candidates(tree, this.#rounds.get(tree) ?? tree).at({ node: 0, depth: 0 });
    const { feature } = candidateIn(set, position);
    const place = set.features.indexOf(feature);
    const first = set.plan.binCounts.subarray(0, place).reduce((sum, count) => sum + count, 0);
    const bins = new Uint8Array(set.plan.binCounts[place]);
    for (const source of summedBins(set.plan, position)) bins[source - first] = 1;
    return { feature, bins };
  }

  watch({ tree, round, gradients, gain }: WatchedTree): SearchWatch {
    const { owner, features } = this.party;
    const sets = this.#candidates(tree, round);
    const nodes: MutableNode[] = [];
    const seen = new Map<number, CandidateRows>();
    const parents = new Map<number, number>();
    /** Where sums are hidden, the rows of all candidates. */
    const unopened = new Map<number, Float64Array>();
    this.#trees.push({ tree, gradients, nodes });
    this.#rounds.set(tree, round);
    return {
      searched: (node, isOffered) => {
        const set = sets.at({ node: node.id, depth: node.depth });
        const rows = sentRows(set, features, gradients, node.sampled);
        const suppressed = Uint8Array.from(set.byPosition, (_, position) => {
          const { feature, ...candidate } = candidateIn(set, position);
          return isOffered(owner, feature, candidate as Candidate) ? 0 : 1;
        });
        const stride = gradients.columns.length + 1;
        if (this.#hidesSums) suppressed.fill(1);
        const all = this.#hidesSums ? rows.slice() : rows;
        suppressed.forEach((isSuppressed, i) => {
          if (isSuppressed === 1) rows.fill(0, i * stride, (i + 1) * stride);
        });
        unopened.set(node.id, all);
        const groups = set.groups.map(({ size, hasMissing, flipped }) => ({ size, hasMissing, flipped }));
        seen.set(node.id, { rows, lowerSides: set.plan.lowerSides, suppressed, groups });
        nodes.push({
          id: node.id,
          parent: parents.get(node.id) ?? -1,
          instances: node.instances,
          summed: node.sampled,
          rows,
          suppressed,
          groups,
          won: null,
        });
      },
      compared: ({ id, depth }, bests) => {
        const [seenRows, all, best] = [seen.get(id), unopened.get(id), bests[owner]];
        if (!this.#hidesSums || best === null || seenRows === undefined || all === undefined) return;
        if (!isTold(bests[0], best.score)) return;
        const position = positionOf(sets.at({ node: id, depth }), features, best);
        const stride = gradients.columns.length + 1;
        seenRows.suppressed[position] = 0;
        seenRows.rows.set(all.subarray(position * stride, (position + 1) * stride), position * stride);
      },
      split: (node, chosen, left) => {
        const at = nodes.find(({ id }) => id === node.id);
        const rows = seen.get(node.id);
        if (chosen.owner !== owner || at === undefined || rows === undefined) return;
        const { feature, candidate } = chosen;
        const bins = leftBins(features[feature], candidate);
        this.#splits.push({ tree, node: node.id, feature, left: bins });
        const totals = nodeTotals(gradients, node.sampled);
        const won = this.#won(node, totals, rows, sets.at({ node: node.id, depth: node.depth }), gain);
        const isOfAll = this.#membership.outcomesCover === "all instances";
        at.won = { ...won, left, leftOfAll: isOfAll ? instancesIn(features[feature], bins) : null };
      },
      children: (parent, left, right) => {
        parents.set(left, parent).set(right, parent);
      },
    };
  }

  #candidates(tree: number, round: number): TreeCandidates {
    return new TreeCandidates(this.party, tree, this.#membership.candidatesAreLinked ? 0 : round);
  }

  /** The candidate that is named as the winner: the first in tie order. */
  #won(
    node: GrowingNode,
    totals: Float64Array,
    rows: CandidateRows,
    set: CandidateSet,
    gain: WatchedTree["gain"],
  ): Pick<WonSplit, "candidates" | "sets"> {
    const tied = bestOfCandidates(rows, totals, gain, node.bounds)?.tied ?? [];
    const order = tieOrder(set, rows.suppressed);
    const ranks = entryIndices(tied, rows).map((entry) => order[entry]);
    const named = tied[ranks.indexOf(Math.min(...ranks))];
    return {
      candidates: named?.kind === "candidate" ? [named.position] : [],
      sets: named?.kind === "set" ? [named.set] : [],
    };
  }
}

/** Of a party's best candidate. */
function positionOf(
  set: CandidateSet,
  features: readonly BinnedFeature[],
  { feature, candidate }: Pick<PartySplit, "feature" | "candidate">,
): number {
  const left = leftBins(features[feature], candidate);
  const position = set.byPosition.findIndex((_, place) => {
    const { feature: other, ...own } = candidateIn(set, place);
    return other === feature && leftBins(features[feature], own as Candidate).every((bin, i) => bin === left[i]);
  });
  assert(position >= 0, "the best candidate is one of the node's");
  return position;
}

/** The instances whose bin is one of these. */
function instancesIn({ bins }: BinnedFeature, chosen: Uint8Array): Uint32Array {
  return Uint32Array.from(bins.keys()).filter((instance) => chosen[bins[instance]] === 1);
}

/** The bins, over all features of a plan, that are summed for a position. */
function summedBins({ chainOffsets, sources, targets }: CandidatePlan, position: number): Uint32Array {
  const step = targets.indexOf(position);
  const chain = chainOffsets.findLastIndex((offset) => offset <= step);
  return sources.subarray(chainOffsets[chain], step + 1);
}

/** Per position the row of the side that is sent: sums along the plan's chains of bins. */
export function sentRows(
  { plan, features: drawn }: CandidateSet,
  features: readonly BinnedFeature[],
  gradients: QuantisedGradients,
  summed: Uint32Array,
): Float64Array {
  const stride = gradients.columns.length + 1;
  const histograms = Array.from(drawn, (index) => featureHistogram(features[index], gradients, summed));
  const bins = new Float64Array(histograms.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const histogram of histograms) {
    bins.set(histogram, at);
    at += histogram.length;
  }
  const rows = new Float64Array(plan.candidates.length * stride);
  const sum = new Float64Array(stride);
  for (let chain = 0; chain + 1 < plan.chainOffsets.length; chain++) {
    sum.fill(0);
    for (let step = plan.chainOffsets[chain]; step < plan.chainOffsets[chain + 1]; step++) {
      for (let k = 0; k < stride; k++) sum[k] += bins[plan.sources[step] * stride + k];
      if (plan.targets[step] >= 0) rows.set(sum, plan.targets[step] * stride);
    }
  }
  return rows;
}
