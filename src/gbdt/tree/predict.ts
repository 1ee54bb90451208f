/** Prediction with all columns in one place; split-test.ts defines the direction of a value. */
import { assert } from "../../base/assert.ts";
import type { Model } from "./model.ts";
import { predictionsFrom } from "../objective/objectives.ts";
import { type CategoryNames, columnTest } from "../split/split-test.ts";
import { addLeaf, leafOf } from "./tree.ts";
import { withWeightsInLeaves } from "./weighted-trees.ts";

/**
 * @param parties each party's columns, indexed like SplitRule.owner and SplitRule.feature
 * @param names the category names of each column, for parties with categorical columns
 * @param baseMargins the initial margin of each row, for a model that was trained with base margins
 * @returns the margins of each row, all outputs of a row adjacent, summed in double in tree order, as training does
 */
export function predictMargins(
  grown: Model,
  parties: readonly (readonly Float32Array[])[],
  rowCount: number,
  names: readonly (readonly CategoryNames[])[] = [],
  baseMargins?: Float64Array,
): Float64Array {
  const model = withWeightsInLeaves(grown);
  assert(
    (model.takesBaseMargin === true) === (baseMargins !== undefined),
    "base margins are given exactly if the model uses them",
  );
  for (const column of parties.flat()) assert(column.length === rowCount, "columns of different length");
  const { outputCount = 1 } = model;
  const margins = baseMargins?.slice() ?? new Float64Array(rowCount * outputCount).fill(model.baseMargin);
  forEachLeaf(model, parties, rowCount, names, (tree, row, leaf) =>
    addLeaf(margins, row, outputCount, tree, model.trees[tree][leaf]),
  );
  return margins;
}

/** Per row the node id of its leaf in each tree, adjacent per row, as XGBoost's pred_leaf. Parameters as above. */
export function predictLeaves(
  model: Model,
  parties: readonly (readonly Float32Array[])[],
  rowCount: number,
  names: readonly (readonly CategoryNames[])[] = [],
): Uint32Array {
  const leaves = new Uint32Array(rowCount * model.trees.length);
  forEachLeaf(model, parties, rowCount, names, (tree, row, leaf) => (leaves[row * model.trees.length + tree] = leaf));
  return leaves;
}

function forEachLeaf(
  model: Model,
  parties: readonly (readonly Float32Array[])[],
  rowCount: number,
  names: readonly (readonly CategoryNames[])[],
  visit: (tree: number, row: number, leaf: number) => void,
): void {
  model.trees.forEach((tree, treeIndex) => {
    const tests = tree.map((node) =>
      node.kind === "split" ? columnTest(node.rule, names[node.rule.owner]?.[node.rule.feature] ?? null) : () => true,
    );
    for (let row = 0; row < rowCount; row++)
      visit(
        treeIndex,
        row,
        leafOf(tree, (rule, node) => tests[node](parties[rule.owner][rule.feature][row])),
      );
  });
}

/** Margins turned into predictions: probabilities for binary:logistic. */
export function toPredictions(model: Model, margins: Float64Array): Float64Array {
  return predictionsFrom(model.objective, margins, model.outputCount);
}
