/** Metrics of times; as XGBoost, src/metric/rank_metric.cc (Cox) and survival_metric.cu. */
import { aftLoss } from "../objective/aft-loss.ts";
import { byTime, riskSums } from "../objective/cox-objective.ts";
import type { LearningParameters } from "../parameters/learning-parameters.ts";
import type { Metric } from "./metric.ts";
import { mean, type Weights } from "./weighted-mean.ts";

export const survivalMetrics = [
  {
    name: "cox-nloglik",
    about: "negative partial log-likelihood; ignores weights, as in XGBoost",
    fits: ["hazard"],
    value: ({ predictions, labels }) => coxNloglik(predictions, labels),
  },
  {
    name: "aft-nloglik",
    about: "negative log-likelihood of the AFT model",
    fits: ["time"],
    parameters: ["aft_loss_distribution", "aft_loss_distribution_scale"],
    value: ({ predictions, labels, columns, weights, parameters }) =>
      aftNloglik(predictions, labels, columns.label_upper_bound ?? labels, weights, parameters),
  },
  {
    name: "interval-regression-accuracy",
    about: "share of predicted times within their label bounds",
    fits: ["time"],
    higherIsBetter: true,
    value: ({ predictions, labels, columns, weights }) =>
      intervalAccuracy(predictions, labels, columns.label_upper_bound ?? labels, weights),
  },
] as const satisfies readonly Metric[];

/** The negative partial log-likelihood per event; weights do not count, as in XGBoost. @param hazards predictions */
export function coxNloglik(hazards: ArrayLike<number>, labels: ArrayLike<number>): number {
  const order = byTime(labels, null);
  const atRisk = riskSums(order, labels, (row) => hazards[row]);
  let total = 0;
  let events = 0;
  order.forEach((row, place) => {
    if (!(labels[row] > 0)) return;
    total -= Math.log(hazards[row]) - Math.log(atRisk[place]);
    events++;
  });
  return total / events;
}

/** @param margins logarithms of times */
function aftNloglik(
  margins: ArrayLike<number>,
  lowers: ArrayLike<number>,
  uppers: ArrayLike<number>,
  weights: Weights,
  {
    aft_loss_distribution: name,
    aft_loss_distribution_scale: sigma,
  }: Pick<LearningParameters, "aft_loss_distribution" | "aft_loss_distribution_scale">,
): number {
  const losses = Float64Array.from(lowers, (lower, row) =>
    aftLoss({ lower, upper: uppers[row] }, margins[row], name, sigma),
  );
  return mean(losses, lowers, weights, (loss) => loss);
}

/** The fraction of predicted times within their bounds. @param margins logarithms of times */
function intervalAccuracy(
  margins: ArrayLike<number>,
  lowers: ArrayLike<number>,
  uppers: ArrayLike<number>,
  weights: Weights,
): number {
  const hits = Float64Array.from(lowers, (lower, row) => {
    const time = Math.exp(margins[row]);
    return time >= lower && time <= uppers[row] ? 1 : 0;
  });
  return mean(hits, lowers, weights, (hit) => hit);
}
