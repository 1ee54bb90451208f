/**
 * Custom gradients for users of the library (XGBoost's `obj`). The parameter `objective` still defines labels,
 * predictions, base_score and metrics; only g and h are replaced.
 *
 * Bounds: the caller states them, and no sum overflows within them. A gradient outside is an error: the grid would clip
 * it silently, and the model would differ.
 */
import { TandemError } from "../../base/error.ts";
import type { Range, RealGradients } from "../../base/gradients/real-gradients.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import type { Objective } from "./objective.ts";

/** Custom gradients, with their bounds. */
export interface CustomObjective {
  /** Its name in messages. */
  readonly name: string;
  /** The range of g and h, instance weights included. */
  readonly bounds: { readonly g: Range; readonly h: Range };
  /**
   * First and second derivative of the loss by the margin, per instance. It must be deterministic, or a resumed job
   * ends in a different model.
   * @param weights null: every instance counts once
   */
  gradients(
    margins: Float64Array,
    labels: Float64Array,
    weights: Float64Array | null,
  ): { readonly g: Float64Array; readonly h: Float64Array };
}

/** @throws TandemError USAGE for invalid bounds, or an objective whose gradients cannot be replaced */
export function checkCustom({ name, bounds }: CustomObjective, objective: Objective, outputCount: number): void {
  for (const slot of ["g", "h"] as const) {
    const { min, max } = bounds[slot];
    if (!(Number.isFinite(min) && Number.isFinite(max) && min <= max))
      throw new TandemError("USAGE", `the objective '${name}' must declare finite bounds of ${slot}, min <= max`);
  }
  if (bounds.h.min < 0)
    throw new TandemError(
      "USAGE",
      `the objective '${name}' declares a hessian below 0; sums of such hessians are meaningless`,
    );
  if (outputCount > 1 || objective.leafQuantiles !== undefined || objective.takes !== undefined)
    throw new TandemError("USAGE", `the objective '${name}' cannot replace the gradients of ${objective.name}`);
}

/**
 * @throws TandemError LAYOUT_RANGE naming the first instance whose gradient lies outside, never its value
 */
export function customGradients(
  { name, bounds, gradients }: CustomObjective,
  margins: Float64Array,
  { labels, weights, training }: TrainingRows,
): RealGradients {
  // Copies, so that the function cannot modify the training data.
  const given = gradients(margins.slice(), labels.slice(), weights && weights.slice());
  const values = (["g", "h"] as const).map((slot) => {
    const column = given[slot];
    if (!(column instanceof Float64Array) || column.length !== labels.length)
      throw new TandemError("USAGE", `the objective '${name}' must give a Float64Array of ${slot} for every instance`);
    const { min, max } = bounds[slot];
    const isOutside = (row: number): boolean => !(column[row] >= min && column[row] <= max);
    const bad = training === null ? column.findIndex((_, row) => isOutside(row)) : (training.find(isOutside) ?? -1);
    if (bad >= 0)
      throw new TandemError(
        "LAYOUT_RANGE",
        `the objective '${name}' gives instance ${bad} a ${slot} outside the bounds that it declares. Widen them`,
      );
    return column.slice();
  });
  return { values, bounds: [scaled(bounds.g, true), scaled(bounds.h, false)] };
}

/** Wide enough for a weight of zero; symmetric if signed, as every slot of g. */
function scaled({ min, max }: Range, isSigned: boolean): Range {
  const size = Math.max(Math.abs(min), Math.abs(max), Number.MIN_VALUE);
  return isSigned ? { min: -size, max: size } : { min: 0, max: size };
}
