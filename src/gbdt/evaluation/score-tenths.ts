/**
 * Scores in ten groups of about equally many rows, with what was observed in each: gain, lift and KS per decile, and
 * calibration. Repeated scores share a group, so there may be fewer.
 */
import { binCounts, binOf, quantileBounds } from "../../base/statistics/stability-index.ts";
import type { Weights } from "../metric/weighted-mean.ts";

export interface Tenth {
  /** The least and the largest score. */
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  /** Sum of weights; the number of rows without weights. */
  readonly weight: number;
  /** Weighted means of score and label. */
  readonly predicted: number;
  readonly observed: number;
}

/** The lowest scores first. @param labels 0 or 1, or any number */
export function scoreTenths(scores: Float64Array, labels: Float64Array, weights: Weights = null): Tenth[] {
  const bounds = quantileBounds(scores);
  const sums = Array.from({ length: bounds.length + 1 }, () => ({
    from: Infinity,
    to: -Infinity,
    rows: 0,
    weight: 0,
    predicted: 0,
    observed: 0,
  }));
  scores.forEach((score, row) => {
    const sum = sums[binOf(score, bounds)];
    const weight = weights?.[row] ?? 1;
    sum.from = Math.min(sum.from, score);
    sum.to = Math.max(sum.to, score);
    sum.rows++;
    sum.weight += weight;
    sum.predicted += weight * score;
    sum.observed += weight * labels[row];
  });
  return sums
    .filter(({ weight }) => weight > 0)
    .map((sum) => ({ ...sum, predicted: sum.predicted / sum.weight, observed: sum.observed / sum.weight }));
}

/** Rows per bin of scores, of several sets of rows. */
export function scoreCounts(bounds: readonly number[], sets: readonly Float64Array[]): number[][] {
  return sets.map((scores) => [...binCounts(scores, bounds)].slice(0, -1)); // no score is missing
}
