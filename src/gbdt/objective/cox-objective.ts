/**
 * Cox's proportional hazards: labels are times, negative if censored; as XGBoost, src/objective/regression_obj.cu. A
 * prediction is a hazard relative to others, exp(margin).
 *
 * The gradient of an instance depends on all instances still at risk, so it is computed over the training rows only.
 * Tied times are processed in the order of rows (Breslow's denominator), as in XGBoost.
 *
 * Bounds: none can be stated, since one instance may carry the risk of many; see log-link-objectives.ts for how the
 * range is chosen then.
 */
import { TandemError } from "../../base/error.ts";
import { requireFinite } from "./label-checks.ts";
import { log } from "./link.ts";
import type { Objective } from "./objective.ts";

export const coxObjectives = [
  {
    name: "survival:cox",
    about: { labels: "times; negative if censored", prediction: "a relative hazard", baseScore: "a hazard" },
    kind: "hazard",
    link: log,
    metrics: ["cox-nloglik"],
    xgboost: { since: "1.7", parameters: () => ({}) },
    bounds: () => ({ g: null, h: null }),
    gradients(margins, labels, _parameters, rows) {
      const g = new Float64Array(margins.length);
      const h = new Float64Array(margins.length);
      const order = byTime(labels, rows?.training ?? null);
      // A common constant: subtracted so that nothing overflows. Only ratios are used below.
      const largest = order.reduce((most, row) => Math.max(most, margins[row]), -Infinity);
      const atRisk = riskSums(order, labels, (row) => Math.exp(margins[row] - largest));
      let inverse = 0;
      let inverseSquare = 0;
      order.forEach((row, place) => {
        const hazard = Math.exp(margins[row] - largest);
        const isEvent = labels[row] > 0;
        if (isEvent) {
          inverse += 1 / atRisk[place];
          inverseSquare += 1 / atRisk[place] ** 2;
        }
        g[row] = hazard * inverse - (isEvent ? 1 : 0);
        h[row] = Math.max(hazard * inverse - hazard ** 2 * inverseSquare, 0); // negative only by rounding
      });
      return [g, h];
    },
    checkLabels: requireFinite,
    checkVariety(labels) {
      if (!labels.some((label) => label > 0))
        throw new TandemError(
          "LABEL_INVALID",
          "no label is above 0: survival:cox needs times of events, and censored times as negative numbers",
        );
    },
  },
] as const satisfies readonly Objective[];

/** Rows by absolute time, censored or not; in row order for equal times. */
export function byTime(labels: ArrayLike<number>, rows: Uint32Array | null): Uint32Array {
  const all = rows?.slice() ?? Uint32Array.from({ length: labels.length }, (_, row) => row);
  return all.sort((a, b) => Math.abs(labels[a]) - Math.abs(labels[b]) || a - b);
}

/** Per position of the order: the sum over all instances whose time is not earlier. */
export function riskSums(
  order: Uint32Array,
  labels: ArrayLike<number>,
  hazardOf: (row: number) => number,
): Float64Array {
  const sums = new Float64Array(order.length);
  let sum = 0;
  for (let place = order.length - 1, last = place; place >= 0; place--) {
    sum += hazardOf(order[place]);
    const time = Math.abs(labels[order[place]]);
    if (place > 0 && Math.abs(labels[order[place - 1]]) === time) continue;
    sums.fill(sum, place, last + 1); // tied times have the same risk set
    last = place - 1;
  }
  return sums;
}
