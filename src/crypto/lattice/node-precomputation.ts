/**
 * A precomputation: the active party's state of one node. It draws its seed from the operating system, encrypts once,
 * and decrypts the answers. It accepts no seed from outside and cannot encrypt twice: two plaintexts under one secret
 * reveal their difference to every party (fatal-mistakes.test.ts). A node with several outputs uses one precomputation
 * per output.
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
  /** This is the last chunk. */
  readonly isLast: boolean;
  /** In a buffer of their own, preceded by `roomBytes` free bytes. */
  readonly records: Uint8Array<ArrayBuffer>;
}

/** Room for the message header, so that records need not be copied. */
export const roomBytes = 64;

/** Chunks have about the size of a message. */
const chunkBytesUsual = 512 * 1024;

class NodePrecomputation {
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
   * All records of the node: the mask row, then every row. May be called once, even if the result is not read to the
   * end.
   * @param columns g and h of every row, 0 for rows outside the node
   * @throws TandemError PROTOCOL_STATE on the second call
   */
  seal(columns: readonly Int32Array[], chunkBytes = chunkBytesUsual): AsyncGenerator<SealedChunk, void, void> {
    if (this.#state !== "fresh") {
      throw new TandemError("PROTOCOL_STATE", "a node must not be encrypted twice under one secret");
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
      // A copy: if the seed were overwritten meanwhile, the rest would be encrypted under a publicly known secret.
      const seed = this.#seed.slice();
      await this.#lattice.seal(seed, columns, firstRecord, count, records).finally(() => seed.fill(0));
      yield { firstRecord, isLast: firstRecord + count === end, records };
    }
  }

  /**
   * Sums of g and h of a passive party's candidates.
   * @param party its index among the parties that the precomputation was made for
   * @param positions the candidates of the words; null: all
   * @throws TandemError PROTOCOL_STATE if the number of words does not match the candidates, or a position has no
   * hint
   */
  async open(party: number, words: Uint8Array, positions: Uint32Array | null): Promise<Float64Array> {
    this.#checkSealed();
    assert(party in this.#dots, "the precomputation was made for this party");
    const candidateCount = this.#candidateCounts[party];
    const count = positions?.length ?? candidateCount;
    const { set } = this.#lattice.shape;
    if (words.length !== count * set.groups * wordBytes(set)) {
      throw new TandemError("PROTOCOL_STATE", `an answer of ${words.length} bytes does not match ${count} candidates`);
    }
    if (positions?.some((position) => position >= candidateCount)) {
      throw new TandemError("PROTOCOL_STATE", "an answer names a candidate that has no hint");
    }
    const sums = new Float64Array(2 * count);
    await this.#lattice.open(this.#dots[party], candidateCount, words, positions, sums);
    // Inner products that were overwritten meanwhile would give wrong sums.
    this.#checkSealed();
    return sums;
  }

  /** Overwrites the seed and everything derived from it. */
  dispose(): void {
    this.#state = "disposed";
    this.#seed.fill(0);
    for (const dots of this.#dots) dots.fill(0n);
  }

  #checkSealed(): void {
    if (this.#state === "sealed") return;
    throw new TandemError(
      "PROTOCOL_STATE",
      `a node's precomputation is ${this.#state}: it can be opened between seal and dispose only`,
    );
  }
}

export type { NodePrecomputation };

/** Makes several precomputations at once, so that the hints pass through the cache only once. */
export async function precomputeNodes(
  lattice: Lattice,
  parties: readonly PartyHints[],
  count: number,
): Promise<NodePrecomputation[]> {
  assert(Number.isInteger(count) && count >= 1, "at least one precomputation");
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
      return new NodePrecomputation(lattice, seeds.subarray(i * seedBytes, (i + 1) * seedBytes), own, parties);
    });
  } catch (error) {
    seeds.fill(0);
    throw error;
  }
}
