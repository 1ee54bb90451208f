/** Metrics of predictions. */
import { noColumns, type RowColumns } from "../base/row-columns.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { metricsFor } from "../gbdt/boost/boosting-monitor.ts";
import { Evaluation } from "../gbdt/metric/evaluation.ts";
import type { Weights } from "../gbdt/metric/weighted-mean.ts";
import type { Metrics } from "../record/events/training-fields.ts";

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
