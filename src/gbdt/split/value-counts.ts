/**
 * Exact order statistics of float32 values by counting, without sorting or copying. The 32 bits of a value, mapped so
 * that they ascend with it, are divided into two halves. A first pass counts upper halves; a second one counts the
 * lower halves of the values near a wanted rank. Counts of parts of a column add up, so the number of parts does not
 * matter.
 */
import { assert } from "../../base/assert.ts";

export const halfCount = 1 << 16;
const sign = -0x8000_0000;

/** Ascends with the value, as an unsigned number; -0 is 0. */
export function toSortKey(bits: number): number {
  return (bits >= 0 || bits === sign ? bits | sign : ~bits) >>> 0;
}

const oneBits = new Int32Array(1);
const oneValue = new Float32Array(oneBits.buffer);

export function fromSortKey(key: number): number {
  oneBits[0] = key >>> 31 === 1 ? key ^ sign : ~key;
  return oneValue[0];
}

/** The first pass. */
export class UpperCounts {
  readonly counts = new Uint32Array(halfCount);
  rowCount = 0;
  /** Rows that have a value. */
  presentCount = 0;
  /** The smallest and the largest value, and how many rows have it. */
  smallest = Infinity;
  smallestCount = 0;
  largest = -Infinity;
  largestCount = 0;

  /** @param values NaN where one is missing, otherwise finite */
  add(values: Float32Array): void {
    const { counts } = this;
    const bits = bitsOf(values);
    let { presentCount, smallest, smallestCount, largest, largestCount } = this;
    for (let i = 0; i < values.length; i++) {
      const x = values[i];
      if (Number.isNaN(x)) continue;
      presentCount++;
      counts[toSortKey(bits[i]) >>> 16]++;
      if (x < smallest) {
        smallest = x;
        smallestCount = 0;
      }
      if (x > largest) {
        largest = x;
        largestCount = 0;
      }
      if (x === smallest) smallestCount++;
      if (x === largest) largestCount++;
    }
    assert(smallest !== -Infinity && largest !== Infinity, "a feature value is infinite");
    Object.assign(this, { presentCount, smallest, smallestCount, largest, largestCount });
    this.rowCount += values.length;
  }
}

/** The second pass: counts by lower half, of the upper halves that are wanted. */
export class LowerCounts {
  /** Per upper half one more than its index among the wanted ones; 0: not wanted. */
  readonly #places = new Uint16Array(halfCount);
  readonly #counts: Uint32Array;
  /** The number of values below all those of an upper half. */
  readonly #below = new Float64Array(halfCount);
  readonly #uppers: readonly number[];

  /** @param uppers the wanted upper halves, ascending */
  constructor(first: UpperCounts, uppers: readonly number[]) {
    this.#uppers = uppers;
    uppers.forEach((upper, i) => (this.#places[upper] = i + 1));
    this.#counts = new Uint32Array(uppers.length * halfCount);
    for (let upper = 1; upper < halfCount; upper++)
      this.#below[upper] = this.#below[upper - 1] + first.counts[upper - 1];
  }

  add(values: Float32Array): void {
    const bits = bitsOf(values);
    for (let i = 0; i < values.length; i++) {
      if (Number.isNaN(values[i])) continue;
      const key = toSortKey(bits[i]);
      const place = this.#places[key >>> 16];
      if (place !== 0) this.#counts[(place - 1) * halfCount + (key & 0xffff)]++;
    }
  }

  /** The distinct values of the wanted upper halves, ascending. */
  *distinct(): Generator<number> {
    for (const [i, upper] of this.#uppers.entries())
      for (let lower = 0; lower < halfCount; lower++)
        if (this.#counts[i * halfCount + lower] > 0) yield fromSortKey(upper * halfCount + lower);
  }

  /** The values at these positions of the sorted column. @param places ascending, counted from 0, within wanted
   * halves */
  *at(places: readonly number[]): Generator<number> {
    let next = 0;
    for (const [i, upper] of this.#uppers.entries()) {
      let seen = this.#below[upper];
      for (let lower = 0; lower < halfCount && next < places.length; lower++) {
        seen += this.#counts[i * halfCount + lower];
        for (; next < places.length && places[next] < seen; next++) yield fromSortKey(upper * halfCount + lower);
      }
    }
    assert(next === places.length, "every wanted place is in a wanted half");
  }
}

/** The upper halves that hold these positions of the sorted column. @param places ascending, below `presentCount` */
export function upperBounds({ counts }: UpperCounts, places: readonly number[]): number[] {
  const uppers: number[] = [];
  let next = 0;
  let seen = 0;
  for (let upper = 0; upper < halfCount && next < places.length; upper++) {
    seen += counts[upper];
    if (places[next] >= seen) continue;
    uppers.push(upper);
    while (next < places.length && places[next] < seen) next++;
  }
  return uppers;
}

function bitsOf(values: Float32Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length);
}
