/** Gradients before they are rounded to the grid. */

/** A closed interval. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** One array and one range per slot. */
export interface RealGradients {
  readonly values: readonly Float64Array[];
  /** The range for any margins; null if it depends on the values. */
  readonly bounds: readonly (Range | null)[];
}
