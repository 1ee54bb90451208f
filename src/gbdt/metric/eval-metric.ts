/** Metrics by XGBoost's names, and those that fit an objective. */
import { error, logloss, mae, merror, mlogloss, poissonNloglik, rmse, type Weights } from "./metrics.ts";
import { type ObjectiveName, objectiveFor } from "../objective/objective.ts";
import { type Separation, separation, separationAside } from "./ranking-metrics.ts";

export const metricNames = [
  "auc",
  "aucpr",
  "ks",
  "logloss",
  "error",
  "rmse",
  "mae",
  "poisson-nloglik",
  "mlogloss",
  "merror",
] as const;
export type MetricName = (typeof metricNames)[number];

/** Margins of some rows, seen by every metric; what several metrics need is computed once. */
export class Evaluation {
  readonly labels: Float64Array;
  readonly weights: Weights;
  readonly #objective: ObjectiveName;
  readonly #margins: Float64Array;
  #predictions: Float64Array | null = null;
  #separation: Separation | null = null;

  constructor(objective: ObjectiveName, margins: Float64Array, labels: Float64Array, weights: Weights = null) {
    this.#objective = objective;
    this.#margins = margins;
    this.labels = labels;
    this.weights = weights;
  }

  get predictions(): Float64Array {
    this.#predictions ??= objectiveFor(this.#objective).predictions(this.#margins, this.outputCount);
    return this.#predictions;
  }

  get outputCount(): number {
    return this.#margins.length / this.labels.length;
  }

  get separation(): Separation {
    this.#separation ??= separation(this.#margins, this.labels, this.weights);
    return this.#separation;
  }

  /** What takes long of these metrics is computed aside. */
  async prepare(wanted: readonly MetricName[]): Promise<void> {
    if (wanted.some((metric) => metrics[metric].separates === true))
      this.#separation ??= await separationAside(this.#margins, this.labels, this.weights);
  }

  value(metric: MetricName): number {
    return metrics[metric].of(this);
  }
}

const metrics: Readonly<
  Record<
    MetricName,
    { readonly of: (evaluation: Evaluation) => number; readonly higherIsBetter?: true; readonly separates?: true }
  >
> = {
  auc: { of: ({ separation: { auc } }) => auc, higherIsBetter: true, separates: true },
  aucpr: { of: ({ separation: { aucpr } }) => aucpr, higherIsBetter: true, separates: true },
  ks: { of: ({ separation: { ks } }) => ks, higherIsBetter: true, separates: true },
  logloss: { of: ({ predictions, labels, weights }) => logloss(predictions, labels, weights) },
  error: { of: ({ predictions, labels, weights }) => error(predictions, labels, weights) },
  rmse: { of: ({ predictions, labels, weights }) => rmse(predictions, labels, weights) },
  mae: { of: ({ predictions, labels, weights }) => mae(predictions, labels, weights) },
  "poisson-nloglik": { of: ({ predictions, labels, weights }) => poissonNloglik(predictions, labels, weights) },
  mlogloss: {
    of: ({ predictions, outputCount, labels, weights }) => mlogloss(predictions, outputCount, labels, weights),
  },
  merror: { of: ({ predictions, outputCount, labels, weights }) => merror(predictions, outputCount, labels, weights) },
};

export function isHigherBetter(metric: MetricName): boolean {
  return metrics[metric].higherIsBetter === true;
}

const fitting: Readonly<Record<ObjectiveName, readonly MetricName[]>> = {
  "binary:logistic": ["auc", "ks", "logloss"],
  "reg:squarederror": ["rmse"],
  "reg:pseudohubererror": ["rmse", "mae"],
  "count:poisson": ["poisson-nloglik", "rmse"],
  "multi:softprob": ["mlogloss", "merror"],
};

/** What is reported where nothing else was asked for. */
export function fittingMetrics(objective: ObjectiveName): readonly MetricName[] {
  return fitting[objective];
}
