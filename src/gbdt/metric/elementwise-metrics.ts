/** Metrics of predictions against labels, instance by instance; as XGBoost 1.7, src/metric/elementwise_metric.cu. */
import { type Metric, oneNumber } from "./metric.ts";
import { mean, type Weights } from "./weighted-mean.ts";

export const elementwiseMetrics = [
  {
    name: "logloss",
    about: "mean negative log-likelihood of probabilities",
    fits: ["binary", "fraction"],
    value: ({ predictions, labels, weights }) => logloss(predictions, labels, weights),
  },
  {
    name: "error",
    about: "share of misclassified rows at threshold t, by default 0.5",
    numbered: "t",
    fits: ["binary", "fraction"],
    value: ({ predictions, labels, weights }, at) => error(predictions, labels, weights, at),
  },
  {
    name: "rmse",
    about: "root mean squared error",
    fits: oneNumber,
    value: ({ predictions, labels, weights }) => rmse(predictions, labels, weights),
  },
  {
    name: "rmsle",
    about: "root mean squared error of log(1 + value); undefined for predictions or labels below -1",
    fits: ["fraction", "number", "mean"],
    value: ({ predictions, labels, weights }) => rmsle(predictions, labels, weights),
  },
  {
    name: "mae",
    about: "mean absolute error",
    fits: oneNumber,
    value: ({ predictions, labels, weights }) => mae(predictions, labels, weights),
  },
  {
    name: "mape",
    about: "mean absolute error as a fraction of the label",
    fits: oneNumber,
    value: ({ predictions, labels, weights }) => mape(predictions, labels, weights),
  },
  {
    name: "mphe",
    about: "mean pseudo-Huber error",
    fits: oneNumber,
    parameters: ["huber_slope"],
    value: ({ predictions, labels, weights, parameters }) =>
      pseudoHuberError(predictions, labels, weights, parameters.huber_slope),
  },
  {
    name: "quantile",
    about: "pinball loss, averaged over the quantiles",
    fits: ["quantile"],
    parameters: ["quantile_alpha"],
    value: ({ predictions, labels, weights, parameters }) =>
      pinballLoss(predictions, labels, weights, parameters.quantile_alpha),
  },
] as const satisfies readonly Metric[];

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

/** Root mean squared error of logarithms, for values from -1 on. */
export function rmsle(predictions: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  const square = (predicted: number, label: number): number => (Math.log1p(label) - Math.log1p(predicted)) ** 2;
  return Math.sqrt(mean(predictions, labels, weights, square));
}

/** Mean absolute error. */
export function mae(predictions: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return mean(predictions, labels, weights, (predicted, label) => Math.abs(predicted - label));
}

/** Mean absolute error as a fraction of the label. */
export function mape(predictions: ArrayLike<number>, labels: ArrayLike<number>, weights: Weights = null): number {
  return mean(predictions, labels, weights, (predicted, label) => Math.abs((label - predicted) / label));
}

/** The pseudo-Huber loss: squared near zero, absolute far out. */
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

/** The pinball loss, on average over the quantiles; predictions of a row stand side by side. */
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
