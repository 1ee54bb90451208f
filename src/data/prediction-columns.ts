/** Predictions as columns of a file: numbers, and the likeliest class if classes have names. */
import { computedTexts, type TextList } from "../base/text/text-list.ts";

export interface PredictionColumns {
  readonly names: readonly string[];
  readonly columns: readonly TextList[];
}

/**
 * @param cutOff of two classes: the prediction above which the second is the likelier
 * @param predictions of each row, its outputs side by side
 * @param classes what the outputs stand for, or of one output what 0 and 1 do; null: they have no names
 */
export function predictionColumns(
  cutOff: number,
  predictions: Float64Array,
  rowCount: number,
  classes: readonly string[] | null,
): PredictionColumns {
  const perRow = rowCount === 0 ? 1 : predictions.length / rowCount;
  const outputs = Array.from({ length: perRow }, (_, k) =>
    computedTexts(rowCount, (row) => String(predictions[row * perRow + k])),
  );
  const names = outputs.map((_, k) => (perRow === 1 ? "prediction" : `prediction_${classes?.[k] ?? k}`));
  if (classes === null) return { names, columns: outputs };
  const likeliest = computedTexts(rowCount, (row) =>
    likeliestClass(cutOff, predictions.subarray(row * perRow, (row + 1) * perRow), classes),
  );
  return { names: [...names, "class"], columns: [...outputs, likeliest] };
}

/** The class of one row's outputs; the first one on a tie. */
export function likeliestClass(cutOff: number, outputs: Float64Array, classes: readonly string[]): string {
  if (outputs.length > 1) return classes[outputs.indexOf(Math.max(...outputs))];
  if (classes.length > 2) return classes[outputs[0]]; // the objective names a class, not its probability
  return classes[outputs[0] > cutOff ? 1 : 0];
}
