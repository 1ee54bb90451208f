/**
 * Accelerated failure times: a time lies between the label and label_upper_bound; as XGBoost,
 * src/objective/aft_obj.cu. A prediction is a time, exp(margin).
 *
 * Bounds: XGBoost clips g to [-15, 15] and h to [1e-16, 15] itself, and so does aft-loss.ts.
 */
import { TandemError } from "../../base/error.ts";
import { aftGradient, gradientMax, hessianMax } from "./aft-loss.ts";
import { logarithm } from "./log-link-objectives.ts";
import type { Objective } from "./objective.ts";
import { requireFinite } from "./regression-objectives.ts";

export const aft: Objective = {
  name: "survival:aft",
  kind: "time",
  takes: ["label_upper_bound"],
  outputCount: () => 1,
  bounds: () => ({ g: { min: -gradientMax, max: gradientMax }, h: { min: 0, max: hessianMax } }),
  gradients(margins, labels, { aft_loss_distribution: name, aft_loss_distribution_scale: sigma }, rows) {
    const g = new Float64Array(margins.length);
    const h = new Float64Array(margins.length);
    const uppers = rows?.columns.label_upper_bound ?? labels;
    for (let i = 0; i < margins.length; i++)
      [g[i], h[i]] = aftGradient({ lower: labels[i], upper: uppers[i] }, margins[i], name, sigma);
    return [g, h];
  },
  predictions: (margins) => margins.map(Math.exp),
  evaluated: (margins) => margins.slice(), // XGBoost's metric takes logarithms of times
  baseMargin: (baseScore) => logarithm(baseScore, "is a time", "survival:aft"),
  checkLabels(labels) {
    requireFinite(labels);
    const bad = labels.findIndex((label) => label < 0);
    if (bad >= 0)
      throw new TandemError("LABEL_INVALID", `the label of instance ${bad} is negative; survival:aft needs times`);
  },
  checkColumns({ label_upper_bound: uppers = new Float64Array(0) }, labels) {
    const bad = uppers.findIndex((upper, i) => !(upper >= labels[i] && upper > 0));
    if (bad >= 0)
      throw new TandemError(
        "LABEL_INVALID",
        `the label_upper_bound of instance ${bad} is below its label, or not above 0`,
      );
  },
};
