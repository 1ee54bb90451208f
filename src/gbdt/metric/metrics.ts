/** Evaluation metrics of predictions against labels, instance by instance; as XGBoost 1.7, with its weights. */
import { assert } from "../../base/assert.ts";

/** Null or left out: every instance counts once. */
export type Weights = ArrayLike<number> | null;

/** Mean negative log-likelihood of 0/1 labels; probabilities are kept 1e-16 away from 0 and 1, as in XGBoost. */
export function logloss(probabilities: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  const epsilon = 1e-16;
  return mean(probabilities, labels, weights, (predicted, label) => {
    // Of label * log(p) + (1 - label) * log(q) one term is zero.
    if (label === 1) return -Math.log(Math.max(predicted, epsilon));
    if (label === 0) return -Math.log(Math.max(1 - predicted, epsilon));
    const p = Math.max(predicted, epsilon);
    const q = Math.max(1 - predicted, epsilon);
    return -(label * Math.log(p) + (1 - label) * Math.log(q));
  });
}

/** The fraction of 0/1 labels on the other side of a cut-off. */
export function error(
  probabilities: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights: Weights = null,
  cutOff = 0.5,
): number {
  return mean(probabilities, labels, weights, (predicted, label) => (predicted > cutOff ? 1 - label : label));
}

/** Root mean squared error. */
export function rmse(predictions: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return Math.sqrt(mean(predictions, labels, weights, (predicted, label) => (predicted - label) ** 2));
}

/** Mean absolute error. */
export function mae(predictions: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return mean(predictions, labels, weights, (predicted, label) => Math.abs(predicted - label));
}

/** Mean absolute error as a fraction of the label. */
export function mape(predictions: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return mean(predictions, labels, weights, (predicted, label) => Math.abs((label - predicted) / label));
}

/** What reg:pseudohubererror minimises. */
export function pseudoHuberError(
  predictions: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights: Weights,
  slope: number,
): number {
  return mean(
    predictions,
    labels,
    weights,
    (predicted, label) => slope ** 2 * (Math.sqrt(1 + ((predicted - label) / slope) ** 2) - 1),
  );
}

/** What reg:quantileerror minimises, on average over its quantiles; those of a row stand side by side. */
export function pinballLoss(
  predictions: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights: Weights,
  alphas: readonly number[],
): number {
  const losses = Float64Array.from(labels, (label, row) => {
    let loss = 0;
    alphas.forEach((alpha, k) => {
      const above = label - predictions[row * alphas.length + k];
      loss += above >= 0 ? alpha * above : (alpha - 1) * above;
    });
    return loss / alphas.length;
  });
  return mean(losses, labels, weights, (loss) => loss);
}

/** Mean negative log-likelihood of the right class; `probabilities` has those of a row side by side. */
export function mlogloss(
  probabilities: ArrayLike<number>,
  classes: number,
  labels: ArrayLike<number>,
  weights: Weights = null,
): number {
  const right = Float64Array.from(labels, (label, row) => probabilities[row * classes + label]);
  return mean(right, labels, weights, (p) => -Math.log(Math.max(p, 1e-16)));
}

/** The fraction of rows whose most likely class, the lowest on a tie, is not the right one. */
export function merror(
  probabilities: ArrayLike<number>,
  classes: number,
  labels: ArrayLike<number>,
  weights: Weights = null,
): number {
  const likeliest = Float64Array.from(labels, (_, row) => {
    let best = 0;
    for (let k = 1; k < classes; k++)
      if (probabilities[row * classes + k] > probabilities[row * classes + best]) best = k;
    return best;
  });
  return mean(likeliest, labels, weights, (predicted, label) => (predicted === label ? 0 : 1));
}

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

/** log(gamma(x)) for x >= 1: Stirling's series, after moving x up to where it is exact to double precision. */
export function logGamma(x: number): number {
  let shifted = x;
  let product = 1;
  while (shifted < 15) product *= shifted++;
  const inverse = 1 / shifted;
  const square = inverse * inverse;
  const series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))));
  return (shifted - 0.5) * Math.log(shifted) - shifted + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}
