/** Metrics of times; as XGBoost, src/metric/rank_metric.cc (Cox) and survival_metric.cu. */
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { aftLoss } from "../objective/aft-loss.ts";
import { byTime, riskSums } from "../objective/cox-objective.ts";
import { mean, type Weights } from "./metrics.ts";

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
export function aftNloglik(
  margins: ArrayLike<number>,
  lowers: ArrayLike<number>,
  uppers: ArrayLike<number>,
  weights: Weights,
  {
    aft_loss_distribution: name,
    aft_loss_distribution_scale: sigma,
  }: Pick<TrainingParameters, "aft_loss_distribution" | "aft_loss_distribution_scale">,
): number {
  const losses = Float64Array.from(lowers, (lower, row) =>
    aftLoss({ lower, upper: uppers[row] }, margins[row], name, sigma),
  );
  return mean(losses, lowers, weights, (loss) => loss);
}

/** The fraction of times that lie where they should. @param margins logarithms of times */
export function intervalAccuracy(
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
