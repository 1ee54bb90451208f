/**
 * The inner products of all hints with the secrets of nodes, computed while passive parties work on the records. Nodes
 * that wait for a running call are computed together, so that the hints pass through the cache once for all of them.
 */
import { TandemError } from "../../base/error.ts";
import type { Lattice } from "./kernel.ts";
import { seedBytes } from "./portable/streams.ts";

/** Hints of one passive party, loaded by the kernel. */
export interface PartyHints {
  readonly candidateCount: number;
  readonly table: BigUint64Array;
}

/** Larger batches save little, and hold the inner products of every candidate. */
const batchMax = 32;

interface Waiting {
  readonly seed: Uint8Array;
  readonly resolve: (products: readonly BigUint64Array[]) => void;
  readonly reject: (error: unknown) => void;
}

export class InnerProducts {
  readonly parties: readonly PartyHints[];
  readonly #lattice: Lattice;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;
  #isClosed = false;

  constructor(lattice: Lattice, parties: readonly PartyHints[]) {
    this.#lattice = lattice;
    this.parties = parties;
  }

  /** Per party the inner products with the secret of a node. The caller overwrites them. */
  of(seed: Uint8Array): Promise<readonly BigUint64Array[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ seed: seed.slice(), resolve, reject });
      void this.#run();
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const { seed, reject } of this.#waiting.splice(0)) {
      seed.fill(0);
      reject(ended());
    }
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#compute(this.#waiting.splice(0, batchMax));
    this.#isRunning = false;
  }

  async #compute(batch: readonly Waiting[]): Promise<void> {
    const seeds = new Uint8Array(batch.length * seedBytes);
    batch.forEach(({ seed }, i) => {
      seeds.set(seed, i * seedBytes);
      seed.fill(0);
    });
    try {
      if (this.#isClosed) throw ended();
      const all: BigUint64Array[] = [];
      for (const { candidateCount, table } of this.parties) {
        const products = new BigUint64Array(batch.length * this.#lattice.dotCount(candidateCount));
        await this.#lattice.dots(table, candidateCount, seeds, products);
        all.push(products);
      }
      batch.forEach(({ resolve }, i) =>
        resolve(all.map((of) => of.subarray((i * of.length) / batch.length, ((i + 1) * of.length) / batch.length))),
      );
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      seeds.fill(0);
    }
  }
}

function ended(): TandemError {
  return new TandemError("PROTOCOL_STATE", "a node cannot be decrypted after its job ended");
}
