/**
 * Which candidates of a party may be offered at a node if the bits that won splits reveal of its columns are limited: a
 * function of counts and of order, which the passive party and the centralised trainer both call.
 *
 * Every node has an *allowance*, and offers what costs no more (revealed-pieces.ts). The allowances of a tree's nodes
 * add up to no more than what is left of the budget, so that concurrent decisions cannot exceed it. The root has all
 * that is left. When children are placed, their parent releases its allowance, and each gets half of what is free, and
 * at most half of the parent's. A node that becomes a leaf keeps its allowance until the tree ends, because its owner
 * does not learn that it is a leaf.
 *
 * Sets of categories are formed by the active party. A feature may be split by any set where the dearest one fits, and
 * elsewhere by unions of its pieces, which cost nothing.
 */
import { assert } from "../../base/assert.ts";
import type { BinnedFeature } from "./binning.ts";
import { isPartitioned } from "./category-candidate.ts";
import type { BitBudget } from "./revealed-splits.ts";

export class BitPlaces {
  readonly #budget: BitBudget;
  readonly #features: readonly BinnedFeature[];
  readonly #allowances = new Map<number, number>();
  /** Per node and feature the pieces that sets may be formed of; null: all sets are allowed. */
  readonly #pieces = new Map<number, readonly (Uint32Array | null)[]>();

  /** @param budget whose pieces are divided by every won split of the party, before its children are placed */
  constructor(budget: BitBudget, features: readonly BinnedFeature[], root: number) {
    this.#budget = budget;
    this.#features = features;
    this.#place([root], budget.free);
  }

  split(parent: number, left: number, right: number): void {
    const above = this.#allowances.get(parent);
    assert(above !== undefined, "children are registered once, after their parent");
    const whole = this.#pieces.get(parent);
    this.#allowances.delete(parent);
    this.#pieces.delete(parent);
    let free = this.#budget.free;
    for (const allowance of this.#allowances.values()) free -= allowance;
    this.#place([left, right], Math.max(0, Math.min(above, free)) / 2, whole);
  }

  /** Per candidate of a feature, in the order of candidatesOf, 1 if it may be offered at a node; null: all may. */
  allowed(node: number, feature: number): Uint8Array | null {
    const allowance = this.#allowances.get(node) ?? 0;
    if (isPartitioned(this.#features[feature])) return null;
    return Uint8Array.from(this.#budget.pieces.costs(feature), (cost) => (cost <= allowance ? 1 : 0));
  }

  /** Per bin its piece, where sets of categories must be unions of pieces; null: they need not. */
  pieces(node: number, feature: number): Uint32Array | null {
    return this.#pieces.get(node)?.[feature] ?? null;
  }

  /** @param above the pieces at the parent: what is closed there is closed below */
  #place(nodes: readonly number[], allowance: number, above?: readonly (Uint32Array | null)[]): void {
    const { pieces } = this.#budget;
    const placed = this.#features.map((feature, i) => {
      if (!isPartitioned(feature)) return null;
      const isClosed = (above?.[i] ?? null) !== null || pieces.costMax(i) > allowance;
      return isClosed ? pieces.binPieces(i) : null;
    });
    for (const node of nodes) {
      this.#allowances.set(node, allowance);
      this.#pieces.set(node, placed);
    }
  }
}
