/**
 * Objectives of the log loss, and the hinge loss beside them; as XGBoost 1.7, src/objective/regression_loss.h and
 * hinge.cu. They differ in what labels they take, where base_score stands and what a prediction is.
 *
 * Bounds: a probability and a label lie in [0, 1], so g = p - y lies in [-1, 1], and p (1 - p) has its maximum 1/4 at
 * p = 1/2. The hinge loss has g = -1, 0 or 1 and h = 0 or 1.
 */
import { TandemError } from "../../base/error.ts";
import type { Objective, ObjectiveName } from "./objective.ts";

/** XGBoost's floor for a logistic hessian. */
const hessianMin = 1e-16;

const logLoss: Pick<Objective, "outputCount" | "bounds" | "gradients"> = {
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
};

export const logistic: Objective = {
  ...logLoss,
  name: "binary:logistic",
  kind: "binary",
  weighsPositives: true,
  predictions: (margins) => margins.map(sigmoid),
  baseMargin: (baseScore) => marginOfProbability(baseScore, "binary:logistic"),
  checkLabels: (labels) => requireClasses(labels, "binary:logistic"),
  checkVariety: (labels) => requireBothClasses(labels, "binary:logistic"),
};

/** Labels are fractions: of several trials, or of certainty. */
export const regLogistic: Objective = {
  ...logLoss,
  name: "reg:logistic",
  kind: "fraction",
  weighsPositives: true,
  predictions: (margins) => margins.map(sigmoid),
  baseMargin: (baseScore) => marginOfProbability(baseScore, "reg:logistic"),
  checkLabels(labels) {
    const bad = labels.findIndex((label) => !(label >= 0 && label <= 1));
    if (bad >= 0)
      throw new TandemError("LABEL_INVALID", `the label of instance ${bad} is not from 0 to 1, as reg:logistic needs`);
    if (labels.length === 0) throw new TandemError("LABEL_INVALID", "there are no labels");
  },
};

/** The margin itself is the prediction, and base_score is a margin as well. */
export const logitRaw: Objective = {
  ...logLoss,
  name: "binary:logitraw",
  kind: "binary",
  weighsPositives: true,
  predictions: (margins) => margins.slice(),
  baseMargin: finiteMargin,
  checkLabels: (labels) => requireClasses(labels, "binary:logitraw"),
  checkVariety: (labels) => requireBothClasses(labels, "binary:logitraw"),
};

/** Whoever lies beyond the margin 1 on the right side has no gradient. The prediction is a class. */
export const hinge: Objective = {
  name: "binary:hinge",
  kind: "binary",
  outputCount: () => 1,
  bounds: () => ({ g: { min: -1, max: 1 }, h: { min: 0, max: 1 } }),
  gradients(margins, labels) {
    const g = new Float64Array(margins.length);
    const h = new Float64Array(margins.length);
    for (let i = 0; i < margins.length; i++) {
      const side = 2 * labels[i] - 1;
      if (!(margins[i] * side < 1)) continue; // XGBoost has 1e-38 as h here: less than any grid
      g[i] = -side;
      h[i] = 1;
    }
    return [g, h];
  },
  predictions: (margins) => margins.map((margin) => (margin > 0 ? 1 : 0)),
  separatesByPrediction: true,
  baseMargin: finiteMargin,
  checkLabels: (labels) => requireClasses(labels, "binary:hinge"),
  checkVariety: (labels) => requireBothClasses(labels, "binary:hinge"),
};

/** The logistic function; exact limits 0 and 1 far out, never NaN. */
export function sigmoid(margin: number): number {
  return 1 / (1 + Math.exp(-margin));
}

function marginOfProbability(baseScore: number, name: ObjectiveName): number {
  if (baseScore > 0 && baseScore < 1) return -Math.log(1 / baseScore - 1) + 0;
  throw new TandemError("USAGE", `base_score is a probability for ${name} and must lie between 0 and 1, exclusive`);
}

/** For objectives whose base_score is a margin. */
export function finiteMargin(baseScore: number): number {
  if (Number.isFinite(baseScore)) return baseScore;
  throw new TandemError("USAGE", "base_score must be a finite number");
}

function requireClasses(labels: Float64Array, name: ObjectiveName): void {
  const bad = labels.findIndex((label) => label !== 0 && label !== 1);
  if (bad >= 0) throw new TandemError("LABEL_INVALID", `the label of instance ${bad} is not 0 or 1, as ${name} needs`);
}

function requireBothClasses(labels: Float64Array, name: ObjectiveName): void {
  if (!labels.includes(0) || !labels.includes(1))
    throw new TandemError("LABEL_INVALID", `all labels are the same class; ${name} needs both 0 and 1`);
}
