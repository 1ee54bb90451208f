/** Residuals of predicted numbers, and of predicted quantiles. A residual is the label minus the prediction. */
import { quantileOf } from "./bootstrap.ts";
import type { Weights } from "../metric/weighted-mean.ts";

const levels = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99] as const;

/** [level, quantile]; of rows, whatever their weights. */
export function residualQuantiles(predictions: Float64Array, labels: Float64Array): [number, number][] {
  const sorted = labels.map((label, row) => label - predictions[row]).sort();
  return levels.map((level) => [level, quantileOf(sorted, level)]);
}

export interface QuantileFigures {
  readonly level: number;
  /** The part of the labels at or below the prediction: the level, if predictions are right. */
  readonly below: number;
  readonly pinball: number;
}

/** @param predictions those of a row side by side, one per level */
export function quantileFigures(
  predictions: Float64Array,
  labels: Float64Array,
  weights: Weights,
  predicted: readonly number[],
): QuantileFigures[] {
  const total = labels.reduce((sum, _, row) => sum + (weights?.[row] ?? 1), 0);
  return predicted.map((level, k) => {
    let [below, pinball] = [0, 0];
    labels.forEach((label, row) => {
      const weight = weights?.[row] ?? 1;
      const at = predictions[row * predicted.length + k];
      if (label <= at) below += weight;
      pinball += weight * pinballLoss(label, at, level);
    });
    return { level, below: below / total, pinball: pinball / total };
  });
}

export function pinballLoss(label: number, predicted: number, level: number): number {
  const over = label - predicted;
  return Math.max(level * over, (level - 1) * over);
}
