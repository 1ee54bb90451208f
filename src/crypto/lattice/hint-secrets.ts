/**
 * The passive party's secrets of an attempt: what masks its hints, and with them its answers. The seed is drawn from
 * the operating system, makes hints once, and is gone. Hints that are sent again, in another attempt, have other
 * secrets: r_c belongs to one hint.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import type { JobBounds } from "./parameters/job-bounds.ts";
import type { BinChains, Lattice } from "./kernel.ts";
import { NodeSums, type NodeSumsSource } from "./node-sums.ts";
import { wordBytes } from "./parameters/sets.ts";
import type { RowSums } from "./row-sums.ts";
import { seedBytes } from "./portable/streams.ts";

export class HintSecrets {
  readonly #lattice: Lattice;
  readonly #bounds: JobBounds;
  #state: "fresh" | "making" | "made" | "disposed" = "fresh";
  #source: NodeSumsSource | undefined;

  /** @param bounds as this party has computed them: a flood's width is never taken from the other side */
  constructor(lattice: Lattice, bounds: JobBounds) {
    const { shape } = lattice;
    assert(shape.set === bounds.set && shape.t === bounds.t && shape.rowCount === bounds.rowCount, "the job's bounds");
    this.#lattice = lattice;
    this.#bounds = bounds;
  }

  /**
   * Hints of all candidates, by position. Once only.
   * @throws TandemError PROTOCOL_STATE the second time
   */
  async make(bins: readonly Uint16Array[], chains: BinChains, candidateCount: number): Promise<Uint8Array> {
    if (this.#state !== "fresh") throw new TandemError("PROTOCOL_STATE", "hints are made once in an attempt");
    this.#state = "making";
    const { set } = this.#bounds;
    const words = new Uint8Array(candidateCount * set.degree * wordBytes(set));
    const masks = new Uint8Array(this.#lattice.maskBytes(candidateCount));
    const seed = osRandom.fill(new Uint8Array(seedBytes));
    await this.#lattice.hints(bins, chains, seed, words, masks).finally(() => seed.fill(0));
    if (this.#isDisposed()) masks.fill(0);
    this.#check("making");
    this.#source = { lattice: this.#lattice, floodWidth: this.#bounds.floodWidth, chains, masks };
    this.#state = "made";
    return words;
  }

  /** A node's sums, to which its records are added as they arrive. @param rows where those of rows are added up */
  beginNode(rows: RowSums): NodeSums {
    this.#check("made");
    assert(this.#source !== undefined, "hints that were made");
    return new NodeSums(this.#source, rows, () => this.#state === "made");
  }

  dispose(): void {
    this.#state = "disposed";
    this.#source?.masks.fill(0);
    this.#source = undefined;
  }

  #isDisposed(): boolean {
    return this.#state === "disposed";
  }

  #check(state: "making" | "made"): void {
    if (this.#state === state) return;
    throw new TandemError("PROTOCOL_STATE", "a node came before its hints, or after the attempt was over");
  }
}
