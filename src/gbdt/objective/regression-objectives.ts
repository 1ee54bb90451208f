/** Objectives whose labels are numbers; as XGBoost 1.7, src/objective/regression_obj.cu. */
import type { ParameterSpec } from "../../base/parameters/parameter-spec.ts";
import { requireFinite } from "./label-checks.ts";
import { identity } from "./link.ts";
import type { Objective } from "./objective.ts";

export const regressionParameters = {
  huber_slope: {
    kind: "number",
    default: 1,
    min: 0,
    minExclusive: true,
    help: "where the loss turns from squared to absolute",
  },
} as const satisfies Record<string, ParameterSpec>;

const ofNumbers = {
  about: { labels: "numbers", prediction: "a number", baseScore: "a number" },
  kind: "number",
  link: identity,
  checkLabels: requireFinite,
} as const satisfies Partial<Objective>;

export const regressionObjectives = [
  {
    ...ofNumbers,
    name: "reg:squarederror",
    metrics: ["rmse"],
    // XGBoost would weight the rows whose label happens to be 1.
    refuses: { scale_pos_weight: "Give the rows weights instead" },
    xgboost: { since: "1.7", parameters: () => ({ reg_loss_param: { scale_pos_weight: "1" } }) },
    bounds: () => ({ g: null, h: { min: 1, max: 1 } }),
    gradients(margins, labels) {
      const g = new Float64Array(margins.length);
      for (let i = 0; i < margins.length; i++) g[i] = margins[i] - labels[i];
      return [g, new Float64Array(margins.length).fill(1)];
    },
  },
  {
    // slope^2 (sqrt(1 + (z / slope)^2) - 1): squared near zero, absolute far out.
    ...ofNumbers,
    name: "reg:pseudohubererror",
    metrics: ["rmse", "mae", "mphe"],
    parameters: ["huber_slope"],
    xgboost: { since: "1.7", parameters: () => ({ pseudo_huber_param: { huber_slope: "1" } }) },
    bounds: ({ huber_slope: slope }) => ({ g: { min: -slope, max: slope }, h: { min: 0, max: 1 } }),
    gradients(margins, labels, { huber_slope: slope }) {
      const g = new Float64Array(margins.length);
      const h = new Float64Array(margins.length);
      for (let i = 0; i < margins.length; i++) {
        const z = margins[i] - labels[i];
        const root = Math.sqrt(1 + (z / slope) ** 2);
        g[i] = Math.min(Math.max(z / root, -slope), slope); // rounding must not leave the bounds
        h[i] = 1 / root ** 3;
      }
      return [g, h];
    },
  },
] as const satisfies readonly Objective[];
