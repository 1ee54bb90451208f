/** Metrics of predictions. */
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { metricsFor } from "../gbdt/boost/boosting-monitor.ts";
import { Evaluation } from "../gbdt/metric/evaluation.ts";
import type { TrainingRows } from "../gbdt/rows/training-rows.ts";
import type { Metrics } from "../record/events/training-fields.ts";

/** The requested metrics, or the objective's defaults. */
export function evaluate(parameters: TrainingParameters, margins: Float64Array, rows: TrainingRows): Metrics {
  const evaluation = new Evaluation(parameters, margins, rows);
  return Object.fromEntries(metricsFor(parameters).map((metric) => [metric, evaluation.value(metric)]));
}
