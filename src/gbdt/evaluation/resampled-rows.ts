/** Statistics whose intervals are reported, each prepared so that a resample costs one pass over sorted rows. */
import type { Weights } from "../metric/weighted-mean.ts";
import type { Resampled } from "./bootstrap.ts";
import { byScoreDown } from "./score-steps.ts";

export type BinaryStatistic = "auc" | "ks" | "average_precision" | "brier";

interface TwoClasses {
  /** Whose order counts. */
  readonly scores: Float64Array;
  /** For the Brier score; null: scores are no probabilities. */
  readonly probabilities: Float64Array | null;
  /** 0 or 1. */
  readonly labels: Float64Array;
  readonly weights: Weights;
}

/** AUC, KS and average precision of two classes, and the Brier score. Classes are drawn from separately. */
export function resampledBinary({ scores, probabilities, labels, weights }: TwoClasses): Resampled<BinaryStatistic> {
  const order = byScoreDown(scores);
  const endsTie = Uint8Array.from(order, (row, i) => Number(scores[row] !== scores[order[i + 1]]));
  const losses = probabilities?.map((probability, row) => (probability - labels[row]) ** 2) ?? null;
  const names = ["auc", "ks", "average_precision", ...(losses === null ? [] : (["brier"] as const))] as const;
  const of = (copies: Float64Array | null): readonly number[] => {
    const [allPositives, allNegatives, loss] = totals(copies, labels, weights, losses);
    let [positives, negatives, before, lost, area, largest, precision] = [0, 0, 0, 0, 0, 0, 0];
    for (let i = 0; i < order.length; i++) {
      const row = order[i];
      const weight = (copies === null ? 1 : copies[row]) * (weights === null ? 1 : weights[row]);
      if (labels[row] === 1) positives += weight;
      else negatives += weight;
      if (endsTie[i] === 0) continue;
      area += (negatives - lost) * ((positives + before) / 2);
      if (positives > before) precision += ((positives - before) * positives) / (positives + negatives);
      largest = Math.max(largest, Math.abs(positives / allPositives - negatives / allNegatives));
      [before, lost] = [positives, negatives];
    }
    const all = allPositives + allNegatives;
    return [area / (allPositives * allNegatives), largest, precision / allPositives, loss / all].slice(0, names.length);
  };
  return { names, units: labels.length, strata: labels, of };
}

function totals(
  copies: Float64Array | null,
  labels: Float64Array,
  weights: Weights,
  losses: Float64Array | null,
): readonly [positives: number, negatives: number, loss: number] {
  let [positives, negatives, loss] = [0, 0, 0];
  for (let row = 0; row < labels.length; row++) {
    const weight = (copies === null ? 1 : copies[row]) * (weights === null ? 1 : weights[row]);
    if (labels[row] === 1) positives += weight;
    else negatives += weight;
    if (losses !== null) loss += weight * losses[row];
  }
  return [positives, negatives, loss];
}

/** Weighted means per row or group, and what is computed from them. @param of receives the means, in their order */
export function resampledMeans<N extends string>(
  names: readonly N[],
  values: readonly Float64Array[],
  weights: Weights,
  of: (means: readonly number[]) => readonly number[] = (means) => means,
): Resampled<N> {
  const units = values[0].length;
  return {
    names,
    units,
    strata: null,
    of(copies) {
      const sums = values.map(() => 0);
      let total = 0;
      for (let unit = 0; unit < units; unit++) {
        const weight = (copies === null ? 1 : copies[unit]) * (weights === null ? 1 : weights[unit]);
        if (weight === 0) continue;
        total += weight;
        for (let i = 0; i < sums.length; i++) sums[i] += weight * values[i][unit];
      }
      return of(sums.map((sum) => sum / total));
    },
  };
}

/** Root mean squared error, mean absolute error, and the part of the labels' variance that predictions explain. */
export function resampledErrors(
  predictions: Float64Array,
  labels: Float64Array,
  weights: Weights,
): Resampled<"rmse" | "mae" | "r2"> {
  const errors = predictions.map((predicted, row) => labels[row] - predicted);
  // Around a label, so that squares of large labels do not cancel.
  const centred = labels.map((label) => label - labels[0]);
  const values = [errors.map((e) => e * e), errors.map(Math.abs), centred, centred.map((label) => label * label)];
  return resampledMeans(["rmse", "mae", "r2"], values, weights, ([squared, absolute, label, labelSquared]) => [
    Math.sqrt(squared),
    absolute,
    1 - squared / (labelSquared - label * label),
  ]);
}
