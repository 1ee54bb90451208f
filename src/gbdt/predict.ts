/** Prediction with all columns in one place. Comparison is in float32: x < threshold goes left, NaN the default way. */
import { assert } from "../base/assert.ts";
import type { Model } from "./model.ts";
import { objectiveFor } from "./objective.ts";
import { leafWeightOf, valueGoesLeft } from "./tree.ts";

/**
 * @param parties each party's columns, indexed like SplitRule.owner and SplitRule.feature
 * @returns the margin of each row, summed in double in tree order, as training does
 */
export function predictMargins(
  model: Model,
  parties: readonly (readonly Float32Array[])[],
  rowCount: number,
): Float64Array {
  for (const column of parties.flat()) assert(column.length === rowCount, "columns of different length");
  const margins = new Float64Array(rowCount).fill(model.baseMargin);
  for (const tree of model.trees) {
    for (let row = 0; row < rowCount; row++) {
      margins[row] += leafWeightOf(tree, (rule) => valueGoesLeft(rule, parties[rule.owner][rule.feature][row]));
    }
  }
  return margins;
}

/** Margins turned into predictions: probabilities for binary:logistic. */
export function predictionsOf(model: Model, margins: Float64Array): Float64Array {
  const { transform } = objectiveFor(model.objective);
  return margins.map((margin) => transform(margin));
}
