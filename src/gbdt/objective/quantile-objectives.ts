/**
 * Objectives whose leaves are quantiles: reg:absoluteerror, whose leaves are medians, and reg:quantileerror with an
 * output for each of its quantiles; as XGBoost 2.1, src/objective/regression_obj.cu and quantile_obj.cu.
 *
 * The gradient is only the sign of the residual, so it is used to find splits. Leaf values are computed from the
 * residuals of the leaf's instances (gbdt/tree/adaptive-leaves.ts), which the active party knows.
 *
 * Bounds: g is -1, 0 or 1, or -alpha or 1 - alpha for an alpha in (0, 1); h is 1.
 */
import { TandemError } from "../../base/error.ts";
import type { ParameterSpec } from "../../base/parameters/parameter-spec.ts";
import { requireFinite } from "./label-checks.ts";
import { identity } from "./link.ts";
import type { Objective } from "./objective.ts";
import { quantileOf } from "./quantile.ts";

export const quantileParameters = {
  quantile_alpha: {
    kind: "numbers",
    default: [0.5],
    above: 0,
    below: 1,
    countMax: 100,
    help: "the quantile that is predicted; several, as 0.1,0.5,0.9, have a tree each in every round",
  },
} as const satisfies Record<string, ParameterSpec>;

const ofQuantiles = {
  link: identity,
  defaults: { base_score: "auto" },
  bounds: () => ({ g: { min: -1, max: 1 }, h: { min: 1, max: 1 } }),
  checkLabels: requireFinite,
} as const satisfies Partial<Objective>;

export const quantileObjectives = [
  {
    ...ofQuantiles,
    name: "reg:absoluteerror",
    about: { labels: "numbers", prediction: "a median", baseScore: "a number" },
    kind: "number",
    metrics: ["rmse", "mae"],
    xgboost: { since: "1.7", parameters: () => ({}) },
    gradients(margins, labels) {
      const g = margins.map((margin, i) => Math.sign(margin - labels[i]) + 0);
      return [g, new Float64Array(margins.length).fill(1)];
    },
    leafQuantiles: () => [0.5],
    estimate: (labels, weights) => quantileOf(labels, weights, 0.5),
  },
  {
    ...ofQuantiles,
    name: "reg:quantileerror",
    about: { labels: "numbers", prediction: "one per quantile", baseScore: "a number" },
    kind: "quantile",
    metrics: ["quantile"],
    parameters: ["quantile_alpha"],
    xgboost: {
      since: "2.0",
      parameters: ({ quantiles }) => ({ quantile_loss_param: { quantile_alpha: `[${quantiles.join(",")}]` } }),
    },
    outputCount: ({ quantile_alpha: alphas }) => alphas.length,
    checkParameters({ quantile_alpha: alphas, multi_strategy: strategy }) {
      if (alphas.length > 1 && strategy === "multi_output_tree")
        throw new TandemError(
          "USAGE",
          "reg:quantileerror needs multi_strategy one_output_per_tree: a tree per quantile",
        );
    },
    gradients(margins, labels, { quantile_alpha: alphas }) {
      return alphas.flatMap((alpha, k) => {
        const g = labels.map((label, i) => (margins[i * alphas.length + k] >= label ? 1 - alpha : -alpha));
        return [g, new Float64Array(labels.length).fill(1)];
      });
    },
    leafQuantiles: ({ quantile_alpha: alphas }) => alphas,
    estimate(labels, weights, { quantile_alpha: alphas }) {
      // A common start for all of them: XGBoost's mean of the quantiles.
      const sum = alphas.reduce((total, alpha) => total + quantileOf(labels, weights, alpha), 0);
      return sum / alphas.length;
    },
  },
] as const satisfies readonly Objective[];
