/** The metrics that fit an objective, of predictions against labels. */
import { nextTurn } from "../base/event-loop-turn.ts";
import { Evaluation, fittingMetrics } from "../gbdt/eval-metric.ts";
import type { Weights } from "../gbdt/metrics.ts";
import { type ObjectiveName, objectiveFor } from "../gbdt/objective.ts";
import type { Metrics } from "./events.ts";

export function predictionsFrom(objective: ObjectiveName, margins: Float64Array, outputCount = 1): Float64Array {
  return objectiveFor(objective).predictions(margins, outputCount);
}

/** evaluate, with turns for the event loop in between: it runs after every tree. */
export async function evaluateInTurns(objective: ObjectiveName, margins: Float64Array, labels: Float64Array, weights: Weights = null): Promise<Metrics> {
  const evaluation = new Evaluation(objective, margins, labels, weights);
  const values: Record<string, number> = {};
  for (const metric of fittingMetrics(objective)) {
    values[metric] = evaluation.value(metric);
    await nextTurn();
  }
  return values;
}

export function evaluate(objective: ObjectiveName, margins: Float64Array, labels: Float64Array, weights: Weights = null): Metrics {
  const evaluation = new Evaluation(objective, margins, labels, weights);
  return Object.fromEntries(fittingMetrics(objective).map((metric) => [metric, evaluation.value(metric)]));
}
