/**
 * Some of another party's bits, without saying which: one-sided transfers by the extension of Ishai, Kilian, Nissim and
 * Petrank (2003), as in extension.ts.
 *
 *   sender, bits y                                         receiver, choices m
 *     secret s of 128 bits, key_j,s_j     (base transfers)    keys key_j0, key_j1
 *                                        <-- matrix --       u_j = G(key_j0) xor G(key_j1) xor m;  row t_i of G(key_j0)
 *     row q_i of G(key_j,s_j) xor s_j u_j,  which is t_i xor m_i s
 *     z_i = y_i xor H(q_i xor s)         -- masked -->       where m_i is 1: t_i is q_i xor s, so y_i = z_i xor H(t_i)
 *
 * Where m_i is 0 the receiver has q_i, and lacks H(q_i xor s) since it does not know s: z_i is a random bit to it. The
 * sender sees the choices under streams that it lacks one key of, however it deviates.
 *
 * A receiver that deviates is not held off: its columns may say different things of one row, and answers to such rows
 * tell it bits of s. Who knows s has all bits y. Whoever may choose freely anyway, and so have them all by honest
 * choices, gains nothing by that. So there is no check of consistency, and this must not be used where choices matter.
 *
 * Rows are worked on and sent in pieces: what is in memory does not grow with their number, but for a bit of each.
 */
import { TandemError } from "../../base/error.ts";
import { baseCount, type ChosenKeys, type KeyPairs } from "./base-transfer.ts";
import { rowsOf } from "./bit-matrix.ts";
import { bytesOf, hashRows, Streams, words } from "./block-cipher.ts";
import { matrixBytes, SingleUse } from "./extension.ts";

/** Rows of a piece: a matrix of half a megabyte. */
export const pieceRows = 1 << 15;
/** Each column takes the blocks of its stream one after the other. */
const rowsPerBlock = 128;

/** How many pieces the matrix of so many rows has. */
export function pieceCount(rowCount: number): number {
  return Math.ceil(rowCount / pieceRows);
}

export class BitReceiver {
  readonly #streams: readonly [Streams, Streams];
  readonly #batches = new SingleUse();

  constructor(pairs: KeyPairs) {
    this.#streams = [new Streams(pairs.map(([key]) => key)), new Streams(pairs.map(([, key]) => key))];
  }

  /**
   * @param choices bitmap over the rows
   * @throws TandemError PROTOCOL_STATE if the batch is not new
   */
  choose(batch: number, choices: Uint8Array, rowCount: number): ChosenBits {
    this.#batches.take(batch);
    return new ChosenBits(this.#streams, batch, paddedWords(choices, rowCount), rowCount);
  }
}

/** A receiver's batch: pieces of the matrix go out, then the masked bits come back. */
export class ChosenBits {
  readonly #streams: readonly [Streams, Streams];
  readonly #batch: number;
  readonly #choices: Uint32Array;
  readonly #rowCount: number;
  /** A bit per row, of those that went out. */
  readonly #pads: Uint32Array;
  #next = 0;

  constructor(streams: readonly [Streams, Streams], batch: number, choices: Uint32Array, rowCount: number) {
    this.#streams = streams;
    this.#batch = batch;
    this.#choices = choices;
    this.#rowCount = rowCount;
    this.#pads = new Uint32Array(choices.length);
  }

  /** The next piece of the matrix; null after the last. */
  piece(): Uint8Array | null {
    const first = this.#next;
    if (first >= this.#rowCount) return null;
    const { end, wordCount, place } = pieceAt(this.#batch, first, this.#rowCount);
    this.#next = end;
    const [columns, others] = this.#streams.map((streams) => streams.columns(place, wordCount));
    const matrix = new Uint32Array(columns.length);
    const choices = this.#choices.subarray(first / 32);
    for (let j = 0, at = 0; j < baseCount; j++)
      for (let w = 0; w < wordCount; w++, at++) matrix[at] = columns[at] ^ others[at] ^ choices[w];
    this.#pads.set(hashedBits(rowsOf(columns, wordCount), this.#batch, first), first / 32);
    return bytesOf(matrix);
  }

  /**
   * A bitmap over the rows: the bits of those that were chosen, and zeros.
   * @throws TandemError PROTOCOL_STATE if there are masked bits of another number of rows, or pieces are left
   */
  finish(masked: Uint8Array): Uint8Array {
    if (this.#next < this.#rowCount) throw new TandemError("PROTOCOL_STATE", "masked bits before the choices are out");
    checkBytes("row of masked bits", masked, Math.ceil(this.#rowCount / 8));
    const bits = paddedWords(masked, this.#rowCount);
    for (let w = 0; w < bits.length; w++) bits[w] = (bits[w] ^ this.#pads[w]) & this.#choices[w];
    return bytesOf(bits).slice(0, masked.length);
  }
}

export class BitSender {
  readonly #secret: Uint32Array;
  readonly #streams: Streams;
  readonly #batches = new SingleUse();

  constructor({ choices, keys }: Pick<ChosenKeys, "choices" | "keys">) {
    this.#secret = words(choices);
    this.#streams = new Streams(keys);
  }

  /**
   * @param bits bitmap over the rows
   * @throws TandemError PROTOCOL_STATE if the batch is not new
   */
  mask(batch: number, bits: Uint8Array, rowCount: number): MaskedBits {
    this.#batches.take(batch);
    return new MaskedBits(this.#streams, this.#secret, batch, paddedWords(bits, rowCount), rowCount);
  }
}

/** A sender's batch: pieces of the matrix come, then the masked bits are there. */
export class MaskedBits {
  readonly #streams: Streams;
  readonly #secret: Uint32Array;
  readonly #batch: number;
  readonly #bits: Uint32Array;
  readonly #rowCount: number;
  #next = 0;

  constructor(streams: Streams, secret: Uint32Array, batch: number, bits: Uint32Array, rowCount: number) {
    this.#streams = streams;
    this.#secret = secret;
    this.#batch = batch;
    this.#bits = bits;
    this.#rowCount = rowCount;
  }

  /** @throws TandemError PROTOCOL_STATE if it is not the next piece */
  add(piece: Uint8Array): void {
    const first = this.#next;
    const { end, wordCount, place } = pieceAt(this.#batch, first, this.#rowCount);
    checkBytes("piece of a matrix", piece, matrixBytes(end - first));
    this.#next = end;
    const sent = words(piece);
    const columns = this.#streams.columns(place, wordCount);
    for (let j = 0; j < baseCount; j++) {
      const mask = -((this.#secret[j >>> 5] >>> (j & 31)) & 1);
      for (let w = j * wordCount; w < (j + 1) * wordCount; w++) columns[w] ^= sent[w] & mask;
    }
    const rows = rowsOf(columns, wordCount);
    const [a, b, c, d] = this.#secret;
    for (let i = 0; i < rows.length; i += 4) {
      rows[i] ^= a;
      rows[i + 1] ^= b;
      rows[i + 2] ^= c;
      rows[i + 3] ^= d;
    }
    const pads = hashedBits(rows, this.#batch, first);
    for (let w = 0; w < pads.length; w++) this.#bits[first / 32 + w] ^= pads[w];
  }

  /** A bitmap over the rows. @throws TandemError PROTOCOL_STATE if pieces are missing */
  masked(): Uint8Array {
    if (this.#next < this.#rowCount) throw new TandemError("PROTOCOL_STATE", "a matrix that is cut off");
    const bitmap = bytesOf(this.#bits).slice(0, Math.ceil(this.#rowCount / 8));
    const rest = this.#rowCount % 8;
    if (rest > 0) bitmap[bitmap.length - 1] &= (1 << rest) - 1;
    return bitmap;
  }
}

function pieceAt(
  batch: number,
  first: number,
  rowCount: number,
): { readonly end: number; readonly wordCount: number; readonly place: { batch: number; block: number } } {
  const end = Math.min(first + pieceRows, rowCount);
  return { end, wordCount: Math.ceil((end - first) / 32), place: { batch, block: first / rowsPerBlock } };
}

/** One bit of each row's hash, 32 of them in a word. */
function hashedBits(rows: Uint32Array, batch: number, first: number): Uint32Array {
  const hashes = hashRows(rows, batch, first, 1);
  const bits = new Uint32Array(hashes.length / 32);
  for (let w = 0, at = 0; w < bits.length; w++) {
    let word = 0;
    for (let bit = 0; bit < 32; bit++, at++) word |= (hashes[at] & 1) << bit;
    bits[w] = word;
  }
  return bits;
}

/** A copy of a bitmap as whole words. */
function paddedWords(bitmap: Uint8Array, rowCount: number): Uint32Array {
  checkBytes("bitmap", bitmap, Math.ceil(rowCount / 8));
  const padded = new Uint32Array(Math.ceil(rowCount / 32));
  bytesOf(padded).set(bitmap);
  return padded;
}

function checkBytes(what: string, { length }: Uint8Array, expected: number): void {
  if (length !== expected)
    throw new TandemError("PROTOCOL_STATE", `a ${what} of ${length} bytes; ${expected} were expected`);
}
