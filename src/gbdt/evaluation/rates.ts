/**
 * Figures of a table of tenths: cumulative gain, lift and KS, and how far predicted rates are from observed ones.
 *
 * Runs in browsers too.
 */
import type { Tenth } from "./score-tenths.ts";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface GainRow extends Tenth {
  /** Of this group: its rate over that of all rows. */
  readonly lift: number;
  /** From the highest scores down to here: the part of all rows, of all positives and of all negatives. */
  readonly depth: number;
  readonly gain: number;
  readonly negativesFound: number;
  readonly cumulativeLift: number;
  /** Distance between the parts of positives and of negatives found so far. */
  readonly ks: number;
}

/** The highest scores first. */
export function gainTable(tenths: readonly Tenth[]): GainRow[] {
  const total = sumOf(tenths, ({ weight }) => weight);
  const positives = sumOf(tenths, ({ weight, observed }) => weight * observed);
  let [found, of] = [0, 0];
  return tenths.toReversed().map((tenth) => {
    found += tenth.weight * tenth.observed;
    of += tenth.weight;
    const [depth, gain, negativesFound] = [of / total, found / positives, (of - found) / (total - positives)];
    return {
      ...tenth,
      lift: tenth.observed / (positives / total),
      depth,
      gain,
      negativesFound,
      cumulativeLift: gain / depth,
      ks: Math.abs(gain - negativesFound),
    };
  });
}

/** Expected calibration error: the mean distance between predicted and observed rate, weighted by rows. */
export function calibrationError(tenths: readonly Tenth[]): number {
  const total = sumOf(tenths, ({ weight }) => weight);
  return sumOf(tenths, ({ weight, predicted, observed }) => weight * Math.abs(predicted - observed)) / total;
}

/**
 * The calibration error that a perfectly calibrated model has on average on as many rows: the mean distance of a
 * binomial rate from its probability, to first order.
 */
export function calibrationErrorByChance(tenths: readonly Tenth[]): number {
  const total = sumOf(tenths, ({ weight }) => weight);
  const distance = ({ predicted, rows }: Tenth): number =>
    Math.sqrt((2 / Math.PI) * ((predicted * (1 - predicted)) / rows));
  return sumOf(tenths, (tenth) => tenth.weight * distance(tenth)) / total;
}

const z95 = 1.959963984540054;

/** Wilson's 95% interval of a rate. @param rows how many it is of */
export function wilsonInterval(rate: number, rows: number): Interval {
  const scale = 1 + z95 ** 2 / rows;
  const centre = (rate + z95 ** 2 / (2 * rows)) / scale;
  const half = (z95 / scale) * Math.sqrt((rate * (1 - rate)) / rows + z95 ** 2 / (4 * rows ** 2));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

function sumOf(tenths: readonly Tenth[], of: (tenth: Tenth) => number): number {
  return tenths.reduce((sum, tenth) => sum + of(tenth), 0);
}
