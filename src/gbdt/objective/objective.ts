/**
 * Objectives: first and second derivatives of the loss by the margin (paper eq. (2)), with XGBoost's names and
 * constants. A further objective is one more entry in the table at the end.
 */
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import type { Range } from "../../base/gradients/real-gradients.ts";
import type { RowColumnName, RowColumns } from "../../base/row-columns.ts";
import { aft } from "./aft-objective.ts";
import { cox } from "./cox-objective.ts";
import { gamma, poisson, tweedie } from "./log-link-objectives.ts";
import { hinge, logistic, logitRaw, regLogistic } from "./logistic-objectives.ts";
import { absoluteError, quantileError } from "./quantile-objectives.ts";
import { rankNdcg, rankPairwise } from "./rank-objectives.ts";
import { pseudoHuber, squaredError } from "./regression-objectives.ts";
import { softmax, softprob } from "./softmax-objectives.ts";

export { sigmoid } from "./logistic-objectives.ts";

export type ObjectiveName = TrainingParameters["objective"];

/** What values g and h can take, before instance weights; null where only the data tells. */
export interface GradientBounds {
  readonly g: Range | null;
  readonly h: Range | null;
}

/** The parameters that an objective itself may have. */
export type ObjectiveParameters = TrainingParameters;

/**
 * What a label is: one of two classes, one of several, a fraction from 0 to 1, any number, a number with a positive
 * mean, a number whose quantiles are wanted, a time whose hazard is, a time that is itself, or what a row
 * deserves in a ranking.
 */
export type LabelKind = "binary" | "classes" | "fraction" | "number" | "mean" | "quantile" | "hazard" | "time" | "rank";

/** What else is known of the rows. */
export interface TaughtRows {
  /** Those that are learnt from, ascending; null: all. */
  readonly trainingRows: Uint32Array | null;
  readonly columns: RowColumns;
}

export interface Objective {
  readonly name: ObjectiveName;
  readonly kind: LabelKind;
  /** Columns that it needs, and no other objective takes. */
  readonly takes?: readonly RowColumnName[];
  /** scale_pos_weight counts. */
  readonly weighsPositives?: true;
  /** Margins per instance. @throws TandemError USAGE */
  outputCount(parameters: ObjectiveParameters): number;
  bounds(parameters: ObjectiveParameters): GradientBounds;
  /** Per slot: g of the first output, its h, and so on. `margins` has the outputs of an instance side by side. */
  gradients(
    margins: Float64Array,
    labels: Float64Array,
    parameters: ObjectiveParameters,
    rows?: TaughtRows,
  ): Float64Array[];
  /** Leaves are these quantiles of residuals, one per output; left out: they follow from g and h. */
  leafQuantiles?(parameters: ObjectiveParameters): readonly number[];
  /** The margin of base_score auto; left out: one Newton step from 0. */
  estimate?(labels: Float64Array, weights: Float64Array | null, parameters: ObjectiveParameters): number;
  /** From margins to predictions; both have the outputs of an instance side by side. */
  predictions(margins: Float64Array, outputCount: number): Float64Array;
  /** One prediction per instance, however many margins it has. */
  readonly predictsOne?: true;
  /** What metrics look at; left out: the predictions. */
  evaluated?(margins: Float64Array, outputCount: number): Float64Array;
  /** Metrics of order take predictions, not margins: several margins are the same prediction. */
  readonly separatesByPrediction?: true;
  /** @throws TandemError USAGE if the objective cannot start from this base_score */
  baseMargin(baseScore: number): number;
  /** Of the columns that it takes. @throws TandemError LABEL_INVALID naming the first instance, never its value */
  checkColumns?(columns: RowColumns, labels: Float64Array): void;
  /** @throws TandemError LABEL_INVALID naming the first instance whose label cannot be used, never its value */
  checkLabels(labels: Float64Array, parameters: ObjectiveParameters): void;
  /** Of all labels together. @throws TandemError LABEL_INVALID if there is nothing to learn splits from */
  checkVariety?(labels: Float64Array): void;
}

const objectives: Readonly<Record<ObjectiveName, Objective>> = {
  "binary:logistic": logistic,
  "binary:logitraw": logitRaw,
  "binary:hinge": hinge,
  "reg:logistic": regLogistic,
  "reg:squarederror": squaredError,
  "reg:pseudohubererror": pseudoHuber,
  "count:poisson": poisson,
  "reg:absoluteerror": absoluteError,
  "reg:quantileerror": quantileError,
  "reg:gamma": gamma,
  "reg:tweedie": tweedie,
  "survival:cox": cox,
  "survival:aft": aft,
  "rank:pairwise": rankPairwise,
  "rank:ndcg": rankNdcg,
  "multi:softprob": softprob,
  "multi:softmax": softmax,
};

export function objectiveFor(name: ObjectiveName): Objective {
  return objectives[name];
}

/** Predictions per instance. */
export function predictionCount(name: ObjectiveName, outputCount = 1): number {
  return objectives[name].predictsOne === true ? 1 : outputCount;
}
