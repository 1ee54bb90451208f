/**
 * Accelerated failure times: a time lies between the label and label_upper_bound; as XGBoost, src/objective/aft_obj.cu.
 * A prediction is a time, exp(margin).
 *
 * Bounds: XGBoost clips g to [-15, 15] and h to [1e-16, 15] itself, and so does aft-loss.ts.
 */
import { TandemError } from "../../base/error.ts";
import { choice, type ParameterSpec } from "../../base/parameters/parameter-spec.ts";
import { aftGradient, gradientMax, hessianMax } from "./aft-loss.ts";
import { requireFinite, requireLabels } from "./label-checks.ts";
import { log } from "./link.ts";
import type { Objective } from "./objective.ts";

export const aftParameters = {
  aft_loss_distribution: choice(
    ["normal", "logistic", "extreme"],
    "normal",
    "how logarithms of times are spread around the prediction",
  ),
  aft_loss_distribution_scale: {
    kind: "number",
    default: 1,
    min: 0,
    minExclusive: true,
    help: "how far they are spread",
  },
} as const satisfies Record<string, ParameterSpec>;

export const aftObjectives = [
  {
    name: "survival:aft",
    about: { labels: "times", prediction: "a time", baseScore: "a time" },
    kind: "time",
    link: log,
    metrics: ["interval-regression-accuracy", "aft-nloglik"],
    parameters: ["aft_loss_distribution", "aft_loss_distribution_scale"],
    xgboost: {
      since: "1.7",
      parameters: () => ({ aft_loss_param: { aft_loss_distribution: "normal", aft_loss_distribution_scale: "1" } }),
    },
    takes: ["label_upper_bound"],
    bounds: () => ({ g: { min: -gradientMax, max: gradientMax }, h: { min: 0, max: hessianMax } }),
    gradients(margins, labels, { aft_loss_distribution: name, aft_loss_distribution_scale: sigma }, rows) {
      const g = new Float64Array(margins.length);
      const h = new Float64Array(margins.length);
      const uppers = rows?.columns.label_upper_bound ?? labels;
      for (let i = 0; i < margins.length; i++)
        [g[i], h[i]] = aftGradient({ lower: labels[i], upper: uppers[i] }, margins[i], name, sigma);
      return [g, h];
    },
    evaluated: (margins) => margins.slice(), // XGBoost's metric takes logarithms of times
    checkLabels(labels) {
      requireFinite(labels);
      requireLabels(labels, (label) => label >= 0, "is negative; survival:aft needs times");
    },
    checkColumns({ label_upper_bound: uppers = new Float64Array(0) }, labels) {
      const bad = uppers.findIndex((upper, i) => !(upper >= labels[i] && upper > 0));
      if (bad >= 0)
        throw new TandemError(
          "LABEL_INVALID",
          `the label_upper_bound of instance ${bad} is below its label, or not above 0`,
        );
    },
  },
] as const satisfies readonly Objective[];
