/**
 * The portable kernel of the lattice scheme, in plain TypeScript: the oracle of the native ones, and the fallback for
 * machines without a compiler. It follows the formulas and shares no code with the native kernels. Not constant-time.
 */
import { assert } from "../../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../../base/scheduling/event-loop-slice.ts";
import { cellBytes, readCells } from "../cell-bytes.ts";
import { CommonRows } from "./common-rows.ts";
import { innerProduct, loadWords, numbersPerWord } from "./hint-table.ts";
import type { BinChains, Lattice, LatticeKernel, LatticeShape, Refused } from "../kernel.ts";
import { type GroupColumn, groupColumns, roundToPlaintext, splitSlots } from "./multipliers.ts";
import { accumulateRows, addedOf, addMasks, answerLane, drawSmudging, forEachSum } from "./portable-answer.ts";
import { makeHints } from "./portable-hints.ts";
import { drawNodeSecret, sealRecords } from "./portable-node.ts";
import { add, type Prime } from "./residues.ts";
import { type Ring, ringOf } from "./ring.ts";
import { rowBinsOf } from "./rows-by-bin.ts";
import { laneCount } from "../parameters/sets.ts";
import { commonKeyBytes, seedBytes } from "./streams.ts";
import { Words } from "./words.ts";

export const portableLatticeKernel: LatticeKernel = {
  name: "portable",
  lattice(shape, threads) {
    assert(Number.isInteger(threads) && threads >= 1, "at least one thread");
    return new PortableLattice(shape);
  },
};

class PortableLattice implements Lattice {
  readonly shape: LatticeShape;
  readonly #ring: Ring;
  readonly #primes: readonly Prime[];
  readonly #rows: CommonRows;
  readonly #words: Words;
  readonly #columns: readonly (readonly GroupColumn[])[];

  constructor(shape: LatticeShape) {
    assert(shape.crsKey.length === commonKeyBytes, "a common key of 16 bytes");
    this.shape = shape;
    this.#ring = ringOf(shape.set);
    this.#primes = this.#ring.transforms.map(({ prime }) => prime);
    this.#rows = new CommonRows(shape.set, shape.crsKey);
    this.#words = new Words(shape.set);
    this.#columns = groupColumns(shape);
  }

  async rowBins(bins: readonly Uint16Array[], binCounts: Uint32Array): Promise<Uint8Array> {
    return rowBinsOf(bins, binCounts, this.shape.rowCount);
  }

  async hints(
    bins: readonly Uint16Array[],
    chains: BinChains,
    seed: Uint8Array,
    words: Uint8Array,
    masks: Uint8Array,
  ): Promise<void> {
    const { degree } = this.shape.set;
    const candidateCount = words.length / (degree * this.#words.sizeBytes);
    assert(masks.length === this.maskBytes(candidateCount), "words and masks of the same candidates");
    for (const column of bins) assert(column.length === this.shape.rowCount, "a bin for every row");
    await makeHints({ ring: this.#ring, rows: this.#rows, words: this.#words }, bins, chains, seed, words, masks);
  }

  maskBytes(candidateCount: number): number {
    return candidateCount * this.shape.set.degree;
  }

  cellCount(binTotal: number): number {
    return binTotal * laneCount(this.shape.set);
  }

  cellBytes(cells: BigUint64Array): Uint8Array {
    const lanes = laneCount(this.shape.set);
    const residues = asDoubles(cells);
    return cellBytes(this.shape.set, cells.length / lanes, (bin, lane) => BigInt(residues[bin * lanes + lane]));
  }

  addCells(bytes: Uint8Array, cells: BigUint64Array): void {
    const lanes = laneCount(this.shape.set);
    const residues = asDoubles(cells);
    readCells(this.shape.set, cells.length / lanes, bytes, (bin, lane, residue) => {
      const at = bin * lanes + lane;
      residues[at] = add(residues[at], Number(residue), this.#primes[lane % this.#primes.length]);
    });
  }

  accumulate(
    rowBins: Uint8Array,
    binCounts: Uint32Array,
    records: Uint8Array,
    firstRow: number,
    cells: BigUint64Array,
  ): Refused {
    return accumulateRows(this.shape.set, this.#primes, rowBins, binCounts, records, firstRow, asDoubles(cells));
  }

  maskProducts(masks: Uint8Array, maskRecords: Uint8Array, candidateCount: number, products: BigInt64Array): Refused {
    return addMasks(this.shape.set, this.#primes, masks, maskRecords, candidateCount, products);
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
    const { groups } = this.shape.set;
    const lanes = laneCount(this.shape.set);
    const primes = this.#primes;
    const candidateCount = products.length / lanes;
    assert(words.length === candidateCount * groups * this.#words.sizeBytes, "a word per candidate and group");
    assert(noise === null || noise.length === 2 * candidateCount, "noise for g and h of every candidate");
    const smudging = drawSmudging(seed, candidateCount, groups, smudgingWidth);
    forEachSum(primes, lanes, asDoubles(cells), chains, (position, sums) => {
      for (let group = 0; group < groups; group++) {
        const index = position * groups + group;
        const added = addedOf(smudging[index], this.#columns[group], noise, position);
        const word = this.#words.of((l) => {
          const lane = group * primes.length + l;
          return answerLane(sums[lane], products[position * lanes + lane], added, primes[l]);
        });
        this.#words.write(words, index, word);
      }
    });
  }

  tableSize(candidateCount: number): number {
    return candidateCount * this.shape.set.degree * numbersPerWord(this.shape.set);
  }

  async loadHints(words: Uint8Array, firstCandidate: number, table: BigUint64Array): Promise<void> {
    await loadWords(this.shape.set, this.#words, words, firstCandidate, table);
  }

  dotCount(candidateCount: number): number {
    return candidateCount * this.shape.set.groups * numbersPerWord(this.shape.set);
  }

  async dots(table: BigUint64Array, candidateCount: number, seeds: Uint8Array, dots: BigUint64Array): Promise<void> {
    const { set } = this.shape;
    const seedCount = seeds.length / seedBytes;
    assert(dots.length === seedCount * this.dotCount(candidateCount), "dots of every seed and candidate");
    const secrets = Array.from({ length: seedCount * set.groups }, (_, i) => {
      const first = Math.floor(i / set.groups) * seedBytes;
      return drawNodeSecret(seeds.subarray(first, first + seedBytes), i % set.groups, set.degree);
    });
    for (let c = 0; c < candidateCount; c++) {
      secrets.forEach((secret, i) => {
        const node = Math.floor(i / set.groups);
        const index = (node * candidateCount + c) * set.groups + (i % set.groups);
        this.#writeDot(dots, index, innerProduct(set, table, c, secret));
      });
      if (isSliceOver()) await nextSlice();
    }
  }

  #writeDot(dots: BigUint64Array, index: number, value: bigint): void {
    const width = numbersPerWord(this.shape.set);
    const word = BigInt.asUintN(this.shape.set.wordBits, value);
    for (let i = 0; i < width; i++) dots[index * width + i] = BigInt.asUintN(64, word >> BigInt(64 * i));
  }

  #readDot(dots: BigUint64Array, index: number): bigint {
    const width = numbersPerWord(this.shape.set);
    return width === 1 ? dots[index] : dots[2 * index] + (dots[2 * index + 1] << 64n);
  }

  async seal(
    seed: Uint8Array,
    columns: readonly Int32Array[],
    firstRecord: number,
    recordCount: number,
    records: Uint8Array,
  ): Promise<void> {
    const { set, rowCount } = this.shape;
    assert(columns.length === 2 && columns.every(({ length }) => length === rowCount), "g and h of every row");
    assert(firstRecord >= 0 && firstRecord + recordCount <= set.degree + rowCount, "records that a node has");
    assert(records.length === recordCount * set.recordBytes, "room for the records, and no more");
    const sealer = { ring: this.#ring, rows: this.#rows, columnsOfGroups: this.#columns };
    await sealRecords(sealer, seed, columns, firstRecord, recordCount, records);
  }

  async open(
    dots: BigUint64Array,
    candidateCount: number,
    words: Uint8Array,
    positions: Uint32Array | null,
    sums: Float64Array,
  ): Promise<void> {
    const { set, t } = this.shape;
    const count = positions?.length ?? candidateCount;
    assert(dots.length === this.dotCount(candidateCount), "dots of one seed");
    assert(words.length === count * set.groups * this.#words.sizeBytes, "a word per candidate and group");
    assert(sums.length === 2 * count, "room for sums of g and h");
    for (let i = 0; i < count; i++) {
      const position = positions?.[i] ?? i;
      assert(position < candidateCount, "candidates that have a hint");
      for (let group = 0; group < set.groups; group++) {
        const dot = this.#readDot(dots, position * set.groups + group);
        const difference = this.#words.signed(this.#words.read(words, i * set.groups + group) - dot);
        const values = splitSlots(roundToPlaintext(difference, t, this.#words.bits), this.shape);
        values.forEach((value, slot) => (sums[2 * i + this.#columns[group][slot].column] = Number(value)));
      }
    }
  }
}

const asDoubles = (cells: BigUint64Array): Float64Array =>
  new Float64Array(cells.buffer, cells.byteOffset, cells.length);
