/** Trees in the format of XGBoost's boosters: gbtree, or dart around it with a weight per tree. */
import type { Model } from "../../gbdt/tree/model.ts";

/** @template T a tree */
export interface XgboostTrees<T> {
  readonly model: {
    readonly gbtree_model_param: Readonly<Record<"num_parallel_tree" | "num_trees" | "size_leaf_vector", string>>;
    /** The output of each tree. */
    readonly tree_info: readonly number[];
    readonly trees: readonly T[];
  };
  readonly name: "gbtree";
}

export type XgboostBooster<T> =
  | XgboostTrees<T>
  | { readonly gbtree: XgboostTrees<T>; readonly name: "dart"; readonly weight_drop: readonly number[] };

/** @param trees with one output each: a tree with several outputs was expanded into several consecutive trees */
export function xgboostBooster<T>(
  { parallelTrees = 1, outputCount = 1, treeWeights, trees: own }: Model,
  trees: readonly T[],
): XgboostBooster<T> {
  const gbtree: XgboostTrees<T> = {
    model: {
      gbtree_model_param: {
        num_parallel_tree: String(parallelTrees),
        num_trees: String(trees.length),
        size_leaf_vector: "0",
      },
      tree_info: trees.map((_, id) => id % outputCount),
      trees,
    },
    name: "gbtree",
  };
  if (treeWeights === undefined) return gbtree;
  const times = trees.length / Math.max(1, own.length);
  return { gbtree, name: "dart", weight_drop: trees.map((_, id) => treeWeights[Math.floor(id / times)]) };
}

/** The trees of either booster. */
export function gbtreeOf<T>(booster: XgboostBooster<T>): XgboostTrees<T> {
  return booster.name === "dart" ? booster.gbtree : booster;
}

/** The first tree with enough weight to add something to its leaves; with gbtree always the first. */
export function weighingTree({ treeWeights = [1] }: Model): { readonly tree: number; readonly weight: number } {
  const tree = Math.max(
    0,
    treeWeights.findIndex((weight) => weight > 1e-6),
  );
  return { tree, weight: treeWeights[tree] };
}
