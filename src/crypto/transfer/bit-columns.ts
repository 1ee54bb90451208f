/** 128 columns from the streams of 32 trees (all-but-one.ts), and one bit of each row's hash. */
import { baseCount } from "./base-ot.ts";
import { transposed } from "./bit-transpose.ts";
import { hashRows } from "./block-cipher.ts";

export const columnCount = baseCount;
const columnsPerTree = 4;
/** Words of a column that are transposed at once, so that the rows stay in the cache. */
const wordsAtOnce = 64;

/**
 * One tree's columns: per position the sum over y of y times the bit of stream y. Also the sum of all streams.
 * @param leaves the streams of y = 1 to 15, one after the other; anything after them is ignored
 */
export function addLeaves(
  leaves: Uint32Array,
  words: number,
  tree: number,
  columns: Uint32Array,
  sums: Uint32Array,
): void {
  const at = (y: number): Uint32Array => leaves.subarray((y - 1) * words, y * words);
  const [a1, a2, a3, a4, a5, a6, a7] = [at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
  const [a8, a9, a10, a11, a12, a13, a14, a15] = [at(8), at(9), at(10), at(11), at(12), at(13), at(14), at(15)];
  const first = columnsPerTree * tree * words;
  for (let w = 0; w < words; w++) {
    const r3 = a3[w];
    const r5 = a5[w];
    const r7 = a7[w];
    const r9 = a9[w];
    const r11 = a11[w];
    const r13 = a13[w];
    const r15 = a15[w];
    // Pairs of neighbours, then of pairs, then of those: each level leaves one bit of y behind.
    const p0 = a1[w];
    const p1 = a2[w] ^ r3;
    const p2 = a4[w] ^ r5;
    const p3 = a6[w] ^ r7;
    const p4 = a8[w] ^ r9;
    const p5 = a10[w] ^ r11;
    const p6 = a12[w] ^ r13;
    const p7 = a14[w] ^ r15;
    const q1 = p2 ^ p3;
    const q3 = p6 ^ p7;
    const high = p4 ^ p5 ^ q3;
    columns[first + w] = p0 ^ r3 ^ r5 ^ r7 ^ r9 ^ r11 ^ r13 ^ r15;
    columns[first + words + w] = p1 ^ p3 ^ p5 ^ p7;
    columns[first + 2 * words + w] = q1 ^ q3;
    columns[first + 3 * words + w] = high;
    sums[w] = p0 ^ p1 ^ q1 ^ high;
  }
}

interface HashedRows {
  readonly batch: number;
  /** The number of the first row. */
  readonly first: number;
  /** Words of each column to hash, from the first on. */
  readonly rowWords: number;
  /** Added to every row before. */
  readonly added?: Uint32Array;
}

/** One bit of each row's hash, 32 of them in a word. */
export function hashedBits(
  columns: Uint32Array,
  words: number,
  { batch, first, rowWords, added }: HashedRows,
): Uint32Array {
  const bits = new Uint32Array(rowWords);
  for (let from = 0; from < rowWords; from += wordsAtOnce) {
    const to = Math.min(from + wordsAtOnce, rowWords);
    const rows = transposed(columns, words, from, to);
    if (added !== undefined) addToEach(rows, added);
    const hashes = hashRows(rows, batch, first + 32 * from, 1);
    for (let w = from, at = 0; w < to; w++) {
      let word = 0;
      for (let bit = 0; bit < 32; bit++, at++) word |= (hashes[at] & 1) << bit;
      bits[w] = word;
    }
  }
  return bits;
}

function addToEach(rows: Uint32Array, [a, b, c, d]: Uint32Array): void {
  for (let i = 0; i < rows.length; i += 4) {
    rows[i] ^= a;
    rows[i + 1] ^= b;
    rows[i + 2] ^= c;
    rows[i + 3] ^= d;
  }
}
