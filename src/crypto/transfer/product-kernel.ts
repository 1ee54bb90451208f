/**
 * What costs time in products by transfers (iknp-ot.ts). The native addon implements it, and so does the portable
 * kernel in TypeScript, its oracle: all bytes are equal.
 *
 * A column is held in whole blocks: a word for every 32 rows, zeros up to a whole block, and the block of the mask. A
 * matrix, as it is sent, has no such zeros.
 */
import { baseCount } from "./base-ot.ts";
import { transposed } from "./bit-transpose.ts";
import { bytesOf, hashRows, Streams, words, wordsPerBlock } from "./block-cipher.ts";
import { type ColumnHashes, columnHashes, maskWords } from "./matrix-proof.ts";
import { addResidues, negatives } from "./residues.ts";

/** How many words belong to one transfer, and how many of them make one integer. */
export interface Shape {
  readonly width: number;
  readonly limbs: number;
}

/** Rows of a batch whose columns are processed together. */
export interface RowPiece {
  readonly batch: number;
  /** Where their columns begin in the streams. */
  readonly block: number;
  /** The first row's number in the batch. */
  readonly first: number;
  readonly count: number;
}

export interface ReceiverKeys {
  /** Writes the columns of the first keys, and the matrix: both streams of each column with the choices. */
  piece(piece: RowPiece, choices: Uint32Array, columns: Uint32Array, matrix: Uint8Array): void;
}

export interface SenderKeys {
  /** Writes the columns: streams, with the matrix's column where the bit of the secret is set. */
  piece(piece: RowPiece, matrix: Uint8Array, columns: Uint32Array): void;
}

/** Numbers of the sender, and where its messages and shares go. */
export interface Corrected {
  readonly values: Uint32Array;
  readonly corrections: Uint8Array;
  readonly kept: Uint32Array;
}

export interface ProductKernel {
  readonly name: string;
  /** @param pairs both keys of each column */
  receiverKeys(pairs: readonly (readonly [Uint8Array, Uint8Array])[]): ReceiverKeys;
  /** @param secret a bit for each column */
  senderKeys(keys: readonly Uint8Array[], secret: Uint32Array): SenderKeys;
  readonly columnHashes: ColumnHashes;
  /** Writes `width` words of each row's hash. */
  hashes(columns: Uint32Array, piece: RowPiece, width: number, result: Uint32Array): void;
  /**
   * Corrections: values, plus the hash of each row, minus that of the row with the secret. Kept: minus the former hash.
   */
  correct(columns: Uint32Array, piece: RowPiece, secret: Uint32Array, shape: Shape, numbers: Corrected): void;
  /** Adds the corrections of transfers whose bit is 1 to the shares. */
  addChosen(bits: Uint8Array, shape: Shape, corrections: Uint8Array, shares: Uint32Array): void;
}

/** Words of a held column. */
export function heldWords(count: number): number {
  return wordsPerBlock * Math.ceil(count / (32 * wordsPerBlock)) + maskWords;
}

/** Words of a column in a matrix. */
export function sentWords(count: number): number {
  return Math.ceil(count / 32) + maskWords;
}

/** Sent columns as held ones. */
function held(sent: Uint32Array, count: number): Uint32Array {
  return resized(sent, sentWords(count), heldWords(count));
}

/** Held columns as they are sent. */
function packed(columns: Uint32Array, count: number): Uint32Array {
  return resized(columns, heldWords(count), sentWords(count));
}

/** Columns of another number of words: masks stay last, and zeros before them are added or left out. */
function resized(columns: Uint32Array, from: number, to: number): Uint32Array {
  const own = Math.min(from, to) - maskWords;
  const target = new Uint32Array((columns.length / from) * to);
  for (let at = 0, start = 0; start < columns.length; start += from, at += to) {
    target.set(columns.subarray(start, start + own), at);
    target.set(columns.subarray(start + from - maskWords, start + from), at + to - maskWords);
  }
  return target;
}

function rowsOf(columns: Uint32Array, count: number): Uint32Array {
  return transposed(columns, heldWords(count), 0, heldWords(count) - maskWords).subarray(0, wordsPerBlock * count);
}

export const portableProducts: ProductKernel = {
  name: "portable",

  receiverKeys(pairs) {
    const [low, high] = [0, 1].map((side) => new Streams(pairs.map((pair) => pair[side])));
    return {
      piece(piece, choices, columns, matrix) {
        const own = held(low.columns(piece, sentWords(piece.count)), piece.count);
        const sent = held(high.columns(piece, sentWords(piece.count)), piece.count);
        for (let at = 0; at < own.length; at++) sent[at] ^= own[at] ^ choices[at % choices.length];
        columns.set(own);
        matrix.set(bytesOf(packed(sent, piece.count)));
      },
    };
  },

  senderKeys(keys, secret) {
    const streams = new Streams(keys);
    return {
      piece(piece, matrix, columns) {
        const sent = held(words(matrix), piece.count);
        columns.set(held(streams.columns(piece, sentWords(piece.count)), piece.count));
        const stride = heldWords(piece.count);
        for (let j = 0, at = 0; j < baseCount; j++) {
          const mask = -((secret[j >>> 5] >>> (j & 31)) & 1);
          for (let w = 0; w < stride; w++, at++) columns[at] ^= sent[at] & mask;
        }
      },
    };
  },

  columnHashes,

  hashes(columns, { batch, first, count }, width, result) {
    result.set(hashRows(rowsOf(columns, count), batch, first, width));
  },

  correct(columns, { batch, first, count }, secret, { width, limbs }, { values, corrections, kept }) {
    const rows = rowsOf(columns, count);
    const own = hashRows(rows, batch, first, width);
    for (let i = 0; i < rows.length; i++) rows[i] ^= secret[i & 3];
    const corrected = values.slice();
    addResidues(corrected, own, limbs);
    addResidues(corrected, hashRows(rows, batch, first, width), limbs, -1);
    corrections.set(bytesOf(corrected));
    kept.set(negatives(own, limbs));
  },

  addChosen(bits, { width, limbs }, corrections, shares) {
    const given = words(corrections);
    // By arithmetic, without a branch on the bits.
    for (let i = 0; i < bits.length; i++) {
      const mask = -bits[i];
      for (let w = i * width; w < (i + 1) * width; w++) given[w] &= mask;
    }
    addResidues(shares, given, limbs);
  },
};
