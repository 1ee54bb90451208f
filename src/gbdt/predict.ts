/** Prediction with all columns in one place. Comparison is in float32: x < threshold goes left, NaN the default way. */
import { assert } from "../base/assert.ts";
import type { Model } from "./model.ts";
import { objectiveFor } from "./objective.ts";
import { addLeaf, leafOf, valueGoesLeft } from "./tree.ts";

/**
 * @param parties each party's columns, indexed like SplitRule.owner and SplitRule.feature
 * @returns the margins of each row, its outputs side by side, summed in double in tree order, as training does
 */
export function predictMargins(
  model: Model,
  parties: readonly (readonly Float32Array[])[],
  rowCount: number,
): Float64Array {
  for (const column of parties.flat()) assert(column.length === rowCount, "columns of different length");
  const { outputCount = 1 } = model;
  const margins = new Float64Array(rowCount * outputCount).fill(model.baseMargin);
  model.trees.forEach((tree, treeIndex) => {
    for (let row = 0; row < rowCount; row++) {
      const leaf = leafOf(tree, (rule) => valueGoesLeft(rule, parties[rule.owner][rule.feature][row]));
      addLeaf(margins, row, outputCount, treeIndex, tree[leaf]);
    }
  });
  return margins;
}

/** Margins turned into predictions: probabilities for binary:logistic. */
export function predictionsOf(model: Model, margins: Float64Array): Float64Array {
  return objectiveFor(model.objective).predictions(margins, model.outputCount ?? 1);
}
