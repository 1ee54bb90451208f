/**
 * The passive party's secrets, which mask its hints and its answers. They follow from the seed of the job, the public
 * rows and the bins (job-seeds.ts): every attempt has the same hints, and r_c belongs to one hint.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import type { JobBounds } from "./parameters/job-bounds.ts";
import { hintSeed, smudgingSeed } from "./job-seeds.ts";
import type { BinChains, Lattice } from "./kernel.ts";
import { NodeSums, type NodeSumsSource } from "./node-sums.ts";
import { wordBytes } from "./parameters/sets.ts";
import type { RowSums } from "./row-sums.ts";

export class HintSecrets {
  readonly #lattice: Lattice;
  readonly #bounds: JobBounds;
  readonly #jobSeed: Uint8Array;
  #state: "fresh" | "making" | "made" | "disposed" = "fresh";
  #source: NodeSumsSource | undefined;

  /**
   * @param bounds as computed by this party: the width of the smudging noise is never taken from the peer
   * @param jobSeed of this party
   */
  constructor(lattice: Lattice, bounds: JobBounds, jobSeed: Uint8Array) {
    const { shape } = lattice;
    assert(
      shape.set === bounds.set && shape.t === bounds.t && shape.rowCount === bounds.rowCount,
      "the bounds belong to the job",
    );
    this.#lattice = lattice;
    this.#bounds = bounds;
    this.#jobSeed = jobSeed.slice();
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
    const seed = hintSeed(this.#jobSeed, this.#lattice.shape, bins, chains);
    await this.#lattice.hints(bins, chains, seed, words, masks).finally(() => seed.fill(0));
    if (this.#isDisposed()) masks.fill(0);
    this.#check("making");
    this.#source = {
      lattice: this.#lattice,
      smudgingWidth: this.#bounds.smudgingWidth,
      chains,
      masks,
      smudging: (place, request) => smudgingSeed(this.#jobSeed, this.#lattice.shape, place, request),
    };
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
    this.#jobSeed.fill(0);
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
