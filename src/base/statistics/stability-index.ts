/**
 * The stability index: how far the distribution of a quantity has moved from a reference, over the reference's bins.
 * Symmetric, never negative, and 0 for equal shares. (Credit scoring calls it the population stability index. Its
 * abbreviation means private set intersection here.)
 */

/** As is customary: below the first there is no change to speak of, from the second on it is large. */
export const stabilityBounds = { moderate: 0.1, large: 0.25 };

export type Stability = "stable" | "moderate" | "large";

/**
 * The sum of (a - b) ln(a / b) over the bins' shares a and b. An empty bin counts as half an instance, since its share
 * has no logarithm. Bins that are empty in both are left out.
 * @param reference counts per bin
 * @param current counts in the same bins
 * @returns NaN where one of the two has no instances
 */
export function stabilityIndex(reference: ArrayLike<number>, current: ArrayLike<number>): number {
  if (reference.length !== current.length)
    throw new RangeError(`${reference.length} bins are compared with ${current.length}`);
  const [all, now] = [total(reference), total(current)];
  if (all === 0 || now === 0) return Number.NaN;
  let index = 0;
  for (let bin = 0; bin < reference.length; bin++) {
    if (reference[bin] === 0 && current[bin] === 0) continue;
    const a = (current[bin] || 0.5) / now;
    const b = (reference[bin] || 0.5) / all;
    index += (a - b) * Math.log(a / b);
  }
  return index;
}

export function stabilityOf(index: number): Stability {
  if (index >= stabilityBounds.large) return "large";
  return index >= stabilityBounds.moderate ? "moderate" : "stable";
}

/**
 * Bounds between bins with about equally many of the values, ascending and distinct; fewer where values repeat. NaN is
 * ignored. `binOf` reads them.
 */
export function quantileBounds(values: ArrayLike<number>, binCount = 10): number[] {
  const sorted = Float64Array.from(values)
    .filter((value) => !Number.isNaN(value))
    .sort();
  const bounds = Array.from(
    { length: Math.max(0, binCount - 1) },
    (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / binCount)] + 0, // no -0, which JSON has not
  );
  // A bound at the least value would have nothing below it.
  return bounds.filter((bound, i) => bound > sorted[0] && bound !== bounds[i - 1]);
}

/** Counts per bin: below the first bound, ..., from the last bound on, and finally NaN. */
export function binCounts(values: ArrayLike<number>, bounds: ArrayLike<number>): Float64Array {
  const counts = new Float64Array(bounds.length + 2);
  for (let i = 0; i < values.length; i++) counts[binOf(values[i], bounds)]++;
  return counts;
}

/** The bin of a value: the number of bounds that are not above it, and one more than the last for NaN. */
export function binOf(value: number, bounds: ArrayLike<number>): number {
  if (Number.isNaN(value)) return bounds.length + 1;
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bounds[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function total(counts: ArrayLike<number>): number {
  let sum = 0;
  for (let bin = 0; bin < counts.length; bin++) sum += counts[bin];
  return sum;
}
