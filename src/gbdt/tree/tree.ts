/**
 * Trees as arrays of nodes. The root is node 0; a split node's children have the next two free ids at the moment of
 * splitting, as in XGBoost.
 *
 * `R` is what a party knows of a split: the whole rule (SplitRule) in a centralised model, less in a party's share.
 */
import { assert } from "../../base/assert.ts";
import type { BinnedFeature } from "../split/binning.ts";
import type { Candidate } from "../split/candidate.ts";
import { type SplitTest, toSplitTest } from "../split/split-test.ts";

/** A whole rule. */
export type SplitRule = SplitTest & {
  /** 0 = the active party, then passives in config order. */
  readonly owner: number;
  /** Index within the owner's features. */
  readonly feature: number;
  readonly featureName: string;
};

/** The rule of a candidate of an owner's feature. */
export function toSplitRule(owner: number, feature: number, binned: BinnedFeature, candidate: Candidate): SplitRule {
  return { owner, feature, featureName: binned.name, ...toSplitTest(binned, candidate) };
}

export interface LeafNode {
  readonly kind: "leaf";
  /** eq. (4) times eta, in float32; that of the first output if there are several. */
  readonly weight: number;
  /** Vector leaves only: one weight per output. */
  readonly weights?: readonly number[] | undefined;
  /** Sum of hessians. */
  readonly cover: number;
  /** Training instances. */
  readonly count: number;
}

export interface SplitNode<R> {
  readonly kind: "split";
  readonly left: number;
  readonly right: number;
  readonly gain: number;
  readonly cover: number;
  readonly count: number;
  readonly rule: R;
}

export type TreeNode<R> = LeafNode | SplitNode<R>;
export type Tree<R> = readonly TreeNode<R>[];

/** Walks from the root to a leaf. @returns the leaf's node id */
export function leafOf<R>(tree: Tree<R>, goesLeft: (rule: R, node: number) => boolean): number {
  let id = 0;
  for (;;) {
    const node = tree[id];
    if (node.kind === "leaf") return id;
    id = goesLeft(node.rule, id) ? node.left : node.right;
  }
}

/**
 * Adds a leaf to a row's margins.
 * @param treeIndex with one output per tree, tree t adds to output t mod outputCount
 */
export function addLeaf<R>(
  margins: Float64Array,
  row: number,
  outputCount: number,
  treeIndex: number,
  leaf: TreeNode<R>,
): void {
  assert(leaf.kind === "leaf", "rows end at leaves");
  const first = row * outputCount;
  if (leaf.weights === undefined) margins[first + (treeIndex % outputCount)] += leaf.weight;
  else for (let k = 0; k < outputCount; k++) margins[first + k] += leaf.weights[k];
}
