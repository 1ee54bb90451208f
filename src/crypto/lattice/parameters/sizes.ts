/** Sizes of messages and memory of the lattice scheme per passive party: formulas for estimates. */
import { type LatticeSet, wordBytes } from "./sets.ts";

/** A node message: the mask row and all rows, regardless of the node's members. */
export function nodeBytesUp(set: LatticeSet, rowCount: number): number {
  return set.recordBytes * (rowCount + set.degree);
}

/** An answer: a word per candidate and group. */
export function nodeBytesDown(set: LatticeSet, candidateCount: number): number {
  return wordBytes(set) * set.groups * candidateCount;
}

/** All hints of a party, once per attempt. */
export function hintBytes(set: LatticeSet, candidateCount: number): number {
  return wordBytes(set) * set.degree * candidateCount;
}

/** Hints as numbers of 64 bits, and the public rows. */
export function activeMemoryBytes(set: LatticeSet, rowCount: number, candidateCount: number): number {
  const numbersPerWord = Math.ceil(set.wordBits / 64);
  return 8 * numbersPerWord * set.degree * candidateCount + publicRowBytes(set, rowCount);
}

/** Bins row by row and the secrets of hints; at set-up the public rows too. */
export function passiveMemoryBytes(
  set: LatticeSet,
  rowCount: number,
  featureCount: number,
  candidateCount: number,
): number {
  return rowCount * featureCount + (set.degree * candidateCount) / 4 + publicRowBytes(set, rowCount);
}

/** A residue per prime, for every row and the mask row. */
function publicRowBytes(set: LatticeSet, rowCount: number): number {
  return 8 * set.primes.length * (rowCount + set.degree);
}

/** Records of about `chunkBytes`: whole blocks if one fits, since a block is computed as a unit. */
export function recordsPerChunk(set: LatticeSet, chunkBytes: number): number {
  const records = Math.max(1, Math.floor(chunkBytes / set.recordBytes));
  return records < set.degree ? records : records - (records % set.degree);
}
