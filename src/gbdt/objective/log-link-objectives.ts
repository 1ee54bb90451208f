/**
 * Objectives whose margins are logarithms of the mean; as XGBoost 1.7, src/objective/regression_obj.cu.
 *
 * Bounds: none can be stated. A gradient grows with the label, and with exp(margin). So these have `null`: each round
 * takes the range of its own gradients, rounded up to a power of two (codec/gradient-layout.ts). Within that range no
 * sum overflows, by the layout's proof, and nothing is clipped. Gradients beyond 2^400 are refused.
 */
import { TandemError } from "../../base/error.ts";
import type { ParameterSpec } from "../../base/parameters/parameter-spec.ts";
import { requireFinite, requireLabels } from "./label-checks.ts";
import { log } from "./link.ts";
import type { Objective } from "./objective.ts";

export const logLinkParameters = {
  tweedie_variance_power: {
    kind: "number",
    default: 1.5,
    min: 1,
    max: 2,
    maxExclusive: true,
    help: "from 1, as counts, to just below 2, as amounts of reg:gamma",
  },
} as const satisfies Record<string, ParameterSpec>;

const ofMeans = {
  kind: "mean",
  link: log,
  bounds: () => ({ g: null, h: null }),
} as const satisfies Partial<Objective>;

export const logLinkObjectives = [
  {
    // Amounts above 0 whose spread grows with their mean: what a claim costs.
    ...ofMeans,
    name: "reg:gamma",
    about: { labels: "above 0", prediction: "a mean", baseScore: "a mean" },
    metrics: ["rmse", "gamma-nloglik", "gamma-deviance"],
    // 1.7 ignores the parameter, later versions require it.
    xgboost: { since: "1.7", parameters: () => ({ reg_loss_param: { scale_pos_weight: "1" } }) },
    gradients(margins, labels) {
      const g = new Float64Array(margins.length);
      const h = new Float64Array(margins.length);
      for (let i = 0; i < margins.length; i++) {
        h[i] = labels[i] / Math.exp(margins[i]);
        g[i] = 1 - h[i];
      }
      return [g, h];
    },
    checkLabels(labels) {
      requireFinite(labels);
      const trouble = "is not above 0, as reg:gamma needs. For amounts with zeros use reg:tweedie";
      requireLabels(labels, (label) => label > 0, trouble);
    },
  },
  {
    // Sums of a random number of amounts, so that many are exactly 0: what a policy costs in a year.
    ...ofMeans,
    name: "reg:tweedie",
    about: { labels: "0 or above", prediction: "a mean", baseScore: "a mean" },
    metrics: ["rmse", "tweedie-nloglik"],
    parameters: ["tweedie_variance_power"],
    xgboost: { since: "1.7", parameters: () => ({ tweedie_regression_param: { tweedie_variance_power: "1.5" } }) },
    gradients(margins, labels, { tweedie_variance_power: rho }) {
      const g = new Float64Array(margins.length);
      const h = new Float64Array(margins.length);
      for (let i = 0; i < margins.length; i++) {
        const pull = labels[i] * Math.exp((1 - rho) * margins[i]);
        const push = Math.exp((2 - rho) * margins[i]);
        g[i] = push - pull;
        h[i] = (2 - rho) * push - (1 - rho) * pull;
      }
      return [g, h];
    },
    checkLabels(labels) {
      requireFinite(labels);
      requireLabels(labels, (label) => label >= 0, "is negative; reg:tweedie needs amounts from 0 on");
    },
    checkVariety: (labels) => requireSome(labels, "reg:tweedie needs some amounts"),
  },
  {
    // The hessian is enlarged by exp(max_delta_step), which keeps steps safe.
    ...ofMeans,
    name: "count:poisson",
    about: { labels: "0 or above", prediction: "a mean", baseScore: "a mean count" },
    metrics: ["rmse", "poisson-nloglik"],
    defaults: { max_delta_step: 0.7 },
    xgboost: { since: "1.7", parameters: () => ({ poisson_regression_param: { max_delta_step: "0.699999988" } }) },
    gradients(margins, labels, { max_delta_step: maxDeltaStep }) {
      const g = new Float64Array(margins.length);
      const h = new Float64Array(margins.length);
      for (let i = 0; i < margins.length; i++) {
        g[i] = Math.exp(margins[i]) - labels[i];
        h[i] = Math.exp(margins[i] + maxDeltaStep);
      }
      return [g, h];
    },
    checkLabels(labels) {
      requireFinite(labels);
      requireLabels(labels, (label) => label >= 0, "is negative; count:poisson needs counts");
    },
    checkVariety: (labels) => requireSome(labels, "count:poisson needs some counts"),
  },
] as const satisfies readonly Objective[];

function requireSome(labels: Float64Array, need: string): void {
  if (labels.every((label) => label === 0)) throw new TandemError("LABEL_INVALID", `all labels are 0; ${need}`);
}
