/** The split search with every party's features in one place: what the federated one is measured against. */
import type { QuantisedGradients } from "../base/quantised-gradients.ts";
import { bestFeatureSplit, betterSplit, type PartySplit } from "./best-split.ts";
import type { BinnedFeature } from "./binning.ts";
import { partition } from "./candidate.ts";
import type { TreeGain } from "./gain.ts";
import type { GrowingNode, NodePair, SplitOutcome, SplitSearch } from "./grow.ts";
import { ruleOf, type SplitRule } from "./tree.ts";

interface OwnedSplit extends PartySplit {
  readonly owner: number;
}

export class CentralisedSearch implements SplitSearch<SplitRule, OwnedSplit> {
  readonly #parties: readonly (readonly BinnedFeature[])[];
  readonly #gradients: QuantisedGradients;
  readonly #gain: TreeGain;

  /** @param parties each party's features; index 0 is the active party */
  constructor(parties: readonly (readonly BinnedFeature[])[], gradients: QuantisedGradients, gain: TreeGain) {
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
      const feature = this.#parties[found.owner][found.feature];
      return { rule: ruleOf(found.owner, found.feature, feature, found.candidate), ...partition(feature, found.candidate, node.instances) };
    });
  }

  /** Ties: the lowest owner, then the lowest feature. */
  #bestOf(node: GrowingNode): OwnedSplit | null {
    let best: OwnedSplit | null = null;
    this.#parties.forEach((features, owner) =>
      features.forEach((feature, index) => {
        const split = bestFeatureSplit(feature, index, this.#gradients, node.instances, node.totals, this.#gain);
        best = betterSplit(best, split && { owner, ...split });
      }),
    );
    return best;
  }
}
