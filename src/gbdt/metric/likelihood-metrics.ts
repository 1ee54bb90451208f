/** Negative log-likelihoods and deviances of means; as XGBoost, src/metric/elementwise_metric.cu. */
import { type Metric, oneNumber } from "./metric.ts";
import { mean, type Weights } from "./weighted-mean.ts";

export const likelihoodMetrics = [
  {
    name: "poisson-nloglik",
    about: "Poisson negative log-likelihood",
    fits: oneNumber,
    value: ({ predictions, labels, weights }) => poissonNloglik(predictions, labels, weights),
  },
  {
    name: "gamma-nloglik",
    about: "gamma negative log-likelihood",
    fits: ["mean"],
    value: ({ predictions, labels, weights }) => gammaNloglik(predictions, labels, weights),
  },
  {
    name: "gamma-deviance",
    about: "gamma deviance",
    fits: ["mean"],
    value: ({ predictions, labels, weights }) => gammaDeviance(predictions, labels, weights),
  },
  {
    name: "tweedie-nloglik",
    about: "Tweedie negative log-likelihood; rho is tweedie_variance_power by default",
    numbered: "rho",
    fits: ["mean"],
    parameters: ["tweedie_variance_power"],
    value: ({ predictions, labels, weights, parameters }, at) =>
      tweedieNloglik(predictions, labels, weights, at ?? parameters.tweedie_variance_power),
  },
] as const satisfies readonly Metric[];

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
function gammaNloglik(means: Numbers, labels: Numbers, weights: Weights = null): number {
  return mean(means, labels, weights, (predicted, label) => {
    const expected = Math.max(predicted, 1e-6);
    return label / expected + Math.log(expected);
  });
}

/** Twice the mean gap between the log-likelihood and its maximum. */
function gammaDeviance(means: Numbers, labels: Numbers, weights: Weights = null): number {
  const epsilon = 1e-6; // XGBoost's kRtEps, added to both
  return (
    2 *
    mean(means, labels, weights, (predicted, label) => {
      const [expected, seen] = [predicted + epsilon, label + epsilon];
      return Math.log(expected / seen) + seen / expected - 1;
    })
  );
}

/** Mean negative log-likelihood, without the terms that do not depend on the prediction. */
function tweedieNloglik(means: Numbers, labels: Numbers, weights: Weights, rho: number): number {
  return mean(means, labels, weights, (predicted, label) => {
    const log = Math.log(predicted);
    return Math.exp((2 - rho) * log) / (2 - rho) - (label * Math.exp((1 - rho) * log)) / (1 - rho);
  });
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
