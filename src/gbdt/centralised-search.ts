/** The split search with every party's features in one place: what the federated one is measured against. */
import type { QuantisedGradients } from "../base/quantised-gradients.ts";
import { bestFeatureSplit, betterSplit, type PartySplit } from "./best-split.ts";
import type { BinnedFeature } from "./binning.ts";
import { partition } from "./candidate.ts";
import type { ColumnSampler } from "./column-sampling.ts";
import type { TreeGain } from "./gain.ts";
import type { GrowingNode, NodePair, SplitOutcome, SplitSearch } from "./grow.ts";
import { ruleOf, type SplitRule } from "./tree.ts";

interface OwnedSplit extends PartySplit {
  readonly owner: number;
}

/** One party's features, and which of them are drawn. */
export interface PartyColumns {
  readonly features: readonly BinnedFeature[];
  readonly sampler: ColumnSampler;
}

export class CentralisedSearch implements SplitSearch<SplitRule, OwnedSplit> {
  readonly #tree: number;
  readonly #parties: readonly PartyColumns[];
  readonly #gradients: QuantisedGradients;
  readonly #gain: TreeGain;

  /** @param parties index 0 is the active party */
  constructor(tree: number, parties: readonly PartyColumns[], gradients: QuantisedGradients, gain: TreeGain) {
    this.#tree = tree;
    this.#parties = parties;
    this.#gradients = gradients;
    this.#gain = gain;
  }

  async root(root: GrowingNode): Promise<OwnedSplit | null> {
    return this.#bestOf(root);
  }

  async children(pairs: readonly NodePair[]): Promise<(OwnedSplit | null)[]> {
    return pairs.flatMap(({ left, right }) => [this.#bestOf(left), this.#bestOf(right)]);
  }

  async split(chosen: readonly { readonly node: GrowingNode; readonly found: OwnedSplit }[]): Promise<SplitOutcome<SplitRule>[]> {
    return chosen.map(({ node, found }) => {
      const feature = this.#parties[found.owner].features[found.feature];
      return { rule: ruleOf(found.owner, found.feature, feature, found.candidate), monotone: feature.monotone ?? 0, ...partition(feature, found.candidate, node.instances) };
    });
  }

  /** Ties: the lowest owner, then the lowest feature. */
  #bestOf(node: GrowingNode): OwnedSplit | null {
    let best: OwnedSplit | null = null;
    const place = { tree: this.#tree, depth: node.depth, node: node.id };
    this.#parties.forEach(({ features, sampler }, owner) => {
      for (const index of sampler.at(place, features.length)) {
        const split = bestFeatureSplit(features[index], index, this.#gradients, node.sampled, node.totals, this.#gain, node.bounds);
        best = betterSplit(best, split && { owner, ...split });
      }
    });
    return best;
  }
}
