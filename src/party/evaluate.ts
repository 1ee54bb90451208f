/** Predictions and their metrics. */
import { noColumns, type RowColumns } from "../base/row-columns.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { metricsFor } from "../gbdt/boost/boosting-monitor.ts";
import { Evaluation } from "../gbdt/metric/eval-metric.ts";
import type { Weights } from "../gbdt/metric/metrics.ts";
import { type ObjectiveName, objectiveFor } from "../gbdt/objective/objective.ts";
import type { Metrics } from "../record/events/training-fields.ts";

export function predictionsFrom(objective: ObjectiveName, margins: Float64Array, outputCount = 1): Float64Array {
  return objectiveFor(objective).predictions(margins, outputCount);
}

/** The metrics that were asked for, or those that fit the objective. */
export function evaluate(
  parameters: TrainingParameters,
  margins: Float64Array,
  labels: Float64Array,
  weights: Weights = null,
  columns: RowColumns = noColumns,
): Metrics {
  const evaluation = new Evaluation(parameters, margins, labels, weights, columns);
  return Object.fromEntries(metricsFor(parameters).map((metric) => [metric, evaluation.value(metric)]));
}
