/** Objectives whose labels are numbers; as XGBoost 1.7, src/objective/regression_obj.cu. */
import { TandemError } from "../../base/error.ts";
import { finiteMargin } from "./logistic-objectives.ts";
import type { Objective } from "./objective.ts";

export const squaredError: Objective = {
  name: "reg:squarederror",
  kind: "number",
  outputCount: () => 1,
  bounds: () => ({ g: null, h: { min: 1, max: 1 } }),
  gradients(margins, labels) {
    const g = new Float64Array(margins.length);
    for (let i = 0; i < margins.length; i++) g[i] = margins[i] - labels[i];
    return [g, new Float64Array(margins.length).fill(1)];
  },
  predictions: (margins) => margins.slice(),
  baseMargin: finiteMargin,
  checkLabels: requireFinite,
};

/** slope^2 (sqrt(1 + (z / slope)^2) - 1): squared near zero, absolute far out. */
export const pseudoHuber: Objective = {
  name: "reg:pseudohubererror",
  kind: "number",
  outputCount: () => 1,
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
  predictions: (margins) => margins.slice(),
  baseMargin: finiteMargin,
  checkLabels: requireFinite,
};

export function requireFinite(labels: Float64Array): void {
  const bad = labels.findIndex((label) => !Number.isFinite(label));
  if (bad >= 0) throw new TandemError("LABEL_INVALID", `the label of instance ${bad} is not a finite number`);
  if (labels.length === 0) throw new TandemError("LABEL_INVALID", "there are no labels");
}
