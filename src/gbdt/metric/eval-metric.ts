/** Metrics by XGBoost's names, which objectives they have a meaning for, and those that fit an objective best. */
import { noColumns, type RowColumns } from "../../base/row-columns.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { type LabelKind, type ObjectiveName, objectiveFor } from "../objective/objective.ts";
import { outputCountOf, type OutputParameters } from "../objective/outputs.ts";
import {
  error,
  logloss,
  mae,
  mape,
  merror,
  mlogloss,
  pinballLoss,
  pseudoHuberError,
  rmse,
  type Weights,
} from "./metrics.ts";
import { gammaDeviance, gammaNloglik, poissonNloglik, tweedieNloglik } from "./likelihood-metrics.ts";
import { meanAveragePrecision, ndcg, precision } from "./rank-metrics.ts";
import { aftNloglik, coxNloglik, intervalAccuracy } from "./survival-metrics.ts";
import { multiClassAuc, type Separation, separation, separationAside } from "./ranking-metrics.ts";

/** Some have a number after an @. */
export type MetricName = TrainingParameters["eval_metric"][number];

/** What of the parameters metrics look at. */
export type MetricParameters = Pick<
  TrainingParameters,
  | "objective"
  | "huber_slope"
  | "tweedie_variance_power"
  | "quantile_alpha"
  | "aft_loss_distribution"
  | "aft_loss_distribution_scale"
>;

/** Margins of some rows, seen by every metric; what several metrics need is computed once. */
export class Evaluation {
  readonly labels: Float64Array;
  readonly weights: Weights;
  readonly parameters: MetricParameters;
  readonly columns: RowColumns;
  readonly #margins: Float64Array;
  #predictions: Float64Array | null = null;
  #separation: Separation | null = null;

  constructor(
    parameters: MetricParameters,
    margins: Float64Array,
    labels: Float64Array,
    weights: Weights = null,
    columns: RowColumns = noColumns,
  ) {
    this.columns = columns;
    this.parameters = parameters;
    this.#margins = margins;
    this.labels = labels;
    this.weights = weights;
  }

  /** What XGBoost's metrics see: of most objectives the predictions. */
  get predictions(): Float64Array {
    const objective = objectiveFor(this.parameters.objective);
    this.#predictions ??= (objective.evaluated ?? objective.predictions)(this.#margins, this.outputCount);
    return this.#predictions;
  }

  get outputCount(): number {
    return this.#margins.length / this.labels.length;
  }

  get separation(): Separation {
    this.#separation ??= separation(this.#scores, this.labels, this.weights);
    return this.#separation;
  }

  /** Rows with their groups. @param places those that count; undefined: all */
  ranked(places = Infinity): Parameters<typeof ndcg>[0] {
    const groups = this.columns.qid ?? new Float64Array(this.labels.length);
    return { scores: this.#margins, labels: this.labels, groups, weights: this.weights, places };
  }

  /** What takes long of these metrics is computed aside. */
  async prepare(wanted: readonly MetricName[]): Promise<void> {
    if (this.outputCount === 1 && wanted.some((metric) => metricOf(metric).separates === true))
      this.#separation ??= await separationAside(this.#scores, this.labels, this.weights);
  }

  value(name: MetricName): number {
    return metricOf(name).of(this, numberAfter(name));
  }

  get #scores(): Float64Array {
    const { separatesByPrediction = false } = objectiveFor(this.parameters.objective);
    return separatesByPrediction ? this.predictions : this.#margins;
  }
}

interface Metric {
  /** @param at the number after the name's @, where there is one */
  readonly of: (evaluation: Evaluation, at: number | undefined) => number;
  readonly fits: readonly LabelKind[];
  readonly higherIsBetter?: true;
  readonly separates?: true;
}

const twoClasses = { fits: ["binary"], higherIsBetter: true, separates: true } as const;
const oneNumber = ["binary", "fraction", "number", "mean"] as const;

const metrics: Readonly<Record<string, Metric>> = {
  auc: {
    ...twoClasses,
    fits: ["binary", "classes"],
    of: (evaluation) => {
      const { outputCount, predictions, labels, weights } = evaluation;
      return outputCount === 1 ? evaluation.separation.auc : multiClassAuc(predictions, outputCount, labels, weights);
    },
  },
  aucpr: { ...twoClasses, of: ({ separation: { aucpr } }) => aucpr },
  ks: { ...twoClasses, of: ({ separation: { ks } }) => ks },
  logloss: {
    fits: ["binary", "fraction"],
    of: ({ predictions, labels, weights }) => logloss(predictions, labels, weights),
  },
  error: {
    fits: ["binary", "fraction"],
    of: ({ predictions, labels, weights }, at) => error(predictions, labels, weights, at),
  },
  rmse: { fits: oneNumber, of: ({ predictions, labels, weights }) => rmse(predictions, labels, weights) },
  mae: { fits: oneNumber, of: ({ predictions, labels, weights }) => mae(predictions, labels, weights) },
  mape: { fits: oneNumber, of: ({ predictions, labels, weights }) => mape(predictions, labels, weights) },
  mphe: {
    fits: oneNumber,
    of: ({ predictions, labels, weights, parameters }) =>
      pseudoHuberError(predictions, labels, weights, parameters.huber_slope),
  },
  quantile: {
    fits: ["quantile"],
    of: ({ predictions, labels, weights, parameters }) =>
      pinballLoss(predictions, labels, weights, parameters.quantile_alpha),
  },
  "poisson-nloglik": {
    fits: oneNumber,
    of: ({ predictions, labels, weights }) => poissonNloglik(predictions, labels, weights),
  },
  "gamma-nloglik": {
    fits: ["mean"],
    of: ({ predictions, labels, weights }) => gammaNloglik(predictions, labels, weights),
  },
  "gamma-deviance": {
    fits: ["mean"],
    of: ({ predictions, labels, weights }) => gammaDeviance(predictions, labels, weights),
  },
  "tweedie-nloglik": {
    fits: ["mean"],
    of: ({ predictions, labels, weights, parameters }, at) =>
      tweedieNloglik(predictions, labels, weights, at ?? parameters.tweedie_variance_power),
  },
  "cox-nloglik": { fits: ["hazard"], of: ({ predictions, labels }) => coxNloglik(predictions, labels) },
  "aft-nloglik": {
    fits: ["time"],
    of: ({ predictions, labels, columns, weights, parameters }) =>
      aftNloglik(predictions, labels, columns.label_upper_bound ?? labels, weights, parameters),
  },
  "interval-regression-accuracy": {
    fits: ["time"],
    higherIsBetter: true,
    of: ({ predictions, labels, columns, weights }) =>
      intervalAccuracy(predictions, labels, columns.label_upper_bound ?? labels, weights),
  },
  ndcg: {
    fits: ["rank"],
    higherIsBetter: true,
    of: (evaluation, at) => ndcg(evaluation.ranked(at)),
  },
  map: { fits: ["rank"], higherIsBetter: true, of: (evaluation, at) => meanAveragePrecision(evaluation.ranked(at)) },
  pre: { fits: ["rank"], higherIsBetter: true, of: (evaluation, at) => precision(evaluation.ranked(at)) },
  mlogloss: {
    fits: ["classes"],
    of: ({ predictions, outputCount, labels, weights }) => mlogloss(predictions, outputCount, labels, weights),
  },
  merror: {
    fits: ["classes"],
    of: ({ predictions, outputCount, labels, weights }) => merror(predictions, outputCount, labels, weights),
  },
};

function metricOf(name: MetricName): Metric {
  return metrics[name.split("@")[0]];
}

/** Whether it exists only where all classes do. */
export function needsAllClasses(metric: MetricName): boolean {
  return metricOf(metric).separates === true;
}

function numberAfter(name: MetricName): number | undefined {
  const at = name.split("@")[1];
  return at === undefined ? undefined : Number(at);
}

export function isHigherBetter(metric: MetricName): boolean {
  return metricOf(metric).higherIsBetter === true;
}

/** Whether a metric has a meaning for an objective's labels and predictions. */
export function fitsObjective(metric: MetricName, parameters: OutputParameters): boolean {
  const { fits } = metricOf(metric);
  const { kind } = objectiveFor(parameters.objective);
  return fits.includes(kind) || (kind === "quantile" && outputCountOf(parameters) === 1 && fits.includes("number"));
}

/** The last decides early stopping: it is XGBoost's own default, but for binary:logitraw (docs/objectives.md). */
const fitting: Readonly<Record<ObjectiveName, readonly MetricName[]>> = {
  "binary:logistic": ["auc", "ks", "logloss"],
  "binary:logitraw": ["logloss", "ks", "auc"],
  "binary:hinge": ["error"],
  "reg:logistic": ["logloss", "rmse"],
  "reg:squarederror": ["rmse"],
  "reg:pseudohubererror": ["rmse", "mae", "mphe"],
  "reg:absoluteerror": ["rmse", "mae"],
  "reg:quantileerror": ["quantile"],
  "reg:gamma": ["rmse", "gamma-nloglik", "gamma-deviance"],
  "reg:tweedie": ["rmse", "tweedie-nloglik"],
  "count:poisson": ["rmse", "poisson-nloglik"],
  "survival:cox": ["cox-nloglik"],
  "survival:aft": ["interval-regression-accuracy", "aft-nloglik"],
  "rank:pairwise": ["ndcg@32"],
  "rank:ndcg": ["ndcg@32"],
  "multi:softprob": ["merror", "mlogloss"],
  "multi:softmax": ["merror", "mlogloss"],
};

/** What is reported where nothing else was asked for. */
export function fittingMetrics(objective: ObjectiveName): readonly MetricName[] {
  return fitting[objective];
}
