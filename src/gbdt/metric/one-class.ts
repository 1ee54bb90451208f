/**
 * Metrics of class separation are undefined if a class is absent: XGBoost warns and returns NaN. Early stopping and a
 * search by such a metric would choose blindly.
 */
import { TandemError } from "../../base/error.ts";
import { metricFor, type MetricName, metrics as allMetrics } from "./metrics.ts";

/** @param classes how many there should be; two for an objective without a number of classes */
function isClassAbsent(labels: ArrayLike<number>, classes: number): boolean {
  return new Set(Array.from(labels)).size < Math.max(2, classes);
}

/** The metrics that are undefined for these labels. */
export function absentMetrics(
  asked: readonly MetricName[],
  labels: ArrayLike<number>,
  classes = 2,
): readonly MetricName[] {
  const undefinedIfAbsent = asked.filter((metric) => metricFor(metric).needsAllClasses === true);
  return undefinedIfAbsent.length > 0 && isClassAbsent(labels, classes) ? undefinedIfAbsent : [];
}

/** A message for users; null: all metrics are defined. @param rows their name, such as "test" */
export function absenceWords(
  metrics: readonly MetricName[],
  labels: ArrayLike<number>,
  rows: string,
  classes = 2,
): string | null {
  const absent = absentMetrics(metrics, labels, classes);
  if (absent.length === 0) return null;
  const present = new Set(Array.from(labels)).size;
  const what = present === 1 ? "have the same label" : `have ${present} of ${classes} classes`;
  const verb = absent.length === 1 ? "does" : "do";
  return `all ${labels.length} ${rows} rows ${what}: ${absent.join(" and ")} ${verb} not exist there`;
}

/**
 * Requires that the deciding metric is defined.
 * @param metrics the last one decides
 * @param labels of the evaluated rows
 * @param who the feature that uses the metric
 * @param rows their name
 * @throws TandemError LABEL_INVALID
 */
export function requireDeciding(
  metrics: readonly MetricName[],
  labels: ArrayLike<number>,
  classes: number,
  who = "early stopping",
  rows = "validation",
): void {
  const words = absenceWords(metrics.slice(-1), labels, rows, classes);
  if (words === null) return;
  const kind = classes > 2 ? "classes" : "binary";
  const other = allMetrics.find(({ fits, needsAllClasses }) => fits.includes(kind) && needsAllClasses !== true);
  throw new TandemError(
    "LABEL_INVALID",
    `${words}, but ${who} needs it. Name another eval_metric last, such as ${other?.name}`,
  );
}
