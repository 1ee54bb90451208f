/**
 * Metrics of how classes are separated do not exist where one of them is absent: XGBoost warns, and says NaN. Early
 * stopping and a search by such a metric would choose blindly.
 */
import { TandemError } from "../../base/error.ts";
import { metricFor, type MetricName, metrics as allMetrics } from "./metrics.ts";

/** @param classes how many there should be; two for an objective without a number of classes */
function isClassAbsent(labels: ArrayLike<number>, classes: number): boolean {
  return new Set(Array.from(labels)).size < Math.max(2, classes);
}

/** Those of the metrics that do not exist for these labels. */
export function absentMetrics(
  asked: readonly MetricName[],
  labels: ArrayLike<number>,
  classes = 2,
): readonly MetricName[] {
  const separating = asked.filter((metric) => metricFor(metric).separates === true);
  return separating.length > 0 && isClassAbsent(labels, classes) ? separating : [];
}

/** For people; null: all exist. @param rows what they are called, such as "test" */
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
 * Whoever chooses by a metric needs one that exists.
 * @param metrics the last one decides
 * @param labels of the rows that it looks at
 * @param who chooses
 * @param rows what they are called
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
  const other = allMetrics.find(({ fits, separates }) => fits.includes(kind) && separates !== true);
  throw new TandemError(
    "LABEL_INVALID",
    `${words}, and ${who} looks at it. Name another eval_metric last, such as ${other?.name}`,
  );
}
