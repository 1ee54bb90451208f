/**
 * What an objective declares of itself: first and second derivatives of the loss by the margin (paper eq. (2)), with
 * XGBoost's names and constants, and everything else that others ask about it. Its family's file lists it, and
 * objectives.ts gathers the families; parameters, label checks, metrics, exports, help and docs/objectives.md follow.
 */
import type { Range } from "../../base/gradients/real-gradients.ts";
import type { RowColumnName, RowColumns } from "../../base/rows/row-columns.ts";
import type { MetricName } from "../metric/metrics.ts";
import type { LearningParameters } from "../parameters/learning-parameters.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import type { Link } from "./link.ts";

/** What values g and h can take, before instance weights; null where only the data tells. */
export interface GradientBounds {
  readonly g: Range | null;
  readonly h: Range | null;
}

/**
 * What a label is: one of two classes, one of several, a fraction from 0 to 1, any number, a number with a positive
 * mean, a number whose quantiles are wanted, a time whose hazard is, a time that is itself, or what a row
 * deserves in a ranking.
 */
export type LabelKind = "binary" | "classes" | "fraction" | "number" | "mean" | "quantile" | "hazard" | "time" | "rank";

/** What XGBoost's model files say of an objective. */
export interface XgboostForm {
  /** The earliest version that knows it: others refuse the file. */
  readonly since: string;
  /** What stands beside its name. Parameters that only training needs have their defaults. */
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
  /** For people: what labels, predictions and base_score are. */
  readonly about: { readonly labels: string; readonly prediction: string; readonly baseScore: string };
  readonly kind: LabelKind;
  readonly link: Link;
  /** What is reported unless something else is asked for; the last decides early stopping. */
  readonly metrics: readonly [MetricName, ...MetricName[]];
  /** Parameters that only some objectives use, this one among them. */
  readonly parameters?: readonly (keyof LearningParameters)[];
  /** Defaults that are not those of other objectives. */
  readonly defaults?: Defaults;
  /** Parameters of other objectives that would make another model in XGBoost: what to do instead. */
  readonly refuses?: Readonly<Partial<Record<keyof LearningParameters, string>>>;
  /** Null: XGBoost has no such objective, and models cannot be exported. */
  readonly xgboost: XgboostForm | null;
  /** Columns that it needs, and that other objectives refuse. */
  readonly takes?: readonly RowColumnName[];
  /** Margins per instance; left out: one. Asked before parameters are checked, too. */
  outputCount?(parameters: LearningParameters): number;
  /** @throws TandemError USAGE for parameters that the objective cannot learn with */
  checkParameters?(parameters: LearningParameters): void;
  bounds(parameters: LearningParameters): GradientBounds;
  /** Per slot: g of the first output, its h, and so on. `margins` has the outputs of an instance side by side. */
  gradients(
    margins: Float64Array,
    labels: Float64Array,
    parameters: LearningParameters,
    rows?: Pick<TrainingRows, "training" | "columns">,
  ): Float64Array[];
  /** Leaves are these quantiles of residuals, one per output; left out: they follow from g and h. */
  leafQuantiles?(parameters: LearningParameters): readonly number[];
  /** The margin of base_score auto; left out: one Newton step from 0. */
  estimate?(labels: Float64Array, weights: Float64Array | null, parameters: LearningParameters): number;
  /** From margins to predictions, both with the outputs of an instance side by side; left out: by the link. */
  predictions?(margins: Float64Array, outputCount: number): Float64Array;
  /** One prediction per instance, however many margins it has. */
  readonly predictsOne?: true;
  /** Of two classes: the prediction above which the second is the likelier; left out: 0.5. */
  readonly cutOff?: number;
  /** What metrics look at; left out: the predictions. */
  evaluated?(margins: Float64Array, outputCount: number): Float64Array;
  /** Metrics of order take predictions, not margins: several margins are the same prediction. */
  readonly separatesByPrediction?: true;
  /** Of the columns that it takes. @throws TandemError LABEL_INVALID naming the first instance, never its value */
  checkColumns?(columns: RowColumns, labels: Float64Array): void;
  /** @throws TandemError LABEL_INVALID naming the first instance whose label cannot be used, never its value */
  checkLabels(labels: Float64Array, parameters: LearningParameters): void;
  /** Of all labels together. @throws TandemError LABEL_INVALID if there is nothing to learn splits from */
  checkVariety?(labels: Float64Array): void;
}
