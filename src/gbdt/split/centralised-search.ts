/** The split search with every party's features in one place: what the federated one is measured against. */
import type { QuantisedGradients } from "../../base/quantised-gradients.ts";
import { bestFeatureSplit, betterSplit, type PartySplit } from "./best-split.ts";
import type { BinnedFeature } from "./binning.ts";
import { type Candidate, partition } from "./candidate.ts";
import type { ColumnSampler } from "../boost/column-sampling.ts";
import type { TreeGain } from "./gain.ts";
import type { GrowingNode, NodePair, SplitOutcome, SplitSearch } from "../tree/grow.ts";
import { areOff, type Minimums, OfferedCandidates } from "./offered-candidates.ts";
import { ruleOf, type SplitRule } from "../tree/tree.ts";
import type { UsedThresholds } from "./used-thresholds.ts";

interface OwnedSplit extends PartySplit {
  readonly owner: number;
}

/** One party's features, which of them are drawn, and what its candidates must have to be offered. */
export interface PartyColumns {
  readonly features: readonly BinnedFeature[];
  readonly sampler: ColumnSampler;
  readonly minimums: Minimums;
  /** Null: any number of thresholds may be used. */
  readonly used: UsedThresholds | null;
}

export class CentralisedSearch implements SplitSearch<SplitRule, OwnedSplit> {
  readonly #tree: number;
  readonly #parties: readonly PartyColumns[];
  readonly #gradients: QuantisedGradients;
  readonly #gain: TreeGain;
  /** Per party, null where nothing is withheld. */
  #offered: readonly (OfferedCandidates | null)[] = [];

  /** @param parties index 0 is the active party */
  constructor(tree: number, parties: readonly PartyColumns[], gradients: QuantisedGradients, gain: TreeGain) {
    this.#tree = tree;
    this.#parties = parties;
    this.#gradients = gradients;
    this.#gain = gain;
  }

  async root(root: GrowingNode): Promise<OwnedSplit | null> {
    const members = { id: root.id, members: root.sampled };
    this.#offered = this.#parties.map(({ features, minimums, used }) =>
      areOff(minimums) && used === null
        ? null
        : new OfferedCandidates(
            minimums,
            features,
            features.map(({ bins }) => bins),
            members,
            used,
          ),
    );
    return this.#bestOf(root);
  }

  async children(pairs: readonly NodePair[]): Promise<(OwnedSplit | null)[]> {
    return pairs.flatMap(({ parent, left, right }) => {
      for (const offered of this.#offered)
        offered?.split(parent.id, { id: left.id, members: left.sampled }, { id: right.id, members: right.sampled });
      return [this.#bestOf(left), this.#bestOf(right)];
    });
  }

  async split(
    chosen: readonly { readonly node: GrowingNode; readonly found: OwnedSplit }[],
  ): Promise<SplitOutcome<SplitRule>[]> {
    return chosen.map(({ node, found }) => {
      const { features, used } = this.#parties[found.owner];
      const feature = features[found.feature];
      const rule = ruleOf(found.owner, found.feature, feature, found.candidate);
      used?.add(rule);
      return {
        rule,
        monotone: feature.monotone ?? 0,
        ...partition(feature, found.candidate, node.instances),
      };
    });
  }

  /** Ties: the lowest owner, then the lowest feature. */
  #bestOf(node: GrowingNode): OwnedSplit | null {
    let best: OwnedSplit | null = null;
    const place = { tree: this.#tree, depth: node.depth, node: node.id };
    this.#parties.forEach(({ features, sampler }, owner) => {
      const offered = this.#offered[owner];
      for (const index of sampler.at(place, features.length)) {
        const isOffered =
          offered === null ? null : (candidate: Candidate): boolean => offered.has(node.id, index, candidate);
        const split = bestFeatureSplit(
          features[index],
          index,
          this.#gradients,
          node.sampled,
          node.totals,
          this.#gain,
          node.bounds,
          isOffered,
        );
        best = betterSplit(best, split && { owner, ...split });
      }
    });
    return best;
  }
}
