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
import { words, wordsPerBlock } from "./block-cipher.ts";
import { MatrixChecks, maskWords, proofBytes, proofOf, withMask } from "./matrix-proof.ts";
import {
  heldWords,
  portableProducts,
  type ProductKernel,
  type ReceiverKeys,
  type RowPiece,
  type SenderKeys,
  sentWords,
  type Shape,
} from "./product-kernel.ts";

/** Transfers per slice. */
const chunkCount = 1 << 13;
/** Of a stream: those of a chunk, and of the mask of its choices. */
const chunkBlocks = (chunkCount / 32 + maskWords) / wordsPerBlock;
const chunkBytes = columnBytes(chunkCount) + proofBytes;
/** Batch numbers that are remembered one by one; older ones are all refused. */
const batchesRemembered = 1024;

/** Columns of a chunk; used within one slice. */
const scratch = new Uint32Array(baseCount * heldWords(chunkCount));

/** Bytes of a matrix per transfer, apart from up to matrixBytes(1) for the last of them. */
export const transferBytes = chunkBytes / chunkCount;

/** Bytes of the matrix for a number of transfers. */
export function matrixBytes(count: number): number {
  const rest = count % chunkCount;
  return Math.floor(count / chunkCount) * chunkBytes + (rest === 0 ? 0 : columnBytes(rest) + proofBytes);
}

function columnBytes(count: number): number {
  return baseCount * 4 * sentWords(count);
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
  readonly #keys: SenderKeys;
  readonly #batches = new SingleUse();
  readonly #checks: MatrixChecks;
  readonly #kernel: ProductKernel;

  constructor({ choices, keys }: Pick<BaseReceiverKeys, "choices" | "keys">, kernel: ProductKernel = portableProducts) {
    this.#secret = words(choices);
    this.#kernel = kernel;
    this.#checks = new MatrixChecks(this.#secret, kernel.columnHashes);
    this.#keys = kernel.senderKeys(keys, this.#secret);
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
    shape: Shape,
  ): Promise<{ readonly kept: Uint32Array; readonly corrections: Uint8Array }> {
    const { width } = shape;
    const count = values.length / width;
    if (matrix.length !== matrixBytes(count)) throw wrongLength("matrix", matrix, matrixBytes(count));
    this.#checks.requireOpen();
    this.#batches.take(batch);
    const kept = new Uint32Array(values.length);
    const corrections = new Uint8Array(values.byteLength);
    for (const { piece, from, to } of chunksOf(batch, count)) {
      const [first, end] = [piece.first * width, (piece.first + piece.count) * width];
      const columns = scratch.subarray(0, baseCount * heldWords(piece.count));
      const sent = matrix.subarray(from, to);
      this.#keys.piece(piece, sent, columns);
      this.#checks.check(piece, sent, matrix.subarray(to, to + proofBytes), columns);
      this.#kernel.correct(columns, piece, this.#secret, shape, {
        values: values.subarray(first, end),
        corrections: corrections.subarray(4 * first, 4 * end),
        kept: kept.subarray(first, end),
      });
      if (isSliceOver()) await nextSlice();
    }
    return { kept, corrections };
  }
}

export class TransferReceiver {
  readonly #keys: ReceiverKeys;
  readonly #batches = new SingleUse();
  readonly #kernel: ProductKernel;

  constructor(pairs: BaseSenderKeys, kernel: ProductKernel = portableProducts) {
    this.#kernel = kernel;
    this.#keys = kernel.receiverKeys(pairs);
  }

  /**
   * @param bits one byte per transfer, 0 or 1
   * @throws TandemError PROTOCOL_STATE if the batch is not new
   */
  async begin(batch: number, bits: Uint8Array, shape: Shape): Promise<PendingTransfer> {
    this.#batches.take(batch);
    const { width } = shape;
    const matrix = new Uint8Array(matrixBytes(bits.length));
    const shares = new Uint32Array(bits.length * width);
    for (const { piece, from, to } of chunksOf(batch, bits.length)) {
      const { first, count } = piece;
      const rows = new Uint32Array(heldWords(count) - maskWords);
      for (let i = 0; i < count; i++) rows[i >>> 5] |= bits[first + i] << (i & 31);
      const choices = withMask(rows);
      const columns = scratch.subarray(0, baseCount * choices.length);
      const sent = matrix.subarray(from, to);
      this.#keys.piece(piece, choices, columns, sent);
      matrix.set(proofOf(piece, sent, choices, columns, this.#kernel.columnHashes), to);
      this.#kernel.hashes(columns, piece, width, shares.subarray(first * width, (first + count) * width));
      if (isSliceOver()) await nextSlice();
    }
    return new PendingTransfer(matrix, bits, shares, shape, this.#kernel);
  }
}

/** A receiver's batch whose corrections are yet to come. */
export class PendingTransfer {
  /** For the sender. */
  readonly matrix: Uint8Array;
  readonly #bits: Uint8Array;
  readonly #shape: Shape;
  readonly #kernel: ProductKernel;
  #shares: Uint32Array | null;

  constructor(matrix: Uint8Array, bits: Uint8Array, shares: Uint32Array, shape: Shape, kernel: ProductKernel) {
    this.matrix = matrix;
    this.#bits = bits;
    this.#shares = shares;
    this.#shape = shape;
    this.#kernel = kernel;
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
    this.#kernel.addChosen(this.#bits, this.#shape, corrections, shares);
    return shares;
  }
}

/** Transfers that are processed together, and where their columns are in the matrix. */
interface Chunk {
  readonly piece: RowPiece;
  readonly from: number;
  readonly to: number;
}

function* chunksOf(batch: number, all: number): Generator<Chunk> {
  for (let first = 0, block = 0, from = 0; first < all; first += chunkCount, block += chunkBlocks) {
    const count = Math.min(chunkCount, all - first);
    const to = from + columnBytes(count);
    yield { piece: { batch, block, first, count }, from, to };
    from = to + proofBytes;
  }
}

function wrongLength(what: string, { length }: Uint8Array, expected: number): TandemError {
  return new TandemError("PROTOCOL_STATE", `a ${what} of ${length} bytes; ${expected} were expected`);
}
