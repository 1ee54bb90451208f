/**
 * How far sums of quantised gradients lie from the real ones (sec. III-C), with rounding to nearest, eq. (7), and with
 * stochastic rounding, the alternative that the paper names. The bound for n values is n/2 alpha_max/2^r + sum of
 * max(0, u - alpha): half a step for each, and what truncation cuts off.
 */
import { SeededRandom } from "../../src/base/random.ts";
import { quantiseColumn } from "../../src/codec/quantise-column.ts";
import { countMax, type Slot, slotResolution } from "../../src/codec/slot.ts";
import { totalBinCount } from "../../src/gbdt/split/binning.ts";
import { paperAlpha, paperShift } from "./paper.ts";
import type { RealGradients } from "./real-gradients.ts";

export type Rounding = "nearest" | "stochastic";

export interface SumErrors {
  readonly alphaMax: number;
  readonly r: number;
  readonly alpha: number;
  readonly resolution: number;
  /** The largest number of values whose sum is proven not to overflow. */
  readonly countMax: number;
  /** Of the sum over all instances; the largest of the snapshots and of g and h. */
  readonly bound: number;
  readonly error: Readonly<Record<Rounding, number>>;
  /** Over all bins of all features: the largest error as a fraction of the bound for that bin's instances. */
  readonly worstFractionOfBound: number;
}

export interface Quantisation {
  readonly alphaMax: number;
  readonly r: number;
  readonly alpha?: number;
}

export function sumErrors(
  gradients: RealGradients,
  { alphaMax, r, alpha = paperAlpha }: Quantisation,
  seed: number,
): SumErrors {
  const slot: Slot = { shift: paperShift, alpha, alphaMax, r, padding: 2 };
  const random = new SeededRandom(`stochastic-${seed}`);
  let bound = 0;
  let worstFractionOfBound = 0;
  const error = { nearest: 0, stochastic: 0 };
  for (const values of gradients.snapshots.flatMap(({ g, h }) => [g, h])) {
    const errors = errorsOf(slot, values, quantiseColumn(slot, values));
    const bounds = boundsOf(slot, values);
    bound = Math.max(bound, total(bounds));
    error.nearest = Math.max(error.nearest, Math.abs(total(errors)));
    error.stochastic = Math.max(
      error.stochastic,
      Math.abs(total(errorsOf(slot, values, quantiseStochastically(slot, values, random)))),
    );
    worstFractionOfBound = Math.max(worstFractionOfBound, worstBin(gradients, errors, bounds));
  }
  return {
    alphaMax,
    r,
    alpha,
    resolution: slotResolution(slot),
    countMax: countMax(slot),
    bound,
    error,
    worstFractionOfBound,
  };
}

/**
 * Rounds up with the probability of the fraction: every value is off by up to a step, and the sum by nothing on
 * average.
 */
export function quantiseStochastically(slot: Slot, values: Float64Array, random: SeededRandom): Float64Array {
  return values.map((value) =>
    Math.floor((2 ** slot.r * Math.min(value - slot.shift, slot.alpha)) / slot.alphaMax + random.uniform()),
  );
}

/** Per value: what it is on the grid less what it is. */
function errorsOf(slot: Slot, values: Float64Array, quantised: Float64Array): Float64Array {
  const resolution = slotResolution(slot);
  return quantised.map((q, i) => q * resolution + slot.shift - values[i]);
}

function boundsOf(slot: Slot, values: Float64Array): Float64Array {
  const half = slotResolution(slot) / 2;
  return values.map((value) => half + Math.max(0, value - slot.shift - slot.alpha));
}

/** Sums as a root's histogram takes them. */
function worstBin({ features }: RealGradients, errors: Float64Array, bounds: Float64Array): number {
  let worst = 0;
  for (const feature of features) {
    const sums = new Float64Array(totalBinCount(feature));
    const limits = new Float64Array(sums.length);
    feature.bins.forEach((bin, i) => {
      sums[bin] += errors[i];
      limits[bin] += bounds[i];
    });
    sums.forEach((sum, bin) => {
      if (limits[bin] > 0) worst = Math.max(worst, Math.abs(sum) / limits[bin]);
    });
  }
  return worst;
}

function total(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
