/** Negative log-likelihoods and deviances of means; as XGBoost, src/metric/elementwise_metric.cu. */
import { logGamma, mean, type Weights } from "./metrics.ts";

type Numbers = ArrayLike<number>;

/** Mean negative log-likelihood of counts, log(label!) included. */
export function poissonNloglik(means: Numbers, labels: Numbers, weights: Weights = null): number {
  const epsilon = 1e-16;
  return mean(means, labels, weights, (predicted, label) => {
    const expected = Math.max(predicted, epsilon);
    return logGamma(label + 1) + expected - label * Math.log(expected);
  });
}

/** Mean negative log-likelihood of amounts whose deviation is their mean (a shape of 1, as XGBoost takes it). */
export function gammaNloglik(means: Numbers, labels: Numbers, weights: Weights = null): number {
  return mean(means, labels, weights, (predicted, label) => {
    const expected = Math.max(predicted, 1e-6);
    return label / expected + Math.log(expected);
  });
}

/** Twice the mean of what the log-likelihood lacks to its best. */
export function gammaDeviance(means: Numbers, labels: Numbers, weights: Weights = null): number {
  const epsilon = 1e-6; // XGBoost's kRtEps, added to both
  return (
    2 *
    mean(means, labels, weights, (predicted, label) => {
      const [expected, seen] = [predicted + epsilon, label + epsilon];
      return Math.log(expected / seen) + seen / expected - 1;
    })
  );
}

/** Mean negative log-likelihood, but for what does not depend on the prediction. */
export function tweedieNloglik(means: Numbers, labels: Numbers, weights: Weights, rho: number): number {
  return mean(means, labels, weights, (predicted, label) => {
    const log = Math.log(predicted);
    return Math.exp((2 - rho) * log) / (2 - rho) - (label * Math.exp((1 - rho) * log)) / (1 - rho);
  });
}
