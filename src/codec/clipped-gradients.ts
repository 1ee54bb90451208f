/**
 * Gradients as they are sent in a job with noise: without a bound by the objective they are clipped at three root mean
 * squares of the round. The noise that hides one instance is scaled to the largest value that an instance can have, so
 * without a clip a few large gradients would drown all others (docs/decisions/0040-clipped-gradients.md). Leaf weights
 * and the active party's own columns do not use these.
 */
import type { Range, RealGradients } from "../base/gradients/real-gradients.ts";

/** In root mean squares of a slot's values. */
const clipAt = 3;

/**
 * @param ranges of the slots, those that are bounded included
 * @returns null if nothing is clipped
 */
export function clippedGradients(
  { values, bounds }: RealGradients,
  ranges: readonly Range[],
): { readonly values: readonly Float64Array[]; readonly bounds: readonly Range[] } | null {
  const limits = values.map((column, slot) => {
    const limit = clipAt * rootMeanSquare(column);
    return bounds[slot] === null && limit > 0 && limit < magnitudeOf(ranges[slot]) ? limit : Infinity;
  });
  if (limits.every((limit) => limit === Infinity)) return null;
  return {
    values: values.map((column, slot) => clippedTo(limits[slot], column)),
    bounds: ranges.map(({ min, max }, slot) => ({
      min: Math.max(min, -limits[slot]),
      max: Math.min(max, limits[slot]),
    })),
  };
}

function magnitudeOf({ min, max }: Range): number {
  return Math.max(Math.abs(min), Math.abs(max));
}

/**
 * Zeros do not count: instances outside the sample have no gradient, and those that are fitted exactly need no room.
 * The sum is taken in the order of the rows, which is that of centralised training.
 */
function rootMeanSquare(column: Float64Array): number {
  let [largest, count, sum] = [0, 0, 0];
  for (let i = 0; i < column.length; i++) largest = Math.max(largest, Math.abs(column[i]));
  if (largest === 0) return 0;
  for (let i = 0; i < column.length; i++) {
    if (column[i] === 0) continue;
    count++;
    sum += (column[i] / largest) ** 2; // squares of values near the ends of a double's range would not fit it
  }
  return largest * Math.sqrt(sum / count);
}

function clippedTo(limit: number, column: Float64Array): Float64Array {
  return limit === Infinity ? column : column.map((value) => Math.min(Math.max(value, -limit), limit));
}
