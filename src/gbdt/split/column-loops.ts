/**
 * The loops over a column that make its bins, natively where that is built (native/data/column-bins.h). The versions in
 * TypeScript are their oracle.
 *
 * Values are counted by keys of 32 bits that ascend with them, divided into 16, 8 and 8 bits.
 */
import { plainAddon } from "../../base/plain-addon.ts";

/** How many values the first bits of a key have, and the others. */
export const upperCount = 1 << 16;
export const lowerCount = 1 << 8;

/** Indices of a range: the number of values, the smallest and the largest, and how many rows have it. */
export const range = { presentCount: 0, smallest: 1, smallestCount: 2, largest: 3, largestCount: 4 } as const;

/** Values are NaN where one is missing, otherwise finite. */
export interface ColumnLoops {
  /** Counts values by the first 16 bits of their keys, and extends the range. */
  countUpper(values: Float32Array, counts: Uint32Array, range: Float64Array): void;
  /**
   * Counts values by the next 8 bits of their keys, or the last 8.
   * @param places per first 16 bits one more than their index among those that are wanted; 0: they are not
   * @param nextPlaces the same per index and next 8 bits, to count by the last 8; empty: to count by the next 8
   * @param counts 256 per index
   */
  countLower(values: Float32Array, places: Uint16Array, nextPlaces: Uint16Array, counts: Uint32Array): void;
  /**
   * Per value the first bin whose threshold is above it; the number of thresholds for NaN, and one more for a value
   * that no threshold is above.
   */
  binValues(values: Float32Array, thresholds: Float32Array, bins: Uint16Array): void;
}

export function columnLoops(): ColumnLoops {
  return plainAddon() ?? portableLoops;
}

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

export const portableLoops: ColumnLoops = {
  countUpper(values, counts, found) {
    const bits = bitsOf(values);
    let [presentCount, smallest, smallestCount, largest, largestCount] = found;
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
    found.set([presentCount, smallest, smallestCount, largest, largestCount]);
  },

  countLower(values, places, nextPlaces, counts) {
    const bits = bitsOf(values);
    for (let i = 0; i < values.length; i++) {
      if (Number.isNaN(values[i])) continue;
      const key = toSortKey(bits[i]);
      let place = places[key >>> 16];
      if (place === 0) continue;
      let next = (key >>> 8) & 0xff;
      if (nextPlaces.length > 0) {
        place = nextPlaces[(place - 1) * lowerCount + next];
        if (place === 0) continue;
        next = key & 0xff;
      }
      counts[(place - 1) * lowerCount + next]++;
    }
  },

  binValues(values, thresholds, bins) {
    const beyond = thresholds[thresholds.length - 1];
    for (let i = 0; i < values.length; i++)
      bins[i] = values[i] >= beyond ? thresholds.length + 1 : binIn(thresholds, values[i]);
  },
};

/** The first bin with x < threshold: binary search, clamped to the last bin; the number of thresholds for NaN. */
export function binIn(thresholds: Float32Array, x: number): number {
  if (Number.isNaN(x)) return thresholds.length;
  let low = 0;
  let high = thresholds.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (x < thresholds[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

function bitsOf(values: Float32Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length);
}
