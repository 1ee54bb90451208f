/** Kits that are made ahead, many at once, while gradients are computed or parties are waited for. */
import { TandemError } from "../../base/error.ts";
import type { Lattice } from "./kernel.ts";
import { makeKits, type NodeKit, type PartyHints } from "./node-kit.ts";

/** From here on making them together saves nothing more to speak of. */
const batchMin = 16;
/** Kits take memory: inner products of every candidate. */
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

  /** So many kits will be taken soon: makes them in the background. */
  expect(count: number): void {
    this.#expected = Math.max(this.#expected, count);
    // Whoever takes a kit tries again, and hears of the failure.
    this.#fill().catch(() => undefined);
  }

  /** The caller disposes of it. */
  async take(): Promise<NodeKit> {
    for (;;) {
      if (this.#isClosed) throw new TandemError("PROTOCOL_STATE", "a node was to be sealed after its job was over");
      const kit = this.#ready.shift();
      if (kit !== undefined) {
        this.#expected = Math.max(0, this.#expected - 1);
        return kit;
      }
      this.#expected = Math.max(1, this.#expected);
      await this.#fill();
    }
  }

  /** Disposes of all kits that nobody has taken. */
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
