/**
 * Gradients on the integer grid: what every histogram sums, plain or encrypted.
 *
 * The active party rounds g and h to this grid first and uses the rounded values for its own features and leaf weights
 * too. All sums, complements and siblings are taken in integers; `realSum` is the only way back to real numbers. That
 * is why federated training equals centralised training bit for bit.
 *
 * Slot 2k holds g and slot 2k+1 holds h of output k. Slot sums stay below 2^53, so that a double holds them exactly.
 */

/** One slot's grid: an integer q stands for q * resolution + shift (paper sec. III-A, decoding). */
export interface SlotGrid {
  readonly shift: number;
  readonly resolution: number;
}

export interface QuantisedGradients {
  readonly instanceCount: number;
  readonly grids: readonly SlotGrid[];
  /** Per slot, per instance: a non-negative integer. */
  readonly slots: readonly Float64Array[];
}

/** The real value of a sum of `count` quantised values: de-quantise, then shift back by count * s_j. */
export function realSum(grid: SlotGrid, integerSum: number, count: number): number {
  return integerSum * grid.resolution + count * grid.shift;
}
