/** Metrics of how two classes are separated do not exist where there is one: XGBoost warns, and says NaN. */
import { TandemError } from "../../base/error.ts";
import { type MetricName, needsBothClasses } from "./eval-metric.ts";

/** Those of the metrics that do not exist for these labels. */
export function absentMetrics(metrics: readonly MetricName[], labels: ArrayLike<number>): readonly MetricName[] {
  const isOneClass = Array.from(labels).every((label) => label === labels[0]);
  return isOneClass ? metrics.filter(needsBothClasses) : [];
}

/** For people; null: all exist. @param rows what they are called, such as "test" */
export function absenceWords(metrics: readonly MetricName[], labels: ArrayLike<number>, rows: string): string | null {
  const absent = absentMetrics(metrics, labels);
  if (absent.length === 0) return null;
  const verb = absent.length === 1 ? "does" : "do";
  return `all ${labels.length} ${rows} rows have the same label: ${absent.join(" and ")} ${verb} not exist there`;
}

/**
 * Early stopping needs a metric that can improve.
 * @param metrics the last one decides
 * @param labels of the rows that it looks at
 * @throws TandemError LABEL_INVALID
 */
export function requireDeciding(metrics: readonly MetricName[], labels: ArrayLike<number>): void {
  const words = absenceWords(metrics.slice(-1), labels, "validation");
  if (words !== null)
    throw new TandemError(
      "LABEL_INVALID",
      `${words}, and early stopping looks at it. Name another eval_metric last, such as logloss`,
    );
}
