/**
 * Objectives whose leaves are quantiles: reg:absoluteerror, whose leaves are medians, and reg:quantileerror with an
 * output for each of its quantiles; as XGBoost 2.1, src/objective/regression_obj.cu and quantile_obj.cu.
 *
 * The gradient only says on which side of its prediction a label lies, so it finds splits. What a leaf is worth then
 * comes from the residuals of its people (gbdt/tree/adaptive-leaves.ts), which the active party knows.
 *
 * Bounds: g is -1, 0 or 1, or -alpha or 1 - alpha for an alpha in (0, 1); h is 1.
 */
import { TandemError } from "../../base/error.ts";
import { finiteMargin } from "./logistic-objectives.ts";
import type { Objective } from "./objective.ts";
import { quantileOf } from "./quantile.ts";
import { requireFinite } from "./regression-objectives.ts";

export const absoluteError: Objective = {
  name: "reg:absoluteerror",
  kind: "number",
  outputCount: () => 1,
  bounds: () => ({ g: { min: -1, max: 1 }, h: { min: 1, max: 1 } }),
  gradients(margins, labels) {
    const g = margins.map((margin, i) => Math.sign(margin - labels[i]) + 0);
    return [g, new Float64Array(margins.length).fill(1)];
  },
  leafQuantiles: () => [0.5],
  estimate: (labels, weights) => quantileOf(labels, weights, 0.5),
  predictions: (margins) => margins.slice(),
  baseMargin: finiteMargin,
  checkLabels: requireFinite,
};

export const quantileError: Objective = {
  name: "reg:quantileerror",
  kind: "quantile",
  outputCount({ quantile_alpha: alphas, multi_strategy: strategy }) {
    if (alphas.length > 1 && strategy === "multi_output_tree")
      throw new TandemError("USAGE", "reg:quantileerror needs multi_strategy one_output_per_tree: a tree per quantile");
    return alphas.length;
  },
  bounds: () => ({ g: { min: -1, max: 1 }, h: { min: 1, max: 1 } }),
  gradients(margins, labels, { quantile_alpha: alphas }) {
    return alphas.flatMap((alpha, k) => {
      const g = labels.map((label, i) => (margins[i * alphas.length + k] >= label ? 1 - alpha : -alpha));
      return [g, new Float64Array(labels.length).fill(1)];
    });
  },
  leafQuantiles: ({ quantile_alpha: alphas }) => alphas,
  estimate(labels, weights, { quantile_alpha: alphas }) {
    // One start for all of them: XGBoost's mean of the quantiles.
    const sum = alphas.reduce((total, alpha) => total + quantileOf(labels, weights, alpha), 0);
    return sum / alphas.length;
  },
  predictions: (margins) => margins.slice(),
  baseMargin: finiteMargin,
  checkLabels: requireFinite,
};
