/** Trees as XGBoost's boosters have them: gbtree, or dart around it with a weight per tree. */
import type { Model } from "../../gbdt/tree/model.ts";

/** @template T a tree */
export interface XgboostTrees<T> {
  readonly model: {
    readonly gbtree_model_param: Readonly<Record<"num_parallel_tree" | "num_trees" | "size_leaf_vector", string>>;
    /** The output that each tree adds to. */
    readonly tree_info: readonly number[];
    readonly trees: readonly T[];
  };
  readonly name: "gbtree";
}

export type XgboostBooster<T> =
  | XgboostTrees<T>
  | { readonly gbtree: XgboostTrees<T>; readonly name: "dart"; readonly weight_drop: readonly number[] };

/** @param trees of one output each: of a tree with several outputs there are several, one after the other */
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

/** Its trees, whatever is around them. */
export function gbtreeOf<T>(booster: XgboostBooster<T>): XgboostTrees<T> {
  return booster.name === "dart" ? booster.gbtree : booster;
}

/** The first tree that weighs enough for something to be added to its leaves; always the first but with dart. */
export function weighingTree({ treeWeights = [1] }: Model): { readonly tree: number; readonly weight: number } {
  const tree = Math.max(
    0,
    treeWeights.findIndex((weight) => weight > 1e-6),
  );
  return { tree, weight: treeWeights[tree] };
}
