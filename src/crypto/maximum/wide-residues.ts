/**
 * Vectors of residues modulo 2^width, width at most 128: four words each, the lowest first. No branch and no address
 * depends on a value.
 */
import { addResidues } from "../transfer/residues.ts";
import type { Residues } from "./maximum.ts";

export const wordsEach = 4;
const digitsEach = 2 * wordsEach;

export function zeros(count: number): Residues {
  return new Uint32Array(wordsEach * count);
}

export function countOf(vector: Residues): number {
  return vector.length / wordsEach;
}

/** The same integer `count` times. */
export function constants(value: bigint, count: number): Residues {
  return residuesOf(Array<bigint>(count).fill(value));
}

export function residuesOf(values: readonly bigint[]): Residues {
  const vector = zeros(values.length);
  values.forEach((value, i) => {
    for (let w = 0; w < wordsEach; w++) vector[wordsEach * i + w] = Number((value >> BigInt(32 * w)) & 0xffffffffn);
  });
  return vector;
}

export function integerAt(vector: Residues, index: number): bigint {
  let value = 0n;
  for (let w = wordsEach - 1; w >= 0; w--) value = (value << 32n) | BigInt(vector[wordsEach * index + w]);
  return value;
}

/** In place: modulo 2^width. */
export function reduce(vector: Residues, width: number): Residues {
  const masks = wordMasks(width);
  for (let i = 0; i < vector.length; i++) vector[i] &= masks[i & 3];
  return vector;
}

const masksOfWidths = Array.from({ length: 32 * wordsEach + 1 }, (_, width) =>
  Uint32Array.from({ length: wordsEach }, (_word, w) => 2 ** Math.min(Math.max(width - 32 * w, 0), 32) - 1),
);

/** Per word the bits below 2^width. */
export function wordMasks(width: number): Uint32Array {
  return masksOfWidths[width];
}

export function plus(a: Residues, b: Residues, width: number): Residues {
  const sum = a.slice();
  addResidues(sum, b, wordsEach);
  return reduce(sum, width);
}

export function minus(a: Residues, b: Residues, width: number): Residues {
  const difference = a.slice();
  addResidues(difference, b, wordsEach, -1);
  return reduce(difference, width);
}

export function times(a: Residues, b: Residues, width: number): Residues {
  const product = new Uint32Array(a.length);
  const [x, y, z] = [a, b, product].map((v) => new Uint16Array(v.buffer, v.byteOffset, 2 * v.length));
  for (let i = 0; i < x.length; i += digitsEach) {
    let carry = 0;
    for (let column = 0; column < digitsEach; column++) {
      for (let k = 0; k <= column; k++) carry += x[i + k] * y[i + column - k];
      z[i + column] = carry; // below 2^36: a double holds it, and its low bits are stored
      carry = Math.floor(carry / 65536);
    }
  }
  return reduce(product, width);
}

/** floor(a / 2^shift) */
export function shiftedRight(a: Residues, shift: number): Residues {
  const result = new Uint32Array(a.length);
  const [skipped, bits] = [shift >>> 5, shift & 31];
  for (let i = 0; i < a.length; i += wordsEach) {
    for (let w = 0; w + skipped < wordsEach; w++) {
      const high = w + skipped + 1 < wordsEach ? a[i + w + skipped + 1] : 0;
      result[i + w] = bits === 0 ? a[i + w + skipped] : (a[i + w + skipped] >>> bits) | (high << (32 - bits));
    }
  }
  return result;
}

export function shiftedLeft(a: Residues, shift: number, width: number): Residues {
  const result = new Uint32Array(a.length);
  const [skipped, bits] = [shift >>> 5, shift & 31];
  for (let i = 0; i < a.length; i += wordsEach) {
    for (let w = wordsEach - 1; w >= skipped; w--) {
      const low = w > skipped ? a[i + w - skipped - 1] : 0;
      result[i + w] = bits === 0 ? a[i + w - skipped] : (a[i + w - skipped] << bits) | (low >>> (32 - bits));
    }
  }
  return reduce(result, width);
}

/** The elements at these places. */
export function gathered(a: Residues, places: Uint32Array): Residues {
  const result = zeros(places.length);
  for (let i = 0; i < places.length; i++)
    for (let w = 0; w < wordsEach; w++) result[wordsEach * i + w] = a[wordsEach * places[i] + w];
  return result;
}

/** One bit of each, 0 or 1. */
export function bitsAt(a: Residues, bit: number): Uint8Array {
  const [word, shift] = [bit >>> 5, bit & 31];
  const bits = new Uint8Array(countOf(a));
  for (let i = 0; i < bits.length; i++) bits[i] = (a[wordsEach * i + word] >>> shift) & 1;
  return bits;
}

/** Each times its bit. */
export function timesBits(a: Residues, bits: Uint8Array): Residues {
  const result = new Uint32Array(a.length);
  for (let i = 0; i < a.length; i++) result[i] = a[i] & -bits[i >>> 2];
  return result;
}

/** Each as it is where the bit is 0, its negative where it is 1. */
export function negatedWhere(a: Residues, bits: Uint8Array, width: number): Residues {
  const result = new Uint32Array(a.length);
  for (let i = 0; i < a.length; i += wordsEach) {
    const bit = bits[i >>> 2];
    let carry = bit;
    for (let w = i; w < i + wordsEach; w++) {
      const sum = ((a[w] ^ -bit) >>> 0) + carry;
      result[w] = sum;
      carry = sum > 0xffffffff ? 1 : 0;
    }
  }
  return reduce(result, width);
}

/** Vectors one after the other. */
export function joined(vectors: readonly Residues[]): Residues {
  const all = new Uint32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) {
    all.set(vector, at);
    at += vector.length;
  }
  return all;
}

export function part(vector: Residues, from: number, to: number): Residues {
  return vector.subarray(wordsEach * from, wordsEach * to);
}

/** From bits: 0 or 1 each. */
export function residuesOfBits(bits: Uint8Array): Residues {
  const vector = zeros(bits.length);
  for (let i = 0; i < bits.length; i++) vector[wordsEach * i] = bits[i];
  return vector;
}
