/**
 * One output of a node at a passive party: records are accepted as they arrive, in order, and answered once. The
 * smudging noise of an answer follows from the request (job-seeds.ts): the same records get the same bytes, and other
 * records other noise.
 */
import { TandemError } from "../../base/error.ts";
import type { OutputPlace } from "./job-seeds.ts";
import type { BinChains, Lattice } from "./kernel.ts";
import { laneCount, wordBytes } from "./parameters/sets.ts";
import { checkCanonical, type RowSums } from "./row-sums.ts";

/** What all nodes of an attempt share. */
export interface NodeSumsSource {
  readonly lattice: Lattice;
  readonly smudgingWidth: bigint;
  readonly chains: BinChains;
  readonly masks: Uint8Array;
  /** The seed of an answer's smudging noise. */
  readonly smudging: (place: OutputPlace, request: Uint8Array) => Uint8Array;
}

export class NodeSums {
  readonly #source: NodeSumsSource;
  readonly #isOpen: () => boolean;
  readonly #candidateCount: number;
  readonly #rows: RowSums;
  readonly #products: BigInt64Array;
  /** The mask row is multiplied as a whole. */
  readonly #maskRow: Uint8Array;
  #nextRecord = 0;
  #state: "open" | "broken" | "answered" = "open";

  /** @param isOpen whether the attempt's secrets still exist: an answer without masks would reveal too much */
  constructor(source: NodeSumsSource, rows: RowSums, isOpen: () => boolean) {
    const { lattice, masks } = source;
    const { set } = lattice.shape;
    this.#source = source;
    this.#isOpen = isOpen;
    this.#candidateCount = masks.length / lattice.maskBytes(1);
    this.#rows = rows;
    this.#products = new BigInt64Array(this.#candidateCount * laneCount(set));
    this.#maskRow = new Uint8Array(set.degree * set.recordBytes);
  }

  /**
   * Adds the next records: the mask row first, then all rows.
   * @throws TandemError PROTOCOL_STATE for records out of order, CIPHERTEXT_RANGE for a non-canonical one. The node
   * cannot be answered after that
   */
  async add(firstRecord: number, records: Uint8Array): Promise<void> {
    this.#begin();
    const { set, rowCount } = this.#source.lattice.shape;
    const count = records.length / set.recordBytes;
    if (firstRecord !== this.#nextRecord || count === 0 || !Number.isInteger(count)) {
      throw new TandemError("PROTOCOL_STATE", `expected whole records from ${this.#nextRecord} on`);
    }
    if (firstRecord + count > set.degree + rowCount) {
      throw new TandemError("PROTOCOL_STATE", `a node has ${set.degree + rowCount} records; more were sent`);
    }
    this.#nextRecord += count;
    const maskCount = Math.max(0, Math.min(count, set.degree - firstRecord));
    const cut = maskCount * set.recordBytes;
    if (maskCount > 0) await this.#addMaskRow(firstRecord, records.subarray(0, cut));
    if (cut < records.length) {
      await this.#rows.add(firstRecord + maskCount - set.degree, records.subarray(cut));
    }
    this.#state = "open";
  }

  async #addMaskRow(firstRecord: number, records: Uint8Array): Promise<void> {
    const { lattice, masks } = this.#source;
    const { recordBytes } = lattice.shape.set;
    this.#maskRow.set(records, firstRecord * recordBytes);
    if (firstRecord * recordBytes + records.length < this.#maskRow.length) return;
    checkCanonical(await lattice.maskProducts(masks, this.#maskRow, this.#candidateCount, this.#products), 0);
  }

  /**
   * The words of all candidates. May be called once.
   * @param noise added to g and h of every candidate; null: none
   * @param request digest of all messages that requested the node
   * @throws TandemError PROTOCOL_STATE before all records have arrived, and on the second call
   */
  async answer(noise: Float64Array | null, place: OutputPlace, request: Uint8Array): Promise<Uint8Array> {
    this.#begin();
    const { lattice, chains, smudgingWidth, smudging } = this.#source;
    const { set, rowCount } = lattice.shape;
    if (this.#nextRecord !== set.degree + rowCount) {
      throw new TandemError("PROTOCOL_STATE", `a node has ${set.degree + rowCount} records; got ${this.#nextRecord}`);
    }
    this.#state = "answered";
    const cells = await this.#rows.cells();
    const words = new Uint8Array(this.#candidateCount * set.groups * wordBytes(set));
    const seed = smudging(place, request);
    await lattice.answer(cells, chains, this.#products, noise, smudgingWidth, seed, words).finally(() => seed.fill(0));
    this.#checkOpen();
    return words;
  }

  /** Calls do not overlap; any failure leaves the node broken. */
  #begin(): void {
    this.#checkOpen();
    if (this.#state !== "open") {
      throw new TandemError("PROTOCOL_STATE", "a node is answered once, and only if all of its records were accepted");
    }
    this.#state = "broken";
  }

  #checkOpen(): void {
    if (!this.#isOpen()) throw new TandemError("PROTOCOL_STATE", "a node was sent after the attempt ended");
  }
}
