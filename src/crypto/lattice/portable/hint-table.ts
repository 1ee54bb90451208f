/**
 * Hints at the active party in the portable kernel's format: parts of 28 or 26 bits in 32-bit numbers, so that the
 * inner product of N = 4096 or 8192 parts with -1, 0 and 1 is exact in a double.
 */
import { assert } from "../../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../../base/scheduling/event-loop-slice.ts";
import type { LatticeSet } from "../parameters/sets.ts";
import type { Words } from "./words.ts";

const partsOf = (set: LatticeSet): number => (set.wordBits > 64 ? 4 : 2);
const partBitsOf = (set: LatticeSet): number => set.wordBits / partsOf(set);

/** 64-bit numbers of a word in the table, and of an inner product among the dots. */
export const numbersPerWord = (set: LatticeSet): number => partsOf(set) / 2;

const asParts = (table: BigUint64Array): Uint32Array =>
  new Uint32Array(table.buffer, table.byteOffset, 2 * table.length);

export async function loadWords(
  set: LatticeSet,
  words: Words,
  bytes: Uint8Array,
  firstCandidate: number,
  table: BigUint64Array,
): Promise<void> {
  const parts = partsOf(set);
  const partBits = BigInt(partBitsOf(set));
  const target = asParts(table);
  const count = bytes.length / words.sizeBytes;
  const first = firstCandidate * set.degree;
  assert(Number.isInteger(count / set.degree), "hints of whole candidates");
  assert((first + count) * parts <= target.length, "room for all hints");
  for (let i = 0; i < count; i++) {
    let rest = words.read(bytes, i);
    for (let part = 0; part < parts; part++, rest >>= partBits)
      target[(first + i) * parts + part] = Number(BigInt.asUintN(Number(partBits), rest));
    if (i % 1024 === 1023 && isSliceOver()) await nextSlice();
  }
}

/** <w(G_c), s>, not yet modulo 2^F. */
export function innerProduct(set: LatticeSet, table: BigUint64Array, candidate: number, secret: Int8Array): bigint {
  return set.wordBits > 64
    ? innerProductOfFour(asParts(table), candidate, secret, BigInt(partBitsOf(set)))
    : innerProductOfTwo(asParts(table), candidate, secret, BigInt(partBitsOf(set)));
}

function innerProductOfTwo(table: Uint32Array, candidate: number, secret: Int8Array, partBits: bigint): bigint {
  let [low, high] = [0, 0];
  for (let j = 0, at = candidate * secret.length * 2; j < secret.length; j++, at += 2) {
    low += secret[j] * table[at];
    high += secret[j] * table[at + 1];
  }
  return BigInt(low) + (BigInt(high) << partBits);
}

function innerProductOfFour(table: Uint32Array, candidate: number, secret: Int8Array, partBits: bigint): bigint {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let j = 0, at = candidate * secret.length * 4; j < secret.length; j++, at += 4) {
    a += secret[j] * table[at];
    b += secret[j] * table[at + 1];
    c += secret[j] * table[at + 2];
    d += secret[j] * table[at + 3];
  }
  return [d, c, b, a].reduce((sum, part) => (sum << partBits) + BigInt(part), 0n);
}
