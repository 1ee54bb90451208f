/** Kits precomputed in batches while gradients are being computed or the party waits for others. */
import { TandemError } from "../../base/error.ts";
import type { Lattice } from "./kernel.ts";
import { makeKits, type NodeKit, type PartyHints } from "./node-kit.ts";

/** Larger batches save little. */
const batchMin = 16;
/** Limits memory: a kit holds inner products of every candidate. */
const readyMax = 64;

export class KitPool {
  readonly #lattice: Lattice;
  readonly #parties: readonly PartyHints[];
  readonly #ready: NodeKit[] = [];
  #expected = 0;
  #filling: Promise<void> | undefined;
  #isClosed = false;

  constructor(lattice: Lattice, parties: readonly PartyHints[]) {
    this.#lattice = lattice;
    this.#parties = parties;
  }

  /** Prepares kits in the background: this many will be taken soon. */
  expect(count: number): void {
    this.#expected = Math.max(this.#expected, count);
    // The next take tries again and throws the error.
    this.#fill().catch(() => undefined);
  }

  /** The caller disposes of it. */
  async take(): Promise<NodeKit> {
    for (;;) {
      if (this.#isClosed) throw new TandemError("PROTOCOL_STATE", "a node cannot be encrypted after its job ended");
      const kit = this.#ready.shift();
      if (kit !== undefined) {
        this.#expected = Math.max(0, this.#expected - 1);
        return kit;
      }
      this.#expected = Math.max(1, this.#expected);
      await this.#fill();
    }
  }

  /** Disposes of all unused kits. */
  close(): void {
    this.#isClosed = true;
    for (const kit of this.#ready.splice(0)) kit.dispose();
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#makeMissing().finally(() => (this.#filling = undefined));
    return this.#filling;
  }

  async #makeMissing(): Promise<void> {
    for (;;) {
      const missing = Math.min(this.#expected, readyMax) - this.#ready.length;
      if (missing <= 0 || this.#isClosed) return;
      const kits = await makeKits(this.#lattice, this.#parties, Math.max(batchMin, missing));
      this.#ready.push(...kits);
      if (this.#isClosed) this.close();
    }
  }
}
