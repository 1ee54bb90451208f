/** All metrics, by family. Their names, as values and as a type, are derived from here. */
import { assert } from "../../base/assert.ts";
import { objectiveFor } from "../objective/objectives.ts";
import { outputsPerInstance } from "../objective/outputs.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { aucMetrics } from "./auc-metrics.ts";
import { elementwiseMetrics } from "./elementwise-metrics.ts";
import { likelihoodMetrics } from "./likelihood-metrics.ts";
import type { Metric } from "./metric.ts";
import { multiclassMetrics } from "./multiclass-metrics.ts";
import { rankMetrics } from "./rank-metrics.ts";
import { survivalMetrics } from "./survival-metrics.ts";

const declared = [
  ...aucMetrics,
  ...elementwiseMetrics,
  ...likelihoodMetrics,
  ...survivalMetrics,
  ...rankMetrics,
  ...multiclassMetrics,
] as const;

type Declared = (typeof declared)[number];
type NumberedName = Extract<Declared, { readonly numbered: string }>["name"];

/** Some have a number after an @. */
export type MetricName = Declared["name"] | `${NumberedName}@${string}`;

export const metrics: readonly Metric[] = declared;
export const metricNames: readonly Declared["name"][] = declared.map(({ name }) => name);
export const numberedMetricNames: readonly NumberedName[] = declared.flatMap((metric) =>
  "numbered" in metric ? [metric.name] : [],
);

const byName: ReadonlyMap<string, Metric> = new Map(metrics.map((metric) => [metric.name, metric]));

/** @param name with or without a number */
export function metricFor(name: MetricName): Metric {
  const metric = byName.get(name.split("@")[0]);
  assert(metric !== undefined, `no metric is called ${name}`);
  return metric;
}

export function isHigherBetter(metric: MetricName): boolean {
  return metricFor(metric).higherIsBetter === true;
}

/** Whether a metric is defined for an objective's labels and predictions. */
export function fitsObjective({ fits }: Pick<Metric, "fits">, parameters: TrainingParameters): boolean {
  const { kind } = objectiveFor(parameters.objective);
  return (
    fits.includes(kind) || (kind === "quantile" && outputsPerInstance(parameters) === 1 && fits.includes("number"))
  );
}
