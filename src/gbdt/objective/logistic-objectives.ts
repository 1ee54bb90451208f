/**
 * Objectives with the log loss, and the hinge loss; as XGBoost 1.7, src/objective/regression_loss.h and hinge.cu. They
 * differ in the labels they accept, and in the meaning of base_score and of predictions.
 *
 * Bounds: a probability and a label lie in [0, 1], so g = p - y lies in [-1, 1], and p (1 - p) has its maximum 1/4 at p
 * = 1/2. The hinge loss has g = -1, 0 or 1 and h = 0 or 1.
 */
import { TandemError } from "../../base/error.ts";
import type { ParameterSpec } from "../../base/parameters/parameter-spec.ts";
import { requireLabels } from "./label-checks.ts";
import { identity, logit, sigmoid } from "./link.ts";
import type { Objective } from "./objective.ts";

export const logisticParameters = {
  scale_pos_weight: {
    kind: "number",
    default: 1,
    min: 0,
    minExclusive: true,
    help: "weight of instances with label 1",
  },
} as const satisfies Record<string, ParameterSpec>;

/** XGBoost's floor for a logistic hessian. */
const hessianMin = 1e-16;

const logLoss = {
  parameters: ["scale_pos_weight"],
  xgboost: { since: "1.7", parameters: () => ({ reg_loss_param: { scale_pos_weight: "1" } }) },
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
} as const satisfies Partial<Objective>;

export const logisticObjectives = [
  {
    ...ofTwoClasses("binary:logistic"),
    ...logLoss,
    about: { labels: "0 or 1", prediction: "a probability", baseScore: "a probability" },
    link: logit,
    metrics: ["auc", "ks", "logloss"],
  },
  {
    // The margin itself is the prediction, and base_score is a margin as well.
    ...ofTwoClasses("binary:logitraw"),
    ...logLoss,
    about: { labels: "0 or 1", prediction: "the margin", baseScore: "a margin" },
    link: identity,
    cutOff: 0,
    metrics: ["logloss", "ks", "auc"], // not as XGBoost, whose logloss takes the margin for a probability
  },
  {
    // An instance beyond the margin 1 on the right side has no gradient. The prediction is a class.
    ...ofTwoClasses("binary:hinge"),
    about: { labels: "0 or 1", prediction: "0 or 1", baseScore: "a margin" },
    link: identity,
    metrics: ["error"],
    xgboost: { since: "1.7", parameters: () => ({}) },
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
    ranksByPrediction: true,
  },
  {
    // Labels are fractions: of several trials, or of certainty.
    name: "reg:logistic",
    ...logLoss,
    about: { labels: "from 0 to 1", prediction: "from 0 to 1", baseScore: "a probability" },
    kind: "fraction",
    link: logit,
    metrics: ["logloss", "rmse"],
    checkLabels: (labels) =>
      requireLabels(labels, (label) => label >= 0 && label <= 1, "is not from 0 to 1, as reg:logistic needs"),
  },
] as const satisfies readonly Objective[];

function ofTwoClasses<N extends string>(name: N) {
  return {
    name,
    kind: "binary",
    checkLabels(labels) {
      const bad = labels.findIndex((label) => label !== 0 && label !== 1);
      if (bad >= 0)
        throw new TandemError("LABEL_INVALID", `the label of instance ${bad} is not 0 or 1, as ${name} needs`);
    },
    checkVariety(labels) {
      if (!labels.includes(0) || !labels.includes(1))
        throw new TandemError("LABEL_INVALID", `all labels are the same class; ${name} needs both 0 and 1`);
    },
  } as const satisfies Partial<Objective>;
}
