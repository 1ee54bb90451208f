/** Precomputations precomputed in batches while gradients are being computed or the party waits for others. */
import { TandemError } from "../../base/error.ts";
import type { Lattice } from "./kernel.ts";
import { precomputeNodes, type NodePrecomputation, type PartyHints } from "./node-precomputation.ts";

/** Larger batches save little. */
const batchMin = 16;
/** Limits memory: a precomputation holds inner products of every candidate. */
const readyMax = 64;

export class PrecomputationPool {
  readonly #lattice: Lattice;
  readonly #parties: readonly PartyHints[];
  readonly #ready: NodePrecomputation[] = [];
  #expected = 0;
  #filling: Promise<void> | undefined;
  #isClosed = false;

  constructor(lattice: Lattice, parties: readonly PartyHints[]) {
    this.#lattice = lattice;
    this.#parties = parties;
  }

  /** Prepares precomputations in the background: this many will be taken soon. */
  expect(count: number): void {
    this.#expected = Math.max(this.#expected, count);
    // The next take tries again and throws the error.
    this.#fill().catch(() => undefined);
  }

  /** The caller disposes of it. */
  async take(): Promise<NodePrecomputation> {
    for (;;) {
      if (this.#isClosed) throw new TandemError("PROTOCOL_STATE", "a node cannot be encrypted after its job ended");
      const precomputation = this.#ready.shift();
      if (precomputation !== undefined) {
        this.#expected = Math.max(0, this.#expected - 1);
        return precomputation;
      }
      this.#expected = Math.max(1, this.#expected);
      await this.#fill();
    }
  }

  /** Disposes of all unused precomputations. */
  close(): void {
    this.#isClosed = true;
    for (const precomputation of this.#ready.splice(0)) precomputation.dispose();
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#makeMissing().finally(() => (this.#filling = undefined));
    return this.#filling;
  }

  async #makeMissing(): Promise<void> {
    for (;;) {
      const missing = Math.min(this.#expected, readyMax) - this.#ready.length;
      if (missing <= 0 || this.#isClosed) return;
      const precomputations = await precomputeNodes(this.#lattice, this.#parties, Math.max(batchMin, missing));
      this.#ready.push(...precomputations);
      if (this.#isClosed) this.close();
    }
  }
}
