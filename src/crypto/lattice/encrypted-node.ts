/**
 * The active party's state of one output of a node: it encrypts the gradients, and decrypts the answers. The seed is
 * derived from the plaintexts here and nowhere else, and no caller can provide one: two plaintexts under one secret
 * would reveal their difference to every party (fatal-mistakes.test.ts).
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { sentBuffers } from "../../base/reused-buffers.ts";
import { ignoreUnhandled } from "../../base/scheduling/ignore-unhandled.ts";
import type { InnerProducts } from "./inner-products.ts";
import { nodeSeed, type OutputPlace } from "./job-seeds.ts";
import type { Lattice } from "./kernel.ts";
import { wordBytes } from "./parameters/sets.ts";
import { recordsPerChunk } from "./parameters/sizes.ts";

/** Consecutive records of a node. */
export interface RecordChunk {
  readonly firstRecord: number;
  /** This is the last chunk. */
  readonly isLast: boolean;
  /** In a buffer of their own, preceded by `roomBytes` free bytes: it is used again when all parties have them. */
  readonly records: Uint8Array<ArrayBuffer>;
}

/** Room for the message header, so that records need not be copied. */
export const roomBytes = 64;

/** Chunks have about the size of a message. */
const chunkBytesUsual = 512 * 1024;

export class EncryptedNode {
  readonly #lattice: Lattice;
  readonly #candidateCounts: readonly number[];
  readonly #seed: Uint8Array;
  /** Per passive party the inner products of its hints with the node's secret. */
  readonly #products: Promise<readonly BigUint64Array[]>;
  /** Null when all of them are encrypted. */
  #columns: readonly Int32Array[] | null;
  #isDisposed = false;

  /**
   * @param jobSeed of this party
   * @param columns g and h of every row, 0 for rows outside the node; not changed afterwards
   */
  constructor(
    lattice: Lattice,
    products: InnerProducts,
    jobSeed: Uint8Array,
    place: OutputPlace,
    columns: readonly Int32Array[],
  ) {
    this.#lattice = lattice;
    this.#candidateCounts = products.parties.map(({ candidateCount }) => candidateCount);
    this.#columns = columns;
    this.#seed = nodeSeed(jobSeed, lattice.shape, place, columns);
    this.#products = ignoreUnhandled(products.of(this.#seed));
  }

  /** All records of the node: the mask row, then every row. Called once. */
  async *chunks(chunkBytes = chunkBytesUsual): AsyncGenerator<RecordChunk, void, void> {
    const columns = this.#columns;
    assert(columns !== null, "the records of a node are read once");
    this.#columns = null;
    const { set, rowCount } = this.#lattice.shape;
    const chunkRecords = recordsPerChunk(set, chunkBytes);
    const end = set.degree + rowCount;
    for (let firstRecord = 0; firstRecord < end; firstRecord += chunkRecords) {
      this.#checkPresent();
      const count = Math.min(chunkRecords, end - firstRecord);
      // Every byte of it is written.
      const buffer = sentBuffers.take(roomBytes + count * set.recordBytes, this.#candidateCounts.length);
      const records = new Uint8Array(buffer, roomBytes);
      // A copy: if the seed were overwritten meanwhile, the rest would be encrypted under a publicly known secret.
      const seed = this.#seed.slice();
      await this.#lattice.seal(seed, columns, firstRecord, count, records).finally(() => seed.fill(0));
      yield { firstRecord, isLast: firstRecord + count === end, records };
    }
  }

  /**
   * Sums of g and h of a passive party's candidates.
   * @param party its index among the parties with hints
   * @param positions the candidates of the words; null: all
   * @throws TandemError PROTOCOL_STATE if the number of words does not match the candidates, or a position has no
   * hint
   */
  async open(party: number, words: Uint8Array, positions: Uint32Array | null): Promise<Float64Array> {
    this.#checkPresent();
    assert(party in this.#candidateCounts, "the party has sent hints");
    const candidateCount = this.#candidateCounts[party];
    const count = positions?.length ?? candidateCount;
    const { set } = this.#lattice.shape;
    if (words.length !== count * set.groups * wordBytes(set)) {
      throw new TandemError("PROTOCOL_STATE", `an answer of ${words.length} bytes does not match ${count} candidates`);
    }
    if (positions?.some((position) => position >= candidateCount)) {
      throw new TandemError("PROTOCOL_STATE", "an answer names a candidate that has no hint");
    }
    const products = await this.#products;
    this.#checkPresent();
    const sums = new Float64Array(2 * count);
    await this.#lattice.open(products[party], candidateCount, words, positions, sums);
    // Inner products that were overwritten meanwhile would give wrong sums.
    this.#checkPresent();
    return sums;
  }

  /** Overwrites the seed and everything derived from it. */
  dispose(): void {
    this.#isDisposed = true;
    this.#columns = null;
    this.#seed.fill(0);
    const overwrite = (products: readonly BigUint64Array[]): void => {
      for (const ofParty of products) ofParty.fill(0n);
    };
    this.#products.then(overwrite, () => {});
  }

  #checkPresent(): void {
    if (this.#isDisposed) throw new TandemError("PROTOCOL_STATE", "the tree of a node has ended, or its job");
  }
}
