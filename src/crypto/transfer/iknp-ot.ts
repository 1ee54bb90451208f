/**
 * Products of a vector with another party's bits, as shares: correlated OT by the extension of Ishai, Kilian, Nissim
 * and Petrank (IKNP, 2003), with a consistency check of the matrix (matrix-proof.ts).
 *
 *   sender, values v                                       receiver, bits b
 *     secret s of 128 bits, key_j,s_j     (base transfers)    keys key_j0, key_j1
 *                                        <-- matrix --       u_j = G(key_j0) xor G(key_j1) xor b;  row t_i of G(key_j0)
 *     row q_i of G(key_j,s_j) xor s_j u_j,  which is t_i xor b_i s
 *     r_i = H(q_i),  d_i = r_i - H(q_i xor s) + v_i
 *                                        -- corrections -->   H(t_i) + b_i d_i,  which is r_i + b_i v_i
 *     keeps -r_i
 *
 * The two results are shares of b_i v_i modulo 2^(32 limbs); the receiver's is uniform whatever v is, the sender's
 * whatever b is. The bits are masked by a stream of which the sender lacks one key. The receiver lacks H(q_i xor s) or
 * H(q_i), since it does not know s. Both streams and hashes are AES (block-cipher.ts).
 *
 * What a malicious party gains:
 *
 * - A receiver that puts other bits in some columns must guess the sender's secret there. It passes with a probability
 *   of 2^-t and then knows t of 128 bits; to read a value it still has to search 2^(128 - t) secrets. A wrong guess
 *   closes the session before corrections are sent.
 * - A sender learns nothing about the bits, since it lacks one key of each pair. Its corrections may be any numbers:
 *   the shares then add up to b_i times a number of its choice, plus another. The receiver cannot notice.
 *
 * A batch number is used once per pair: two matrices from the same streams would show where their bits differ. Work is
 * done in slices of the event loop.
 */
import { TandemError } from "../../base/error.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { baseCount, type BaseReceiverKeys, type BaseSenderKeys } from "./base-ot.ts";
import { transposed } from "./bit-transpose.ts";
import { bytesOf, hashRows, Streams, words, wordsPerBlock } from "./block-cipher.ts";
import {
  type ColumnHashes,
  columnHashes,
  MatrixChecks,
  maskWords,
  proofBytes,
  proofOf,
  withMask,
} from "./matrix-proof.ts";
import { addResidues, negatives } from "./residues.ts";

/** Transfers per slice. */
const chunkCount = 1 << 13;
/** Of a stream: those of a chunk, and of the mask of its choices. */
const chunkBlocks = (chunkCount / 32 + maskWords) / wordsPerBlock;
const chunkBytes = columnBytes(chunkCount) + proofBytes;
/** Batch numbers that are remembered one by one; older ones are all refused. */
const batchesRemembered = 1024;

/** The arithmetic of a matrix: the portable one is the oracle of others. */
export interface MatrixKernel {
  readonly columnHashes: ColumnHashes;
  /** Rows of four words from columns, without the mask at their ends. */
  rows(columns: Uint32Array, wordCount: number): Uint32Array;
}

export const portableMatrices: MatrixKernel = {
  columnHashes,
  rows: (columns, wordCount) => transposed(columns, wordCount, 0, wordCount - maskWords),
};

/** How many words belong to one transfer, and how many of them make one integer. */
export interface Shape {
  readonly width: number;
  readonly limbs: number;
}

/** Bytes of a matrix per transfer, apart from up to matrixBytes(1) for the last of them. */
export const transferBytes = chunkBytes / chunkCount;

/** Bytes of the matrix for a number of transfers. */
export function matrixBytes(count: number): number {
  const rest = count % chunkCount;
  return Math.floor(count / chunkCount) * chunkBytes + (rest === 0 ? 0 : columnBytes(rest) + proofBytes);
}

function columnBytes(count: number): number {
  return baseCount * 4 * (Math.ceil(count / 32) + maskWords);
}

/** Numbers that may be used once each. */
export class SingleUse {
  readonly #used = new Set<number>();
  #floor = 0;

  /** @throws TandemError PROTOCOL_STATE if it was used before, or is too old to be remembered */
  take(batch: number): void {
    if (!Number.isSafeInteger(batch) || batch <= this.#floor || this.#used.has(batch))
      throw new TandemError("PROTOCOL_STATE", "batch number was used before");
    this.#used.add(batch);
    if (this.#used.size <= batchesRemembered) return;
    this.#floor = Math.min(...this.#used);
    this.#used.delete(this.#floor);
  }
}

export class TransferSender {
  readonly #secret: Uint32Array;
  readonly #streams: Streams;
  readonly #batches = new SingleUse();
  readonly #checks: MatrixChecks;
  readonly #kernel: MatrixKernel;

  constructor({ choices, keys }: Pick<BaseReceiverKeys, "choices" | "keys">, kernel: MatrixKernel = portableMatrices) {
    this.#secret = words(choices);
    this.#kernel = kernel;
    this.#checks = new MatrixChecks(this.#secret, kernel.columnHashes);
    this.#streams = new Streams(keys);
  }

  /**
   * @param values integers of `shape`, those of a transfer side by side
   * @throws TandemError PROTOCOL_STATE if the matrix does not fit the number of transfers, the batch is not new, or a
   * matrix of this session is inconsistent
   */
  async multiply(
    batch: number,
    values: Uint32Array,
    matrix: Uint8Array,
    { width, limbs }: Shape,
  ): Promise<{ readonly kept: Uint32Array; readonly corrections: Uint8Array }> {
    const count = values.length / width;
    if (matrix.length !== matrixBytes(count)) throw wrongLength("matrix", matrix, matrixBytes(count));
    this.#checks.requireOpen();
    this.#batches.take(batch);
    const kept = new Uint32Array(values.length);
    const corrections = values.slice();
    for (const { first, end, columnWords, block, from, to } of chunksOf(count)) {
      const columns = this.#streams.columns({ batch, block }, columnWords);
      const sent = words(matrix.subarray(from, to));
      for (let j = 0; j < baseCount; j++) {
        if (((this.#secret[j >>> 5] >>> (j & 31)) & 1) === 0) continue;
        for (let w = j * columnWords; w < (j + 1) * columnWords; w++) columns[w] ^= sent[w];
      }
      const proof = matrix.subarray(to, to + proofBytes);
      this.#checks.check({ batch, first }, matrix.subarray(from, to), proof, columns);
      const rows = this.#kernel.rows(columns, columnWords).subarray(0, 4 * (end - first));
      const own = hashRows(rows, batch, first, width);
      for (let i = 0; i < rows.length; i++) rows[i] ^= this.#secret[i & 3];
      const other = hashRows(rows, batch, first, width);
      const part = corrections.subarray(first * width, end * width);
      addResidues(part, own, limbs);
      addResidues(part, other, limbs, -1);
      kept.set(negatives(own, limbs), first * width);
      if (isSliceOver()) await nextSlice();
    }
    return { kept, corrections: bytesOf(corrections) };
  }
}

export class TransferReceiver {
  readonly #streams: readonly [Streams, Streams];
  readonly #batches = new SingleUse();
  readonly #kernel: MatrixKernel;

  constructor(pairs: BaseSenderKeys, kernel: MatrixKernel = portableMatrices) {
    this.#kernel = kernel;
    this.#streams = [new Streams(pairs.map(([key]) => key)), new Streams(pairs.map(([, key]) => key))];
  }

  /**
   * @param bits one byte per transfer, 0 or 1
   * @throws TandemError PROTOCOL_STATE if the batch is not new
   */
  async begin(batch: number, bits: Uint8Array, { width, limbs }: Shape): Promise<PendingTransfer> {
    this.#batches.take(batch);
    const count = bits.length;
    const matrix = new Uint8Array(matrixBytes(count));
    const shares = new Uint32Array(count * width);
    for (const { first, end, wordCount, columnWords, block, from, to } of chunksOf(count)) {
      const [columns, sent] = this.#streams.map((streams) => streams.columns({ batch, block }, columnWords));
      const packed = new Uint32Array(wordCount);
      for (let i = first; i < end; i++) packed[(i - first) >>> 5] |= bits[i] << (i & 31);
      const choices = withMask(packed);
      for (let j = 0, at = 0; j < baseCount; j++)
        for (let w = 0; w < columnWords; w++, at++) sent[at] ^= columns[at] ^ choices[w];
      matrix.set(bytesOf(sent), from);
      matrix.set(proofOf({ batch, first }, bytesOf(sent), choices, columns, this.#kernel.columnHashes), to);
      const rows = this.#kernel.rows(columns, columnWords).subarray(0, 4 * (end - first));
      shares.set(hashRows(rows, batch, first, width), first * width);
      if (isSliceOver()) await nextSlice();
    }
    return new PendingTransfer(matrix, bits, shares, { width, limbs });
  }
}

/** A receiver's batch whose corrections are yet to come. */
export class PendingTransfer {
  /** For the sender. */
  readonly matrix: Uint8Array;
  readonly #bits: Uint8Array;
  readonly #shape: Shape;
  #shares: Uint32Array | null;

  constructor(matrix: Uint8Array, bits: Uint8Array, shares: Uint32Array, shape: Shape) {
    this.matrix = matrix;
    this.#bits = bits;
    this.#shares = shares;
    this.#shape = shape;
  }

  /**
   * The receiver's shares of the products; once.
   * @throws TandemError PROTOCOL_STATE if the number of corrections is wrong, or they were received before
   */
  finish(corrections: Uint8Array): Uint32Array {
    const shares = this.#shares;
    if (shares === null) throw new TandemError("PROTOCOL_STATE", "corrections were received before");
    if (corrections.length !== shares.byteLength)
      throw wrongLength("row of corrections", corrections, shares.byteLength);
    this.#shares = null;
    const { width, limbs } = this.#shape;
    const given = words(corrections);
    // By arithmetic, without a branch on the bits.
    for (let i = 0; i < this.#bits.length; i++) {
      const mask = -this.#bits[i];
      for (let w = i * width; w < (i + 1) * width; w++) given[w] &= mask;
    }
    addResidues(shares, given, limbs);
    return shares;
  }
}

/** Transfers `first` to `end`: their place in streams, and where their columns are in the matrix. */
interface Chunk {
  readonly first: number;
  readonly end: number;
  readonly wordCount: number;
  /** With the mask. */
  readonly columnWords: number;
  readonly block: number;
  readonly from: number;
  readonly to: number;
}

function* chunksOf(count: number): Generator<Chunk> {
  for (let first = 0, block = 0, from = 0; first < count; first += chunkCount, block += chunkBlocks) {
    const end = Math.min(first + chunkCount, count);
    const wordCount = Math.ceil((end - first) / 32);
    const to = from + columnBytes(end - first);
    yield { first, end, wordCount, columnWords: wordCount + maskWords, block, from, to };
    from = to + proofBytes;
  }
}

function wrongLength(what: string, { length }: Uint8Array, expected: number): TandemError {
  return new TandemError("PROTOCOL_STATE", `a ${what} of ${length} bytes; ${expected} were expected`);
}
