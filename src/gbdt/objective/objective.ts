/**
 * Objectives: first and second derivatives of the loss by the margin (paper eq. (2)), with XGBoost's names and
 * constants. A further objective is one more entry in the table at the end.
 */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../../base/parameters/parameters.ts";
import type { Range } from "../../base/gradients/real-gradients.ts";
import { softprob } from "./softprob-objective.ts";
import { poisson, pseudoHuber, squaredError } from "./regression-objectives.ts";

export type ObjectiveName = TrainingParameters["objective"];

/** What values g and h can take, before instance weights; null where only the data tells. */
export interface GradientBounds {
  readonly g: Range | null;
  readonly h: Range | null;
}

/** The parameters that an objective itself may have. */
export type ObjectiveParameters = Pick<TrainingParameters, "huber_slope" | "max_delta_step" | "num_class">;

export interface Objective {
  readonly name: ObjectiveName;
  /** Margins per instance. @throws TandemError USAGE */
  outputCount(parameters: ObjectiveParameters): number;
  bounds(parameters: ObjectiveParameters): GradientBounds;
  /** Per slot: g of the first output, its h, and so on. `margins` has the outputs of an instance side by side. */
  gradients(margins: Float64Array, labels: Float64Array, parameters: ObjectiveParameters): Float64Array[];
  /** From margins to predictions; both have the outputs of an instance side by side. */
  predictions(margins: Float64Array, outputCount: number): Float64Array;
  /** @throws TandemError USAGE if the objective cannot start from this base_score */
  baseMargin(baseScore: number): number;
  /** @throws TandemError LABEL_INVALID naming the first instance whose label cannot be used, never its value */
  checkLabels(labels: Float64Array, parameters: ObjectiveParameters): void;
}

/** XGBoost's floor for a logistic hessian. */
const hessianMin = 1e-16;

const logistic: Objective = {
  name: "binary:logistic",
  outputCount: () => 1,
  bounds: () => ({ g: { min: -1, max: 1 }, h: { min: 0, max: 0.25 } }),
  gradients(margins, labels) {
    const g = new Float64Array(margins.length);
    const h = new Float64Array(margins.length);
    for (let i = 0; i < margins.length; i++) {
      const p = sigmoid(margins[i]);
      g[i] = p - labels[i];
      h[i] = Math.max(p * (1 - p), hessianMin);
    }
    return [g, h];
  },
  predictions: (margins) => margins.map(sigmoid),
  baseMargin(baseScore) {
    if (!(baseScore > 0 && baseScore < 1)) {
      throw new TandemError(
        "USAGE",
        "base_score is a probability for binary:logistic and must lie between 0 and 1, exclusive",
      );
    }
    return -Math.log(1 / baseScore - 1) + 0;
  },
  checkLabels(labels) {
    let positives = 0;
    for (let i = 0; i < labels.length; i++) {
      if (labels[i] !== 0 && labels[i] !== 1) {
        throw new TandemError("LABEL_INVALID", `the label of instance ${i} is not 0 or 1, as binary:logistic needs`);
      }
      positives += labels[i];
    }
    if (positives === 0 || positives === labels.length) {
      throw new TandemError("LABEL_INVALID", "all labels are the same class; binary:logistic needs both 0 and 1");
    }
  },
};

/** The logistic function; exact limits 0 and 1 far out, never NaN. */
export function sigmoid(margin: number): number {
  return 1 / (1 + Math.exp(-margin));
}

const objectives: Readonly<Record<ObjectiveName, Objective>> = {
  "binary:logistic": logistic,
  "reg:squarederror": squaredError,
  "reg:pseudohubererror": pseudoHuber,
  "count:poisson": poisson,
  "multi:softprob": softprob,
};

export function objectiveFor(name: ObjectiveName): Objective {
  return objectives[name];
}
