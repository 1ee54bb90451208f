/**
 * Transfers of single bits, of which the receiver gets those that it chooses: Roy's OT extension ("SoftSpokenOT", 2022)
 * over the field of 16 elements. Its matrix is a quarter of that of IKNP (iknp-ot.ts), for more work with AES.
 *
 *   sender, bits y                                         receiver, choices m
 *     lacks leaf D_b of each tree b       (all-but-one.ts)    all leaves, each with a stream r_bx
 *                                                            u_b = sum of r_bx;  v_b = sum of x r_bx, in four columns
 *                                        <-- matrix --       c_b = u_b xor m
 *     w_b = sum of (x xor D_b) r_bx, which is v_b xor D_b u_b
 *     w_b xor D_b c_b,               which is v_b xor D_b m
 *
 * So the sender has a row q_i of 128 bits where the receiver has t_i, and q_i = t_i xor m_i D, with the secret D of all
 * D_b together.
 *
 *     z_i = y_i xor H(q_i xor D)         -- masked -->       where m_i is 1: t_i is q_i xor D, so y_i = z_i xor H(t_i)
 *
 * Where m_i is 0 the receiver has q_i, and lacks H(q_i xor D) since it does not know D: z_i is a random bit to it. The
 * choices are masked by streams, one of which the sender lacks in each tree, even if it is malicious.
 *
 * Each piece of the matrix has a proof that its columns hold the same choices (matrix-proof.ts). A malicious receiver
 * that sends other choices in some columns, or wrong sums of trees, must guess D_b of these trees: with t bits it
 * passes with a probability of 2^-t and then knows t bits of D. A wrong guess closes the session before masked bits are
 * sent. It may choose any number of rows: this must not be used where that number must be limited. A malicious sender
 * may send any bits.
 *
 * Rows are processed and sent in pieces: memory does not grow with their number, except for one bit per row.
 */
import { TandemError } from "../../base/error.ts";
import { leafCount, type PuncturedKeys, secretOf, treeCount } from "./all-but-one.ts";
import { addLeaves, columnCount, hashedBits } from "./bit-columns.ts";
import { bytesOf, Streams, words } from "./block-cipher.ts";
import { SingleUse } from "./iknp-ot.ts";
import { MatrixChecks, maskWords, proofBytes, proofOf, withMask } from "./matrix-proof.ts";

/** Each stream gives its blocks one after the other. */
const rowsPerBlock = 128;
/** Rows of a piece: a matrix of a quarter of a megabyte. Columns a power of two apart would collide in the cache. */
export const pieceRows = 508 * rowsPerBlock;
const pieceBlocks = 509; // and one for the mask of the choices

/** The number of pieces of the matrix. */
export function pieceCount(rowCount: number): number {
  return Math.ceil(rowCount / pieceRows);
}

/** Bytes of a piece: a column per tree, and the proof. */
export function pieceBytes(rowCount: number): number {
  return treeCount * 4 * (Math.ceil(rowCount / 32) + maskWords) + proofBytes;
}

export class BitReceiver {
  /** Per tree the leaves from 1 on, then leaf 0. */
  readonly #trees: readonly Streams[];
  readonly #batches = new SingleUse();

  /** @param leaves of each tree */
  constructor(leaves: readonly (readonly Uint8Array[])[]) {
    this.#trees = leaves.map(([zero, ...others]) => new Streams([...others, zero]));
  }

  /**
   * @param choices bitmap over the rows
   * @throws TandemError PROTOCOL_STATE if the batch is not new
   */
  choose(batch: number, choices: Uint8Array, rowCount: number): ChosenBits {
    this.#batches.take(batch);
    return new ChosenBits(this.#trees, batch, paddedWords(choices, rowCount), rowCount);
  }
}

/** A receiver's batch: it sends pieces of the matrix, then receives the masked bits. */
export class ChosenBits {
  readonly #trees: readonly Streams[];
  readonly #batch: number;
  readonly #choices: Uint32Array;
  readonly #rowCount: number;
  /** A bit per row of the pieces sent. */
  readonly #pads: Uint32Array;
  #next = 0;

  constructor(trees: readonly Streams[], batch: number, choices: Uint32Array, rowCount: number) {
    this.#trees = trees;
    this.#batch = batch;
    this.#choices = choices;
    this.#rowCount = rowCount;
    this.#pads = new Uint32Array(choices.length);
  }

  /** The next piece of the matrix; null after the last. */
  piece(): Uint8Array | null {
    const first = this.#next;
    if (first >= this.#rowCount) return null;
    const batch = this.#batch;
    const { end, rowWords, wordCount, place } = pieceAt(batch, first, this.#rowCount);
    this.#next = end;
    const choices = withMask(this.#choices.subarray(first / 32, first / 32 + rowWords));
    const columns = new Uint32Array(columnCount * wordCount);
    const matrix = new Uint32Array(treeCount * wordCount);
    for (const [tree, streams] of this.#trees.entries()) {
      const leaves = streams.columns(place, wordCount);
      const zero = leaves.subarray((leafCount - 1) * wordCount);
      const sent = matrix.subarray(tree * wordCount, (tree + 1) * wordCount);
      addLeaves(leaves, wordCount, tree, columns, sent);
      for (let w = 0; w < wordCount; w++) sent[w] ^= zero[w] ^ choices[w];
    }
    this.#pads.set(hashedBits(columns, wordCount, { batch, first, rowWords }), first / 32);
    const piece = new Uint8Array(pieceBytes(end - first));
    piece.set(bytesOf(matrix));
    piece.set(proofOf({ batch, first }, bytesOf(matrix), choices, columns), matrix.byteLength);
    return piece;
  }

  /**
   * A bitmap over the rows: the bits of those that were chosen, and zeros.
   * @throws TandemError PROTOCOL_STATE if the number of masked bits is wrong, or pieces are left to send
   */
  finish(masked: Uint8Array): Uint8Array {
    if (this.#next < this.#rowCount)
      throw new TandemError("PROTOCOL_STATE", "masked bits arrived before all choices were sent");
    checkBytes("row of masked bits", masked, Math.ceil(this.#rowCount / 8));
    const bits = paddedWords(masked, this.#rowCount);
    for (let w = 0; w < bits.length; w++) bits[w] = (bits[w] ^ this.#pads[w]) & this.#choices[w];
    return bytesOf(bits).slice(0, masked.length);
  }
}

export class BitSender {
  /** D, a bit per column. */
  readonly #secret: Uint32Array;
  /** Per tree the streams of x = y xor D_b, for y from 1 on. */
  readonly #trees: readonly Streams[];
  readonly #batches = new SingleUse();
  readonly #checks: MatrixChecks;

  constructor({ missing, leaves }: PuncturedKeys) {
    this.#secret = secretOf(missing);
    this.#checks = new MatrixChecks(this.#secret);
    this.#trees = missing.map((lacked, tree) => {
      const others = Array.from({ length: leafCount - 1 }, (_, i) => leaves[tree][(i + 1) ^ lacked]);
      return new Streams(others.filter((leaf) => leaf !== null));
    });
  }

  /**
   * @param bits bitmap over the rows
   * @throws TandemError PROTOCOL_STATE if the batch is not new, or a matrix of this session was inconsistent
   */
  mask(batch: number, bits: Uint8Array, rowCount: number): MaskedBits {
    this.#checks.requireOpen();
    this.#batches.take(batch);
    const keys = { trees: this.#trees, secret: this.#secret, checks: this.#checks };
    return new MaskedBits(keys, batch, paddedWords(bits, rowCount), rowCount);
  }
}

interface SenderKeys {
  readonly trees: readonly Streams[];
  readonly secret: Uint32Array;
  readonly checks: MatrixChecks;
}

/** A sender's batch: it receives pieces of the matrix, then has the masked bits. */
export class MaskedBits {
  readonly #keys: SenderKeys;
  readonly #batch: number;
  readonly #bits: Uint32Array;
  readonly #rowCount: number;
  #next = 0;

  constructor(keys: SenderKeys, batch: number, bits: Uint32Array, rowCount: number) {
    this.#keys = keys;
    this.#batch = batch;
    this.#bits = bits;
    this.#rowCount = rowCount;
  }

  /** @throws TandemError PROTOCOL_STATE if it is not the next piece, or a matrix of this session is inconsistent */
  add(piece: Uint8Array): void {
    const { trees, secret, checks } = this.#keys;
    const batch = this.#batch;
    const first = this.#next;
    const { end, rowWords, wordCount, place } = pieceAt(batch, first, this.#rowCount);
    checkBytes("piece of a matrix", piece, first < this.#rowCount ? pieceBytes(end - first) : 0);
    if (piece.length === 0) return;
    this.#next = end;
    const matrix = piece.subarray(0, -proofBytes);
    const sent = words(matrix);
    const columns = new Uint32Array(columnCount * wordCount);
    const unused = new Uint32Array(wordCount);
    for (const [tree, streams] of trees.entries())
      addLeaves(streams.columns(place, wordCount), wordCount, tree, columns, unused);
    for (let column = 0; column < columnCount; column++) {
      const mask = -((secret[column >>> 5] >>> (column & 31)) & 1);
      const from = Math.floor(column / (columnCount / treeCount)) * wordCount;
      for (let w = 0, at = column * wordCount; w < wordCount; w++, at++) columns[at] ^= sent[from + w] & mask;
    }
    checks.check({ batch, first }, matrix, piece.subarray(-proofBytes), columns);
    const pads = hashedBits(columns, wordCount, { batch, first, rowWords, added: secret });
    for (let w = 0; w < pads.length; w++) this.#bits[first / 32 + w] ^= pads[w];
  }

  /** A bitmap over the rows. @throws TandemError PROTOCOL_STATE if pieces are missing */
  masked(): Uint8Array {
    if (this.#next < this.#rowCount) throw new TandemError("PROTOCOL_STATE", "the matrix is truncated");
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
): {
  readonly end: number;
  readonly rowWords: number;
  /** With the mask. */
  readonly wordCount: number;
  readonly place: { batch: number; block: number };
} {
  const end = Math.min(first + pieceRows, rowCount);
  const rowWords = Math.ceil((end - first) / 32);
  const block = Math.ceil(first / pieceRows) * pieceBlocks;
  return { end, rowWords, wordCount: rowWords + maskWords, place: { batch, block } };
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
