/** The lattice scheme's arithmetic in the native addon: sizes and calls. The addon validates its arguments. */
import { assert } from "../../../base/assert.ts";
import { integerBytes } from "../../integers.ts";
import { cellBytes, readCells } from "../cell-bytes.ts";
import type { BinChains, Lattice, LatticeShape, Refused } from "../kernel.ts";
import type { LatticeContext, NativeLatticeAddon, NativeLatticeName } from "./native-addon.ts";

/** A cell always has memory for four lanes. */
const lanesPerCell = 4;
/** Hint words are stored in tiles of this many numbers. */
const tileNumbers = 8;
const wideBytes = 16;

export class NativeLattice implements Lattice {
  readonly shape: LatticeShape;
  readonly #addon: NativeLatticeAddon;
  readonly #context: LatticeContext;
  readonly #threads: number;
  /** 64-bit numbers of a word in the table of hints. */
  readonly #wordParts: number;

  constructor(addon: NativeLatticeAddon, kernel: NativeLatticeName, shape: LatticeShape, threads: number) {
    const { set, rowCount, t, slotBits, crsKey } = shape;
    this.shape = shape;
    this.#addon = addon;
    this.#threads = threads;
    this.#wordParts = Math.ceil(set.wordBits / 64);
    this.#context = addon.createLattice(kernel, set.name, rowCount, integerBytes(t, wideBytes), slotBits, crsKey);
  }

  async rowBins(bins: readonly Uint16Array[], binCounts: Uint32Array): Promise<Uint8Array> {
    const binBytes = binCounts.every((count) => count <= 256) ? 1 : 2;
    const result = new Uint8Array(this.shape.rowCount * bins.length * binBytes);
    const refused = await this.#addon.latticeRowBins(this.#context, bins, binCounts, result, this.#threads);
    assert(refused < 0, "a bin is out of range");
    return result;
  }

  async hints(
    bins: readonly Uint16Array[],
    chains: BinChains,
    seed: Uint8Array,
    words: Uint8Array,
    masks: Uint8Array,
  ): Promise<void> {
    const { binCounts, chainOffsets, sources, targets } = chains;
    const refused = await this.#addon.latticeHints(
      this.#context,
      bins,
      binCounts,
      chainOffsets,
      sources,
      targets,
      seed,
      words,
      masks,
      this.#threads,
    );
    assert(refused < 0, "a bin is out of range");
  }

  maskBytes(candidateCount: number): number {
    return (candidateCount * this.shape.set.degree) / 4;
  }

  cellCount(binTotal: number): number {
    return lanesPerCell * binTotal;
  }

  /** The addon leaves every lane canonical. */
  cellBytes(cells: BigUint64Array): Uint8Array {
    return cellBytes(this.shape.set, cells.length / lanesPerCell, (bin, lane) => cells[bin * lanesPerCell + lane]);
  }

  addCells(bytes: Uint8Array, cells: BigUint64Array): void {
    readCells(this.shape.set, cells.length / lanesPerCell, bytes, (bin, lane, residue, prime) => {
      const at = bin * lanesPerCell + lane;
      cells[at] = (cells[at] + residue) % prime;
    });
  }

  accumulate(
    rowBins: Uint8Array,
    binCounts: Uint32Array,
    records: Uint8Array,
    firstRow: number,
    cells: BigUint64Array,
  ): Refused {
    return this.#addon.latticeAccumulate(this.#context, rowBins, binCounts, records, firstRow, cells, this.#threads);
  }

  maskProducts(masks: Uint8Array, maskRecords: Uint8Array, candidateCount: number, products: BigInt64Array): Refused {
    return this.#addon.latticeMaskProducts(this.#context, masks, maskRecords, candidateCount, products, this.#threads);
  }

  async answer(
    cells: BigUint64Array,
    chains: BinChains,
    products: BigInt64Array,
    noise: Float64Array | null,
    smudgingWidth: bigint,
    seed: Uint8Array,
    words: Uint8Array,
  ): Promise<void> {
    const { chainOffsets, sources, targets } = chains;
    await this.#addon.latticeAnswer(
      this.#context,
      cells,
      chainOffsets,
      sources,
      targets,
      products,
      noise,
      integerBytes(smudgingWidth, wideBytes),
      seed,
      words,
      this.#threads,
    );
  }

  tableSize(candidateCount: number): number {
    const tiles = Math.ceil((candidateCount * this.#wordParts) / tileNumbers);
    return tiles * this.shape.set.degree * tileNumbers;
  }

  async loadHints(words: Uint8Array, firstCandidate: number, table: BigUint64Array): Promise<void> {
    await this.#addon.latticeLoadHints(this.#context, words, firstCandidate, table, this.#threads);
  }

  dotCount(candidateCount: number): number {
    return this.shape.set.groups * candidateCount * this.#wordParts;
  }

  async dots(table: BigUint64Array, candidateCount: number, seeds: Uint8Array, dots: BigUint64Array): Promise<void> {
    await this.#addon.latticeDots(this.#context, table, candidateCount, seeds, dots, this.#threads);
  }

  async seal(
    seed: Uint8Array,
    columns: readonly Int32Array[],
    firstRecord: number,
    recordCount: number,
    records: Uint8Array,
  ): Promise<void> {
    assert(records.length === recordCount * this.shape.set.recordBytes, "records have the wrong size");
    await this.#addon.latticeSeal(this.#context, seed, columns, firstRecord, records, this.#threads);
  }

  async open(
    dots: BigUint64Array,
    candidateCount: number,
    words: Uint8Array,
    positions: Uint32Array | null,
    sums: Float64Array,
  ): Promise<void> {
    await this.#addon.latticeOpen(this.#context, dots, candidateCount, words, positions, sums);
  }
}
