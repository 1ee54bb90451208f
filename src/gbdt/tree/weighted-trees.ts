/**
 * Models whose trees have different weights (booster dart). A model has the original leaves and a weight per tree.
 * Prediction and explanation multiply them here, once, and then treat the model like any other.
 */
import type { Tree, TreeNode } from "./tree.ts";

export interface WeighedTrees<R> {
  readonly trees: readonly Tree<R>[];
  readonly treeWeights?: readonly number[] | undefined;
}

/** The same model with weights in its leaves: in double, so that nothing is rounded. */
export function withWeightsInLeaves<R, M extends WeighedTrees<R>>(model: M & WeighedTrees<R>): M {
  const { treeWeights } = model;
  if (treeWeights === undefined) return model;
  const trees = model.trees.map((tree, t) => tree.map((node) => weighted(node, treeWeights[t])));
  return { ...model, trees, treeWeights: undefined };
}

function weighted<R>(node: TreeNode<R>, weight: number): TreeNode<R> {
  if (node.kind === "split") return node;
  const { weights } = node;
  return {
    ...node,
    weight: node.weight * weight,
    ...(weights === undefined ? {} : { weights: weights.map((of) => of * weight) }),
  };
}
