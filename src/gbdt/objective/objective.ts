/**
 * The declaration of an objective: first and second derivatives of the loss by the margin (paper eq. (2)), with
 * XGBoost's names and constants, and everything else that depends on it. Its family's file lists it, and objectives.ts
 * collects the families; parameters, label checks, metrics, exports, help and docs/objectives.md are derived from it.
 */
import type { Range } from "../../base/gradients/real-gradients.ts";
import type { RowColumnName, RowColumns } from "../../base/rows/row-columns.ts";
import type { MetricName } from "../metric/metrics.ts";
import type { LearningParameters } from "../parameters/learning-parameters.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import type { Link } from "./link.ts";

/** The range of g and h, before instance weights; null if it depends on the data. */
export interface GradientBounds {
  readonly g: Range | null;
  readonly h: Range | null;
}

/**
 * The kind of a label: one of two classes, one of several, a fraction from 0 to 1, any number, a number with a positive
 * mean, a number whose quantiles are predicted, a time whose hazard is predicted, a time that is predicted, or the
 * relevance of a row in a ranking.
 */
export type LabelKind = "binary" | "classes" | "fraction" | "number" | "mean" | "quantile" | "hazard" | "time" | "rank";

/** The form of an objective in XGBoost's model files. */
export interface XgboostForm {
  /** The earliest version that supports it: older ones reject the file. */
  readonly since: string;
  /** Further fields of the objective. Parameters that only training uses have their defaults. */
  parameters(model: {
    readonly outputCount: number;
    readonly quantiles: readonly number[];
  }): Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Parameters that are one number or a switch. */
type Defaults = {
  readonly [
    K in keyof LearningParameters as LearningParameters[K] extends number | "auto" | boolean ? K : never
  ]?: LearningParameters[K];
};

export interface Objective {
  readonly name: string;
  /** Descriptions of labels, predictions and base_score for documentation. */
  readonly about: { readonly labels: string; readonly prediction: string; readonly baseScore: string };
  readonly kind: LabelKind;
  readonly link: Link;
  /** The default metrics; the last decides early stopping. */
  readonly metrics: readonly [MetricName, ...MetricName[]];
  /** Parameters that only some objectives use, including this one. */
  readonly parameters?: readonly (keyof LearningParameters)[];
  /** Defaults that differ from those of other objectives. */
  readonly defaults?: Defaults;
  /** Parameters of other objectives that would change the model in XGBoost: what to do instead. */
  readonly refuses?: Readonly<Partial<Record<keyof LearningParameters, string>>>;
  /** Null: XGBoost has no such objective, and models cannot be exported. */
  readonly xgboost: XgboostForm | null;
  /** Columns that it needs, and that other objectives reject. */
  readonly takes?: readonly RowColumnName[];
  /** Margins per instance; left out: one. Also called before parameters are validated. */
  outputCount?(parameters: LearningParameters): number;
  /** @throws TandemError USAGE for parameters that the objective does not support */
  checkParameters?(parameters: LearningParameters): void;
  bounds(parameters: LearningParameters): GradientBounds;
  /** Per slot: g of the first output, its h, and so on. In `margins` the outputs of an instance are adjacent. */
  gradients(
    margins: Float64Array,
    labels: Float64Array,
    parameters: LearningParameters,
    rows?: Pick<TrainingRows, "training" | "columns">,
  ): Float64Array[];
  /** Leaves are these quantiles of residuals, one per output; left out: leaves follow from g and h. */
  leafQuantiles?(parameters: LearningParameters): readonly number[];
  /** The margin of base_score auto; left out: one Newton step from 0. */
  estimate?(labels: Float64Array, weights: Float64Array | null, parameters: LearningParameters): number;
  /** From margins to predictions, in both the outputs of an instance are adjacent; left out: by the link. */
  predictions?(margins: Float64Array, outputCount: number): Float64Array;
  /** One prediction per instance, however many margins it has. */
  readonly predictsOne?: true;
  /** Of two classes: the prediction above which the second is the likelier; left out: 0.5. */
  readonly cutOff?: number;
  /** The input of metrics; left out: the predictions. */
  evaluated?(margins: Float64Array, outputCount: number): Float64Array;
  /** Rank-based metrics use predictions, not margins: several margins may give the same prediction. */
  readonly ranksByPrediction?: true;
  /** Checks the columns that it takes. @throws TandemError LABEL_INVALID naming the first instance, never its value
   * */
  checkColumns?(columns: RowColumns, labels: Float64Array): void;
  /** @throws TandemError LABEL_INVALID naming the first instance whose label cannot be used, never its value */
  checkLabels(labels: Float64Array, parameters: LearningParameters): void;
  /** Checks all labels together. @throws TandemError LABEL_INVALID if no splits can be learned from them */
  checkVariety?(labels: Float64Array): void;
}
