/**
 * Gradients on the integer grid: what every histogram sums, plain or encrypted.
 *
 * The active party rounds g and h to this grid first and uses the rounded values for its own features and leaf weights
 * too. All sums, complements and siblings are computed in integers; `realSum` is the only way back to real numbers.
 * That is why federated training equals centralised training bit for bit.
 *
 * Slot 2k holds g and slot 2k+1 holds h of output k. A double holds a slot's sum exactly below 2^53. Where sums may be
 * larger, every slot has two columns, its limbs: q = high * 2^26 + low. Limbs are summed each for itself, exactly, and
 * need no carry: `slotSum` rounds high * 2^26 + low once, so any limbs of the same sum give the same number.
 *
 * Where counts are not sent, g is rounded to signed integers: a shift could only be undone with counts.
 */
import type { NoiseScale } from "../noise/noise-scale.ts";

/** One slot's grid: an integer q stands for q * resolution + shift (paper sec. III-A, decoding). */
export interface SlotGrid {
  readonly shift: number;
  readonly resolution: number;
}

/** Gradients of a round, rounded to integers. */
export interface QuantisedGradients {
  readonly instanceCount: number;
  readonly grids: readonly SlotGrid[];
  /**
   * Per slot one column, or two limbs, the high one first; per instance a non-negative integer, except for g where
   * counts are not sent.
   */
  readonly columns: readonly Float64Array[];
  /** The noise that passive parties add to their sums; left out: none. */
  readonly noise?: NoiseScale;
  /** Sums have no counts: with noise, and where members are hidden. Left out: they have counts. */
  readonly hidesCounts?: boolean;
  /**
   * The same gradients as they are sent to passive parties, if they are clipped (codec/clipped-gradients.ts): on grids
   * of their own. Left out: these are sent.
   */
  readonly sent?: QuantisedGradients;
}

/** What passive parties sum. */
export function sentGradients(gradients: QuantisedGradients): QuantisedGradients {
  return gradients.sent ?? gradients;
}

/** The value of one unit of the high limb. */
export const highLimb = 2 ** 26;

/** Below this many instances the sums of low limbs are exact too. */
export const limbedCountMax = 2 ** 26;

/** The sum of a slot in a row that starts at `offset`; exact below 2^53, correctly rounded above. */
export function slotSum(row: Float64Array, offset: number, slot: number, limbs: number): number {
  return limbs === 1 ? row[offset + slot] : row[offset + 2 * slot] * highLimb + row[offset + 2 * slot + 1];
}

/** slotSum of the complement: `totals` minus the row. */
export function slotSumOfRest(
  totals: Float64Array,
  row: Float64Array,
  offset: number,
  slot: number,
  limbs: number,
): number {
  if (limbs === 1) return totals[slot] - row[offset + slot];
  const high = 2 * slot;
  return (totals[high] - row[offset + high]) * highLimb + (totals[high + 1] - row[offset + high + 1]);
}

/** The difference of each slot of two rows: 0 exactly if their sums are equal, whatever their limbs. */
export function slotDifferences(a: Float64Array, b: Float64Array, limbs: number): number[] {
  const differences: number[] = [];
  for (let column = 0; column + limbs < a.length; column += limbs) {
    const first = a[column] - b[column];
    differences.push(limbs === 1 ? first : first * highLimb + (a[column + 1] - b[column + 1]));
  }
  return differences;
}

/** Whether all slots of two rows are equal. */
export function haveSameSlots(a: Float64Array, b: Float64Array, limbs: number): boolean {
  return slotDifferences(a, b, limbs).every((difference) => difference === 0);
}

/** The real value of a sum of `count` quantised values: de-quantise, then shift back by count * s_j. */
export function realSum(grid: SlotGrid, integerSum: number, count: number): number {
  return integerSum * grid.resolution + count * grid.shift;
}
