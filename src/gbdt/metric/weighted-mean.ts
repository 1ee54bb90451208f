/** Weighted means over instances. */
import { assert } from "../../base/assert.ts";

/** Null or left out: every instance counts once. */
export type Weights = ArrayLike<number> | null;

export function mean(
  predictions: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights: Weights,
  loss: (predicted: number, label: number) => number,
): number {
  assert(predictions.length === labels.length, "predictions and labels of different length");
  let total = 0;
  let weightTotal = 0;
  for (let i = 0; i < labels.length; i++) {
    const weight = weights?.[i] ?? 1;
    total += weight * loss(predictions[i], labels[i]);
    weightTotal += weight;
  }
  return total / weightTotal;
}
