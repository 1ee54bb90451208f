/** Gradients before they are rounded to the grid. */

/** A closed interval. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** One array and one range per slot. */
export interface RealGradients {
  readonly values: readonly Float64Array[];
  /** What the values can be, whatever the margins; null where only the values tell. */
  readonly bounds: readonly (Range | null)[];
}
