/**
 * Where in a tree unused thresholds of a feature may be offered, if their number per job is limited: a function of
 * counts and of order, which the passive party and the centralised trainer both call.
 *
 * A node is *open* for a feature if new thresholds of it may split the node. Each open node has reserved one of the
 * remaining places, so that no two nodes can use the same one in concurrent decisions. The root reserves one if there
 * is one. When children are placed, their parent releases its place, and the two reserve two, if two remain and the
 * parent was open. Otherwise they are closed, and so are all nodes below: what is suppressed at a node must be
 * suppressed at its children (gbdt/split/offered-candidates.ts). A node that becomes a leaf keeps its place until the
 * tree ends, because its owner does not learn that it is a leaf.
 *
 * At a closed node the used thresholds, or the used categories, are offered. Features with category sets offer nothing
 * there: their sums are shown one by one, and any set could be formed from them.
 */
import { assert } from "../../base/assert.ts";
import type { BinnedFeature } from "./binning.ts";
import { candidatesOf } from "./candidate.ts";
import { isPartitioned } from "./category-candidate.ts";
import { toSplitTest } from "./split-test.ts";
import type { UsedThresholds } from "./used-thresholds.ts";

export class ThresholdPlaces {
  readonly #used: UsedThresholds;
  readonly #features: readonly BinnedFeature[];
  /** Per feature the number of places reserved by open nodes. */
  readonly #reserved: Uint32Array;
  /** Per node and feature 1 if it is open. */
  readonly #open = new Map<number, Uint8Array>();

  /** @param used updated with every won split of the party, before its children are placed */
  constructor(used: UsedThresholds, features: readonly BinnedFeature[], root: number) {
    this.#used = used;
    this.#features = features;
    this.#reserved = new Uint32Array(features.length);
    this.#open.set(
      root,
      Uint8Array.from(features, (_, feature) => this.#reserve(feature, 1)),
    );
  }

  split(parent: number, left: number, right: number): void {
    const above = this.#open.get(parent);
    assert(above !== undefined, "children are registered once, after their parent");
    for (const [feature, wasOpen] of above.entries()) this.#reserved[feature] -= wasOpen;
    const open = above.map((wasOpen, feature) => (wasOpen === 1 ? this.#reserve(feature, 2) : 0));
    this.#open.set(left, open).set(right, open).delete(parent);
  }

  /** Per candidate of a feature, in the order of candidatesOf, 1 if it may be offered at a node; null: all may. */
  allowed(node: number, feature: number): Uint8Array | null {
    if (this.#open.get(node)?.[feature] === 1) return null;
    const binned = this.#features[feature];
    const isUsed = (test: Parameters<UsedThresholds["has"]>[1]): boolean =>
      !isPartitioned(binned) && this.#used.has(binned.name, test);
    return Uint8Array.from(candidatesOf(binned), (candidate) => (isUsed(toSplitTest(binned, candidate)) ? 1 : 0));
  }

  #reserve(feature: number, count: number): 0 | 1 {
    if (this.#used.free(this.#features[feature].name) < this.#reserved[feature] + count) return 0;
    this.#reserved[feature] += count;
    return 1;
  }
}
