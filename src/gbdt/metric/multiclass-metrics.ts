/** Metrics of several classes; as XGBoost 1.7, src/metric/multiclass_metric.cu. */
import type { Metric } from "./metric.ts";
import { mean, type Weights } from "./weighted-mean.ts";

export const multiclassMetrics = [
  {
    name: "mlogloss",
    about: "mean negative log-likelihood of the true class",
    fits: ["classes"],
    value: ({ predictions, outputCount, labels, weights }) => mlogloss(predictions, outputCount, labels, weights),
  },
  {
    name: "merror",
    about: "share of rows whose most probable class is not the true one",
    fits: ["classes"],
    value: ({ predictions, outputCount, labels, weights }) => merror(predictions, outputCount, labels, weights),
  },
] as const satisfies readonly Metric[];

/** Mean negative log-likelihood of the right class; `probabilities` has those of a row side by side. */
function mlogloss(
  probabilities: ArrayLike<number>,
  classes: number,
  labels: ArrayLike<number>,
  weights: Weights = null,
): number {
  const right = Float64Array.from(labels, (label, row) => probabilities[row * classes + label]);
  return mean(right, labels, weights, (p) => -Math.log(Math.max(p, 1e-16)));
}

/** The fraction of rows whose most likely class, the lowest on a tie, is not the right one. */
function merror(
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
