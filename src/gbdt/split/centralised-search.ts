/** The split search with every party's features in one place: the oracle of the federated search. */
import { type QuantisedGradients, sentGradients } from "../../base/gradients/quantised-gradients.ts";
import { bestSplitOf, betterOfParty, betterSplit, isTold, type PartySplit } from "./best-split.ts";
import type { BinnedFeature } from "./binning.ts";
import { type Candidate, partition } from "./candidate.ts";
import type { ColumnSampler } from "../boost/column-sampling.ts";
import type { TreeGains } from "./gain.ts";
import type { GrowingNode, NodePair, SplitOutcome, SplitSearch } from "../tree/grow.ts";
import { interactionsBelow, mayInteract } from "./interactions.ts";
import { type NodeHistogram, NodeHistograms, featureParts } from "./node-histograms.ts";
import { areOff, type Minimums, OfferedCandidates } from "./offered-candidates.ts";
import { SentTotals } from "./sent-totals.ts";
import { toSplitRule, type SplitRule } from "../tree/tree.ts";
import { type NoiseNames, TreeNoise } from "./tree-noise.ts";
import type { RevealedSplits } from "./revealed-splits.ts";

interface OwnedSplit extends PartySplit {
  readonly owner: number;
}

/** One party's features, its column sampling, and the conditions for offered candidates. */
export interface PartyColumns {
  readonly features: readonly BinnedFeature[];
  readonly sampler: ColumnSampler;
  readonly minimums: Minimums;
  /** Per feature and candidate 1 if it is offered at any node; null: all are. */
  readonly ever: readonly Uint8Array[] | null;
  /** Null: what splits reveal is not limited. */
  readonly revealed: RevealedSplits | null;
  /** The noise of the party if gradients have noise; null: none. */
  readonly noiseSecret: Uint8Array | null;
}

/** The index of a tree, and that of its gradients. */
export interface TreePlace {
  readonly tree: number;
  readonly round: number;
  /** @param derives whether sums of the larger sibling are derived from its parent's */
  readonly noiseNames: (derives: boolean) => NoiseNames;
  /** The first tree whose root has the same noise, where that is keyed by node ids; null or left out: this one. */
  readonly rootTree?: number | null;
}

/** Observes the search and the splits of a tree without changing them. */
export interface SearchWatch {
  /** @param isOffered whether a candidate of an owner's feature may split the node */
  searched(node: GrowingNode, isOffered: (owner: number, feature: number, candidate: Candidate) => boolean): void;
  /** @param bests of each party, the active one first */
  compared?(node: GrowingNode, bests: readonly (PartySplit | null)[]): void;
  /** Called before a pair of nodes is searched. */
  children(parent: number, left: number, right: number): void;
  /** @param left the instances that go left */
  split(node: GrowingNode, chosen: PartySplit & { readonly owner: number }, left: Uint32Array): void;
}

export class CentralisedSearch implements SplitSearch<SplitRule, OwnedSplit> {
  readonly #place: TreePlace;
  readonly #parties: readonly PartyColumns[];
  readonly #gradients: QuantisedGradients;
  readonly #gains: TreeGains;
  readonly #sentTotals: SentTotals;
  readonly #watch: SearchWatch | undefined;
  /** Per party. */
  readonly #histograms: readonly NodeHistograms[];
  /** Per party, null where nothing is suppressed. */
  #offered: readonly (OfferedCandidates | null)[] = [];
  /** Per party, null where there is none. */
  #noise: readonly (TreeNoise | null)[] = [];

  /** @param parties index 0 is the active party */
  constructor(
    place: TreePlace,
    parties: readonly PartyColumns[],
    gradients: QuantisedGradients,
    gains: TreeGains,
    watch?: SearchWatch,
  ) {
    this.#watch = watch;
    this.#place = place;
    this.#parties = parties;
    this.#gradients = gradients;
    this.#gains = gains;
    this.#sentTotals = new SentTotals(gradients);
    this.#histograms = parties.map(
      ({ features }, owner) => new NodeHistograms(features, owner === 0 ? gradients : sentGradients(gradients)),
    );
  }

  async root(root: GrowingNode): Promise<OwnedSplit | null> {
    const members = { id: root.id, members: root.sampled };
    const { noise: scale = null, grids } = this.#gradients;
    this.#offered = this.#parties.map(({ features, minimums, revealed, ever }) =>
      areOff(minimums) && revealed === null && ever === null
        ? null
        : new OfferedCandidates(
            minimums,
            features,
            features.map(({ bins }) => bins),
            members,
            revealed,
            ever,
          ),
    );
    const { round, noiseNames, rootTree = null } = this.#place;
    this.#noise = this.#parties.map(({ features, noiseSecret: secret, sampler }) =>
      secret === null || scale === null
        ? null
        : new TreeNoise(
            { secret, scale, slotCount: grids.length },
            features,
            round,
            members,
            noiseNames(sampler.isFixedPerTree),
          ),
    );
    if (rootTree !== null) for (const noise of this.#noise) noise?.repeatRoot(root.id, rootTree);
    const histograms = this.#parties.map((party, i) => this.#histograms[i].root(root, this.#drawn(party, root)));
    return this.#bestOf(root, await Promise.all(histograms));
  }

  async children(pairs: readonly NodePair[]): Promise<(OwnedSplit | null)[]> {
    const found: (OwnedSplit | null)[] = [];
    for (const { parent, left, right } of pairs) {
      // A party without features that may split a node is not asked about it.
      this.#parties.forEach(({ features }, owner) => {
        if (!features.some(({ groups }, i) => mayInteract(left.interactions, owner, i, groups))) return;
        for (const known of [this.#offered[owner], this.#noise[owner]])
          known?.split(parent.id, { id: left.id, members: left.sampled }, { id: right.id, members: right.sampled });
      });
      this.#watch?.children(parent.id, left.id, right.id);
      const byParty = await Promise.all(
        this.#parties.map((party, i) => {
          const drawn = [this.#drawn(party, left), this.#drawn(party, right)] as const;
          return this.#histograms[i].children(parent, [left, right], drawn);
        }),
      );
      for (const [side, node] of [left, right].entries()) {
        const histograms = byParty.map((sides) => sides[side]);
        found.push(this.#bestOf(node, histograms));
      }
    }
    return found;
  }

  async split(
    chosen: readonly { readonly node: GrowingNode; readonly found: OwnedSplit }[],
  ): Promise<SplitOutcome<SplitRule>[]> {
    return chosen.map(({ node, found }) => {
      const { features, revealed } = this.#parties[found.owner];
      const feature = features[found.feature];
      const rule = toSplitRule(found.owner, found.feature, feature, found.candidate);
      revealed?.add(rule);
      const sides = partition(feature, found.candidate, node.instances);
      this.#watch?.split(node, found, sides.left);
      return {
        rule,
        monotone: feature.monotone ?? 0,
        below: interactionsBelow(node.interactions, found.owner, found.feature, feature.groups),
        ...sides,
      };
    });
  }

  #drawn({ features, sampler }: PartyColumns, { depth, id }: GrowingNode): Uint32Array {
    return sampler.at({ tree: this.#place.tree, depth, node: id }, features.length);
  }

  /**
   * Ties: the lowest owner, then the lowest feature. Where sums are hidden, a party's candidates are compared in
   * integers, and a passive party's best with that of the active party as well.
   */
  #bestOf(node: GrowingNode, histograms: readonly NodeHistogram[]): OwnedSplit | null {
    this.#watch?.searched(
      node,
      (owner, feature, candidate) =>
        mayInteract(node.interactions, owner, feature, this.#parties[owner].features[feature].groups) &&
        (this.#offered[owner]?.has(node.id, feature, candidate) ?? true),
    );
    const bests: (PartySplit | null)[] = this.#parties.map(() => null);
    const columnCount = this.#gradients.columns.length;
    this.#parties.forEach(({ features }, owner) => {
      const offered = this.#offered[owner];
      const [totals, gain] =
        owner === 0 ? [node.totals, this.#gains.own] : [this.#sentTotals.of(node), this.#gains.sent];
      for (const [index, histogram] of featureParts(histograms[owner], features, columnCount)) {
        if (!mayInteract(node.interactions, owner, index, features[index].groups)) continue;
        const isOffered =
          offered === null ? null : (candidate: Candidate): boolean => offered.has(node.id, index, candidate);
        const split = bestSplitOf(
          features[index],
          index,
          histogram,
          totals,
          gain,
          node.bounds,
          isOffered,
          this.#noise[owner]?.candidates(node.id, index) ?? null,
          offered?.pieces(node.id, index) ?? null,
        );
        bests[owner] = betterOfParty(bests[owner], split);
      }
    });
    this.#watch?.compared?.(node, bests);
    return bests.reduce<OwnedSplit | null>(
      (best, split, owner) =>
        split !== null && (owner === 0 || isTold(bests[0], split.score))
          ? betterSplit(best, { owner, ...split })
          : best,
      null,
    );
  }
}
