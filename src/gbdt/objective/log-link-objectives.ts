/**
 * Objectives whose margins are logarithms of the mean; as XGBoost 1.7, src/objective/regression_obj.cu.
 *
 * Bounds: none can be stated. A gradient grows with the label, and with exp(margin). So these have `null`: each round
 * takes the range of its own gradients, rounded up to a power of two (codec/gradient-layout.ts). Within that range no
 * sum overflows, by the layout's proof, and nothing is clipped. Gradients beyond 2^400 are refused.
 */
import { TandemError } from "../../base/error.ts";
import type { Objective, ObjectiveName } from "./objective.ts";
import { requireFinite } from "./regression-objectives.ts";

const logLink: Pick<Objective, "kind" | "outputCount" | "bounds" | "predictions"> = {
  kind: "mean",
  outputCount: () => 1,
  bounds: () => ({ g: null, h: null }),
  predictions: (margins) => margins.map(Math.exp),
};

/** The hessian is enlarged by exp(max_delta_step), which keeps steps safe. */
export const poisson: Objective = {
  ...logLink,
  name: "count:poisson",
  gradients(margins, labels, { max_delta_step: maxDeltaStep }) {
    const g = new Float64Array(margins.length);
    const h = new Float64Array(margins.length);
    for (let i = 0; i < margins.length; i++) {
      g[i] = Math.exp(margins[i]) - labels[i];
      h[i] = Math.exp(margins[i] + maxDeltaStep);
    }
    return [g, h];
  },
  baseMargin: (baseScore) => logarithm(baseScore, "is a mean count", "count:poisson"),
  checkLabels(labels) {
    requireFinite(labels);
    const bad = labels.findIndex((label) => label < 0);
    if (bad >= 0)
      throw new TandemError("LABEL_INVALID", `the label of instance ${bad} is negative; count:poisson needs counts`);
  },
  checkVariety(labels) {
    if (labels.every((label) => label === 0))
      throw new TandemError("LABEL_INVALID", "all labels are 0; count:poisson needs some counts");
  },
};

/** Amounts above 0 whose spread grows with their mean: what a claim costs. */
export const gamma: Objective = {
  ...logLink,
  name: "reg:gamma",
  gradients(margins, labels) {
    const g = new Float64Array(margins.length);
    const h = new Float64Array(margins.length);
    for (let i = 0; i < margins.length; i++) {
      h[i] = labels[i] / Math.exp(margins[i]);
      g[i] = 1 - h[i];
    }
    return [g, h];
  },
  baseMargin: (baseScore) => logarithm(baseScore, "is a mean", "reg:gamma"),
  checkLabels(labels) {
    requireFinite(labels);
    const bad = labels.findIndex((label) => !(label > 0));
    if (bad >= 0)
      throw new TandemError(
        "LABEL_INVALID",
        `the label of instance ${bad} is not above 0, as reg:gamma needs. For amounts with zeros use reg:tweedie`,
      );
  },
};

/** Sums of a random number of amounts, so that many are exactly 0: what a policy costs in a year. */
export const tweedie: Objective = {
  ...logLink,
  name: "reg:tweedie",
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
  baseMargin: (baseScore) => logarithm(baseScore, "is a mean", "reg:tweedie"),
  checkLabels(labels) {
    requireFinite(labels);
    const bad = labels.findIndex((label) => label < 0);
    if (bad >= 0)
      throw new TandemError(
        "LABEL_INVALID",
        `the label of instance ${bad} is negative; reg:tweedie needs amounts from 0 on`,
      );
  },
  checkVariety(labels) {
    if (labels.every((label) => label === 0))
      throw new TandemError("LABEL_INVALID", "all labels are 0; reg:tweedie needs some amounts");
  },
};

/** base_score is a prediction: its logarithm is the margin. */
export function logarithm(baseScore: number, what: string, name: ObjectiveName): number {
  if (baseScore > 0 && Number.isFinite(baseScore)) return Math.log(baseScore);
  throw new TandemError("USAGE", `base_score ${what} for ${name} and must be above 0`);
}
