/** The search over a party's own features only, which the active party runs while passive parties compute. */
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { ColumnSampler } from "../boost/column-sampling.ts";
import type { GrowingNode, NodePair } from "../tree/grow.ts";
import { bestSplitOf, betterOfParty, type PartySplit } from "./best-split.ts";
import type { BinnedFeature } from "./binning.ts";
import type { TreeGain } from "./gain.ts";
import { mayInteract } from "./interactions.ts";
import { type NodeHistogram, NodeHistograms, featureParts } from "./node-histograms.ts";

export interface OwnTree {
  readonly tree: number;
  readonly features: readonly BinnedFeature[];
  /** Which features may split a node. */
  readonly sampler: ColumnSampler;
  readonly gradients: QuantisedGradients;
}

export class OwnSearch {
  readonly #tree: OwnTree;
  readonly #gain: TreeGain;
  readonly #histograms: NodeHistograms;

  constructor(tree: OwnTree, gain: TreeGain) {
    this.#tree = tree;
    this.#gain = gain;
    this.#histograms = new NodeHistograms(tree.features, tree.gradients);
  }

  async root(root: GrowingNode): Promise<PartySplit | null> {
    return this.#best(root, await this.#histograms.root(root, this.#drawn(root)));
  }

  /** The best splits of the left and the right node of each pair, in this order. */
  async children(pairs: readonly NodePair[]): Promise<(PartySplit | null)[]> {
    const found: (PartySplit | null)[] = [];
    for (const { parent, left, right } of pairs) {
      const drawn = [this.#drawn(left), this.#drawn(right)] as const;
      const [ofLeft, ofRight] = await this.#histograms.children(parent, [left, right], drawn);
      found.push(await this.#best(left, ofLeft), await this.#best(right, ofRight));
    }
    return found;
  }

  #drawn({ depth, id }: GrowingNode): Uint32Array {
    const { tree, features, sampler } = this.#tree;
    return sampler.at({ tree, depth, node: id }, features.length);
  }

  /** Ties: the lowest feature. */
  async #best({ totals, bounds, interactions }: GrowingNode, histogram: NodeHistogram): Promise<PartySplit | null> {
    const { features, gradients } = this.#tree;
    let best: PartySplit | null = null;
    for (const [index, part] of featureParts(histogram, features, gradients.columns.length)) {
      if (!mayInteract(interactions, 0, index, features[index].groups)) continue;
      if (isSliceOver()) await nextSlice();
      best = betterOfParty(best, bestSplitOf(features[index], index, part, totals, this.#gain, bounds));
    }
    return best;
  }
}
