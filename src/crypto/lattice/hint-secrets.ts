/**
 * The passive party's secrets of an attempt, which mask its hints and its answers. The seed is drawn from the operating
 * system, used to make the hints once, and discarded. Hints of another attempt have other secrets: r_c belongs to one
 * hint.
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

  /** @param bounds as computed by this party: the width of the smudging noise is never taken from the peer */
  constructor(lattice: Lattice, bounds: JobBounds) {
    const { shape } = lattice;
    assert(
      shape.set === bounds.set && shape.t === bounds.t && shape.rowCount === bounds.rowCount,
      "the bounds belong to the job",
    );
    this.#lattice = lattice;
    this.#bounds = bounds;
  }

  /**
   * Hints of all candidates, by position. May be called once.
   * @throws TandemError PROTOCOL_STATE on the second call
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
    this.#source = { lattice: this.#lattice, smudgingWidth: this.#bounds.smudgingWidth, chains, masks };
    this.#state = "made";
    return words;
  }

  /** Begins a node, to which records are added as they arrive. @param rows adds up the records of rows */
  beginNode(rows: RowSums): NodeSums {
    this.#check("made");
    assert(this.#source !== undefined, "the hints were made");
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
    throw new TandemError("PROTOCOL_STATE", "a node was sent before its hints, or after the attempt ended");
  }
}
