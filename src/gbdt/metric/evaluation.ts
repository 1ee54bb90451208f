/** Predictions of some rows with their labels, from which metrics are computed. */
import type { RowColumns } from "../../base/rows/row-columns.ts";
import { type ObjectiveName, objectiveFor, predictionsFrom } from "../objective/objectives.ts";
import type { LearningParameters } from "../parameters/learning-parameters.ts";
import { type Separation, separation, separationAside } from "./auc-metrics.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import { metricFor, type MetricName } from "./metrics.ts";
import type { RankedRows } from "./rank-metrics.ts";
import type { Weights } from "./weighted-mean.ts";

type EvaluatedParameters = LearningParameters & { readonly objective: ObjectiveName };

/** Margins of some rows, shared by all metrics; values that several metrics need are computed once. */
export class Evaluation {
  readonly labels: Float64Array;
  readonly weights: Weights;
  /** The parameters that metrics may use. */
  readonly parameters: LearningParameters;
  readonly columns: RowColumns;
  readonly #objective: ObjectiveName;
  readonly #margins: Float64Array;
  #predictions: Float64Array | null = null;
  #separation: Separation | null = null;

  constructor(
    parameters: EvaluatedParameters,
    margins: Float64Array,
    { labels, weights, columns }: Pick<TrainingRows, "labels" | "weights" | "columns">,
  ) {
    this.columns = columns;
    this.parameters = parameters;
    this.#objective = parameters.objective;
    this.#margins = margins;
    this.labels = labels;
    this.weights = weights;
  }

  /** The input of XGBoost's metrics: the predictions for most objectives. */
  get predictions(): Float64Array {
    this.#predictions ??=
      objectiveFor(this.#objective).evaluated?.(this.#margins, this.outputCount) ??
      predictionsFrom(this.#objective, this.#margins, this.outputCount);
    return this.#predictions;
  }

  get outputCount(): number {
    return this.#margins.length / this.labels.length;
  }

  get separation(): Separation {
    this.#separation ??= separation(this.#scores, this.labels, this.weights);
    return this.#separation;
  }

  /** Rows with their groups. @param places the rows to evaluate; undefined: all */
  ranked(places = Infinity): RankedRows {
    const groups = this.columns.qid ?? new Float64Array(this.labels.length);
    return { scores: this.#margins, labels: this.labels, groups, weights: this.weights, places };
  }

  /** Expensive metrics are computed off the event loop. */
  async prepare(wanted: readonly MetricName[]): Promise<void> {
    if (this.outputCount === 1 && wanted.some((metric) => metricFor(metric).needsAllClasses === true))
      this.#separation ??= await separationAside(this.#scores, this.labels, this.weights);
  }

  value(name: MetricName): number {
    const at = name.split("@")[1];
    return metricFor(name).value(this, at === undefined ? undefined : Number(at));
  }

  get #scores(): Float64Array {
    return objectiveFor(this.#objective).ranksByPrediction === true ? this.predictions : this.#margins;
  }
}
