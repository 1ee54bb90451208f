/**
 * A kit: everything of one node at the active party. It draws its seed from the operating system, seals once, and opens
 * what comes back. There is no way to make one with a seed that is given, nor to seal twice: one secret with two
 * plaintexts shows their difference to everybody (fatal-mistakes.test.ts). A node of several outputs takes a kit each.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import type { Lattice } from "./kernel.ts";
import { wordBytes } from "./parameters/sets.ts";
import { recordsPerChunk } from "./parameters/sizes.ts";
import { seedBytes } from "./portable/streams.ts";

/** Hints of one passive party, loaded by the kernel. */
export interface PartyHints {
  readonly candidateCount: number;
  readonly table: BigUint64Array;
}

/** Consecutive records of a node. */
export interface SealedChunk {
  readonly firstRecord: number;
  /** No record follows. */
  readonly isLast: boolean;
  /** In a buffer of their own, behind `roomBytes` that are free. */
  readonly records: Uint8Array<ArrayBuffer>;
}

/** What stands before records in a message has room before them, so that they need not be copied. */
export const roomBytes = 64;

/** Chunks are about as large as a message should be. */
const chunkBytesUsual = 512 * 1024;

class NodeKit {
  readonly #lattice: Lattice;
  readonly #seed: Uint8Array;
  /** Per passive party the inner products of its hints with the node's secret. */
  readonly #dots: readonly BigUint64Array[];
  readonly #candidateCounts: readonly number[];
  #state: "fresh" | "sealed" | "disposed" = "fresh";

  constructor(lattice: Lattice, seed: Uint8Array, dots: readonly BigUint64Array[], parties: readonly PartyHints[]) {
    this.#lattice = lattice;
    this.#seed = seed;
    this.#dots = dots;
    this.#candidateCounts = parties.map(({ candidateCount }) => candidateCount);
  }

  /**
   * All records of the node: the mask row, then every row. Once only, also if nobody reads to the end.
   * @param columns g and h of every row, 0 for whoever is not in the node
   * @throws TandemError PROTOCOL_STATE the second time
   */
  seal(columns: readonly Int32Array[], chunkBytes = chunkBytesUsual): AsyncGenerator<SealedChunk, void, void> {
    if (this.#state !== "fresh") {
      throw new TandemError("PROTOCOL_STATE", "a node was to be sealed a second time under one secret");
    }
    this.#state = "sealed";
    return this.#chunks(columns, recordsPerChunk(this.#lattice.shape.set, chunkBytes));
  }

  async *#chunks(columns: readonly Int32Array[], chunkRecords: number): AsyncGenerator<SealedChunk, void, void> {
    const { set, rowCount } = this.#lattice.shape;
    const end = set.degree + rowCount;
    for (let firstRecord = 0; firstRecord < end; firstRecord += chunkRecords) {
      this.#checkSealed();
      const count = Math.min(chunkRecords, end - firstRecord);
      // Every byte of it is written.
      const { buffer } = Buffer.allocUnsafeSlow(roomBytes + count * set.recordBytes);
      const records = new Uint8Array(buffer, roomBytes);
      // A copy: were the seed overwritten meanwhile, the rest would be sealed under a secret that everybody knows.
      const seed = this.#seed.slice();
      await this.#lattice.seal(seed, columns, firstRecord, count, records).finally(() => seed.fill(0));
      yield { firstRecord, isLast: firstRecord + count === end, records };
    }
  }

  /**
   * Sums of g and h of a passive party's candidates.
   * @param party its place among those that the kit was made for
   * @param positions the candidates that the words are of; null: all
   * @throws TandemError PROTOCOL_STATE where the words are not as many as the candidates, or a position has no hint
   */
  async open(party: number, words: Uint8Array, positions: Uint32Array | null): Promise<Float64Array> {
    this.#checkSealed();
    assert(party in this.#dots, "a party that the kit was made for");
    const candidateCount = this.#candidateCounts[party];
    const count = positions?.length ?? candidateCount;
    const { set } = this.#lattice.shape;
    if (words.length !== count * set.groups * wordBytes(set)) {
      throw new TandemError("PROTOCOL_STATE", `an answer of ${words.length} bytes is not that of ${count} candidates`);
    }
    if (positions?.some((position) => position >= candidateCount)) {
      throw new TandemError("PROTOCOL_STATE", "an answer names a candidate that has no hint");
    }
    const sums = new Float64Array(2 * count);
    await this.#lattice.open(this.#dots[party], candidateCount, words, positions, sums);
    // Inner products that were overwritten meanwhile would have given false sums.
    this.#checkSealed();
    return sums;
  }

  /** Overwrites the seed and everything that was made from the secret. */
  dispose(): void {
    this.#state = "disposed";
    this.#seed.fill(0);
    for (const dots of this.#dots) dots.fill(0n);
  }

  #checkSealed(): void {
    if (this.#state === "sealed") return;
    throw new TandemError("PROTOCOL_STATE", `a node's kit is ${this.#state}: it is opened between seal and dispose`);
  }
}

export type { NodeKit };

/** Kits that are made together: the hints go through the cache once for all of them. */
export async function makeKits(lattice: Lattice, parties: readonly PartyHints[], count: number): Promise<NodeKit[]> {
  assert(Number.isInteger(count) && count >= 1, "at least one kit");
  const seeds = osRandom.fill(new Uint8Array(count * seedBytes));
  try {
    const dots: BigUint64Array[] = [];
    for (const { candidateCount, table } of parties) {
      const made = new BigUint64Array(count * lattice.dotCount(candidateCount));
      await lattice.dots(table, candidateCount, seeds, made);
      dots.push(made);
    }
    return Array.from({ length: count }, (_, i) => {
      const own = dots.map((made) => made.subarray((i * made.length) / count, ((i + 1) * made.length) / count));
      return new NodeKit(lattice, seeds.subarray(i * seedBytes, (i + 1) * seedBytes), own, parties);
    });
  } catch (error) {
    seeds.fill(0);
    throw error;
  }
}
