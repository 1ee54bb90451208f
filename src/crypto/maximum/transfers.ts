/**
 * Random transfers by SoftSpokenOT (transfer/soft-spoken-ot.ts) over the field of 16 elements: 31 bits each on the
 * wire. The choices are random as well: they are the sum of all streams of the first tree, which sends nothing.
 *
 *   sender                                                 receiver
 *     lacks leaf D_b of each tree b                           all leaves; u_b sum of its streams, v_b in four columns
 *                                        <-- matrix --       c_b = u_b xor u_0, a proof;  choices u_0, rows t of v
 *     rows q of w_b xor D_b c_b
 *
 * So q_i = t_i xor r_i D. The matrix is checked as that of the other extensions (transfer/matrix-proof.ts): a receiver
 * that sends other columns must guess bits of D, and a wrong guess closes the session. Transfers are counted through a
 * batch, and none is used twice.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { levels, type PuncturedKeys, secretOf, treeCount } from "../transfer/all-but-one.ts";
import { baseCount } from "../transfer/base-ot.ts";
import { bytesOf, words, wordsPerBlock } from "../transfer/block-cipher.ts";
import { SingleUse } from "../transfer/iknp-ot.ts";
import { maskWords, MatrixChecks, proofBytes, proofOf } from "../transfer/matrix-proof.ts";
import type { Flight } from "./flights.ts";
import type { LeafStreams, MaximumKernel, RowRange, StreamPlace } from "./kernel.ts";

const rowsPerBlock = 128;
/** Of a piece, and one for the mask. Columns a power of two apart would collide in the cache. */
const pieceBlocksMax = 124;

/** Blocks of each piece for a number of transfers. */
function piecesOf(count: number): number[] {
  const pieces: number[] = [];
  for (let rest = Math.ceil(count / rowsPerBlock); rest > 0; rest -= pieceBlocksMax)
    pieces.push(Math.min(rest, pieceBlocksMax));
  return pieces;
}

function matrixBytes(blocks: number): number {
  return (treeCount - 1) * 4 * wordCountOf(blocks);
}

function wordCountOf(blocks: number): number {
  return wordsPerBlock * blocks + maskWords;
}

function extensionBytes(count: number): number {
  return piecesOf(count).reduce((sum, blocks) => sum + matrixBytes(blocks) + proofBytes, 0);
}

/** What one side of a connection has of the base transfers in both directions. */
export interface BaseKeys {
  readonly leaves: readonly (readonly Uint8Array[])[];
  readonly punctured: PuncturedKeys;
}

/** Transfers of one session, in both directions. */
export class TransferSession {
  readonly kernel: MaximumKernel;
  readonly secret: Uint32Array;
  readonly #receiving: LeafStreams;
  readonly #sending: LeafStreams;
  readonly #checks: MatrixChecks;
  readonly #batches = new SingleUse();

  constructor(kernel: MaximumKernel, { leaves, punctured }: BaseKeys) {
    this.kernel = kernel;
    this.secret = secretOf(punctured.missing);
    this.#receiving = kernel.leaves(leaves);
    this.#sending = kernel.leaves(punctured.leaves);
    this.#checks = new MatrixChecks(this.secret, (...columns) => kernel.columnHashes(...columns));
  }

  /** @throws TandemError PROTOCOL_STATE if the number was used before, or a matrix of this session was inconsistent */
  batch(batch: number): BatchTransfers {
    this.#checks.requireOpen();
    this.#batches.take(batch);
    return new BatchTransfers(this, batch);
  }

  /** The receiver's piece: its message, and its columns. */
  receive(
    place: StreamPlace,
    first: number,
    blocks: number,
  ): { message: Uint8Array; columns: Uint32Array; choices: Uint32Array } {
    const wordCount = wordCountOf(blocks);
    const columns = new Uint32Array(baseCount * wordCount);
    const sums = new Uint32Array(treeCount * wordCount);
    this.#receiving.fold(place, wordCount, columns, sums);
    const choices = sums.slice(0, wordCount);
    const sent = sums.slice(wordCount);
    for (let i = 0; i < sent.length; i++) sent[i] ^= choices[i % wordCount];
    const matrix = bytesOf(sent);
    const message = new Uint8Array(matrix.length + proofBytes);
    message.set(matrix);
    const { kernel } = this;
    const hashes: MaximumKernel["columnHashes"] = (...hashed) => kernel.columnHashes(...hashed);
    message.set(proofOf({ batch: place.batch, first }, matrix, choices, columns, hashes), matrix.length);
    return { message, columns, choices };
  }

  /** The sender's columns. @throws TandemError PROTOCOL_STATE if the matrix is inconsistent */
  send(place: StreamPlace, first: number, blocks: number, message: Uint8Array): Uint32Array {
    const wordCount = wordCountOf(blocks);
    const columns = new Uint32Array(baseCount * wordCount);
    this.#sending.fold(place, wordCount, columns, new Uint32Array(treeCount * wordCount));
    const matrix = message.subarray(0, matrixBytes(blocks));
    const sent = words(matrix);
    for (let column = levels; column < baseCount; column++) {
      const mask = -((this.secret[column >>> 5] >>> (column & 31)) & 1);
      const from = (Math.floor(column / levels) - 1) * wordCount;
      for (let w = 0, at = column * wordCount; w < wordCount; w++, at++) columns[at] ^= sent[from + w] & mask;
    }
    this.#checks.check({ batch: place.batch, first }, matrix, message.subarray(matrix.length), columns);
    return columns;
  }
}

/** A direction's transfers that are made and not yet used. */
class Pool {
  rows = new Uint32Array(0);
  choices = new Uint8Array(0);
  /** The number of the first row in the batch. */
  first = 0;
  /** The next row to use, and the next block of the streams. */
  #used = 0;
  #block = 0;

  get rest(): number {
    return this.rows.length / wordsPerBlock - this.#used;
  }

  /** Room for new transfers instead of the old ones. */
  begin(count: number, hasChoices: boolean): void {
    this.first += this.rows.length / wordsPerBlock;
    const rowCount = rowsPerBlock * Math.ceil(count / rowsPerBlock);
    this.rows = new Uint32Array(wordsPerBlock * rowCount);
    this.choices = new Uint8Array(hasChoices ? rowCount : 0);
    this.#used = 0;
  }

  nextPlace(batch: number, blocks: number): StreamPlace {
    const place = { batch, block: this.#block };
    this.#block += blocks + 1;
    return place;
  }

  take(batch: number, count: number): RowRange & { readonly choices: Uint8Array } {
    assert(count <= this.rest, "as many transfers as were made");
    const from = this.#used;
    this.#used += count;
    return {
      rows: this.rows.subarray(wordsPerBlock * from, wordsPerBlock * this.#used),
      choices: this.choices.subarray(from, this.#used),
      batch,
      first: this.first + from,
    };
  }
}

export class BatchTransfers {
  readonly #session: TransferSession;
  readonly #batch: number;
  readonly #received = new Pool();
  readonly #sent = new Pool();

  constructor(session: TransferSession, batch: number) {
    this.#session = session;
    this.#batch = batch;
  }

  get kernel(): MaximumKernel {
    return this.#session.kernel;
  }

  get secret(): Uint32Array {
    return this.#session.secret;
  }

  /** All that were made, but for less than a block in each direction. */
  assertUsed(): void {
    assert(Math.max(this.#received.rest, this.#sent.rest) < rowsPerBlock, "no more transfers than are used");
  }

  /** Makes transfers, one flight. Those that are left are dropped. */
  async *make({ asReceiver, asSender }: TransferCounts): AsyncGenerator<Flight, void, Uint8Array> {
    const send = await this.#makeReceived(asReceiver);
    const received = yield { send, expects: extensionBytes(asSender) };
    await this.#makeSent(asSender, received);
  }

  async #makeReceived(count: number): Promise<Uint8Array> {
    const pool = this.#received;
    pool.begin(count, true);
    const message = new Uint8Array(extensionBytes(count));
    let at = 0;
    let row = 0;
    for (const blocks of piecesOf(count)) {
      const place = pool.nextPlace(this.#batch, blocks);
      const piece = this.#session.receive(place, pool.first + row, blocks);
      message.set(piece.message, at);
      pool.rows.set(this.kernel.rows(piece.columns, wordCountOf(blocks)), wordsPerBlock * row);
      for (let i = 0; i < rowsPerBlock * blocks; i++) pool.choices[row + i] = (piece.choices[i >>> 5] >>> (i & 31)) & 1;
      at += piece.message.length;
      row += rowsPerBlock * blocks;
      if (isSliceOver()) await nextSlice();
    }
    return message;
  }

  async #makeSent(count: number, message: Uint8Array): Promise<void> {
    const pool = this.#sent;
    pool.begin(count, false);
    let at = 0;
    let row = 0;
    for (const blocks of piecesOf(count)) {
      const place = pool.nextPlace(this.#batch, blocks);
      const bytes = matrixBytes(blocks) + proofBytes;
      const columns = this.#session.send(place, pool.first + row, blocks, message.subarray(at, at + bytes));
      pool.rows.set(this.kernel.rows(columns, wordCountOf(blocks)), wordsPerBlock * row);
      at += bytes;
      row += rowsPerBlock * blocks;
      if (isSliceOver()) await nextSlice();
    }
  }

  /** The next transfers that this party receives, or sends. */
  received(count: number): RowRange & { readonly choices: Uint8Array } {
    return this.#received.take(this.#batch, count);
  }

  sent(count: number): RowRange {
    return this.#sent.take(this.#batch, count);
  }
}

export interface TransferCounts {
  readonly asReceiver: number;
  readonly asSender: number;
}

export function refused(message: string): TandemError {
  return new TandemError("PROTOCOL_STATE", message);
}
