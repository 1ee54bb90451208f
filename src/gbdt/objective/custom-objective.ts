/**
 * Gradients of the caller's own, for users of the library (XGBoost's `obj`). The parameter `objective` still says what
 * labels, predictions, base_score and metrics are; only g and h come from here.
 *
 * Bounds: whoever writes the function states them, and no sum overflows within them. A gradient outside is refused: the
 * grid would clip it without a word, and the model would be another one.
 */
import { TandemError } from "../../base/error.ts";
import type { Range, RealGradients } from "../../base/gradients/real-gradients.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import type { Objective } from "./objective.ts";

/** Gradients of the caller's own, with bounds that they keep within. */
export interface CustomObjective {
  /** What messages call it. */
  readonly name: string;
  /** What g and h can be, instance weights included. */
  readonly bounds: { readonly g: Range; readonly h: Range };
  /**
   * First and second derivative of the loss by the margin, per instance. It must give the same for the same, or a job
   * that was broken off ends in another model.
   * @param weights null: every instance counts once
   */
  gradients(
    margins: Float64Array,
    labels: Float64Array,
    weights: Float64Array | null,
  ): { readonly g: Float64Array; readonly h: Float64Array };
}

/** @throws TandemError USAGE if bounds are none, or the objective beside it cannot do without its own gradients */
export function checkCustom({ name, bounds }: CustomObjective, objective: Objective, outputCount: number): void {
  for (const slot of ["g", "h"] as const) {
    const { min, max } = bounds[slot];
    if (!(Number.isFinite(min) && Number.isFinite(max) && min <= max))
      throw new TandemError("USAGE", `the objective '${name}' must declare finite bounds of ${slot}, min <= max`);
  }
  if (bounds.h.min < 0)
    throw new TandemError(
      "USAGE",
      `the objective '${name}' declares a hessian below 0; sums of them would mean nothing`,
    );
  if (outputCount > 1 || objective.leafQuantiles !== undefined || objective.takes !== undefined)
    throw new TandemError(
      "USAGE",
      `the objective '${name}' cannot take the place of the gradients of ${objective.name}`,
    );
}

/**
 * @throws TandemError LAYOUT_RANGE naming the first instance whose gradient lies outside, never its value
 */
export function customGradients(
  { name, bounds, gradients }: CustomObjective,
  margins: Float64Array,
  { labels, weights, training }: TrainingRows,
): RealGradients {
  // Copies: nothing that the function does to them may change what is learnt.
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

/** Wide enough for a weight of zero; of either sign alike, as every slot of g. */
function scaled({ min, max }: Range, isSigned: boolean): Range {
  const size = Math.max(Math.abs(min), Math.abs(max), Number.MIN_VALUE);
  return isSigned ? { min: -size, max: size } : { min: 0, max: size };
}
