/**
 * Computes margins from the outcomes of all parties' splits. Both training jobs and later scoring traverse the trees
 * here, so their sums are bit-identical.
 */
import { type CategoryNames, columnOutcomes, columnTest } from "../../gbdt/split/split-test.ts";
import { addLeaf, leafOf, type SplitRule } from "../../gbdt/tree/tree.ts";
import type { WriteOutcomes } from "../../scheme/masked/tree-values.ts";
import type { ActiveModel } from "./role.ts";
import { isOwnRule } from "./federated-tree.ts";

/** What is known about the rows, by row index. */
export interface RowOutcomes {
  /** The float32 value that one of the active party's own rules tests; NaN = missing. */
  ownValue(rule: SplitRule, row: number): number;
  /** Category names if the values are category codes. */
  ownNames(rule: SplitRule): CategoryNames;
  /** The outcome of a passive party's split; owner 1 is the first of passiveNames. */
  remoteGoesLeft(owner: number, tree: number, node: number, row: number): boolean;
}

/** The outcomes of the active party's own splits. */
export function ownOutcomes(
  trees: ActiveModel["trees"],
  { ownValue, ownNames }: Pick<RowOutcomes, "ownValue" | "ownNames">,
): (tree: number, node: number, row: number) => boolean {
  const tests = trees.map((tree) =>
    tree.map((node) => {
      if (node.kind === "leaf" || !isOwnRule(node.rule)) return () => true;
      const { rule } = node;
      const test = columnTest(rule, ownNames(rule));
      return (row: number) => test(ownValue(rule, row));
    }),
  );
  return (tree, node, row) => tests[tree][node](row);
}

/** The active party's own column that a rule tests. */
export interface OwnColumn {
  readonly values: Float32Array;
  /** Category names if the values are category codes. */
  readonly names: CategoryNames;
}

/** The outcomes of the active party's own splits, for many rows at once. */
export function ownOutcomesOf(trees: ActiveModel["trees"], columnOf: (rule: SplitRule) => OwnColumn): WriteOutcomes {
  return (tree, node, first, target) => {
    const split = trees[tree][node];
    if (split.kind === "split" && isOwnRule(split.rule))
      columnOutcomes(split.rule, columnOf(split.rule), first, target);
  };
}

/** Adds each row's leaf weights to its margins, outputs side by side, in double and in tree order, as training does. */
export function addMargins(
  { trees, outputCount = 1 }: Pick<ActiveModel, "trees" | "outputCount">,
  margins: Float64Array,
  rows: RowOutcomes,
): void {
  const rowCount = margins.length / outputCount;
  trees.forEach((tree, treeIndex) => {
    const tests = tree.map((node) =>
      node.kind === "split" && isOwnRule(node.rule) ? columnTest(node.rule, rows.ownNames(node.rule)) : () => true,
    );
    for (let row = 0; row < rowCount; row++) {
      const leaf = leafOf(tree, (rule, node) =>
        isOwnRule(rule) ? tests[node](rows.ownValue(rule, row)) : rows.remoteGoesLeft(rule.owner, treeIndex, node, row),
      );
      addLeaf(margins, row, outputCount, treeIndex, tree[leaf]);
    }
  });
}
