/**
 * What computes the lattice scheme's arithmetic. Everything here is deterministic: seeds are arguments, so that every
 * kernel can be compared with the portable one byte by byte. Who draws seeds, and that none is used twice, is not the
 * kernel's business (node-kit.ts).
 *
 * Promises of `Refused` give the index of the first element that is refused, or -1.
 */
import type { LatticeSet } from "./parameters/sets.ts";

export type Refused = Promise<number>;

/** What everybody who takes part in an attempt knows. */
export interface LatticeShape {
  readonly set: LatticeSet;
  /** How many rows are summed. */
  readonly rowCount: number;
  /** Plaintexts are integers modulo t. */
  readonly t: bigint;
  /** Bits of the lower slot, where g and h stand side by side; 0 where each has its own ciphertext. */
  readonly slotBits: number;
  /** 16 bytes, from which the public rows are drawn. */
  readonly crsKey: Uint8Array;
}

/** A passive party's bins as chains (scheme/candidates/candidate-plan.ts): each target is the sum of a chain so far. */
export interface BinChains {
  /** Per feature the number of its bins. */
  readonly binCounts: Uint32Array;
  readonly chainOffsets: Uint32Array;
  /** Bins, counted over all features one after the other. */
  readonly sources: Uint32Array;
  /** The candidate's position that is complete after the step, or -1. */
  readonly targets: Int32Array;
}

export interface LatticeKernel {
  readonly name: string;
  /** @param threads of the work that is shared among them */
  lattice(shape: LatticeShape, threads: number): Lattice;
}

export interface Lattice {
  readonly shape: LatticeShape;

  // ---- the passive party ----

  /** Bins row by row, one byte each if no feature has more than 256 of them, otherwise two, little-endian. */
  rowBins(bins: readonly Uint16Array[], binCounts: Uint32Array): Promise<Uint8Array>;
  /**
   * The hints of all candidates. A chain has bins of one feature only.
   * @param bins per feature the bin of each row
   * @param words of all candidates by position: N words each
   * @param masks whatever maskProducts needs of each candidate's secret; maskBytes(candidateCount)
   */
  hints(
    bins: readonly Uint16Array[],
    chains: BinChains,
    seed: Uint8Array,
    words: Uint8Array,
    masks: Uint8Array,
  ): Promise<void>;
  maskBytes(candidateCount: number): number;
  /** Lanes of all bins, zero at first: cellCount(binTotal) numbers. Only the kernel that made them reads them. */
  cellCount(binTotal: number): number;
  /** Cells as every kernel reads them: of each bin a residue per lane (cell-bytes.ts). */
  cellBytes(cells: BigUint64Array): Uint8Array;
  /** Adds cells of another kernel, or of other rows, to these. */
  addCells(bytes: Uint8Array, cells: BigUint64Array): void;
  /** Adds records of rows to the cells of their bins. Refuses a record that is not canonical: nothing is added then. */
  accumulate(
    rowBins: Uint8Array,
    binCounts: Uint32Array,
    records: Uint8Array,
    firstRow: number,
    cells: BigUint64Array,
  ): Refused;
  /**
   * <p, r_c> of every candidate and lane.
   * @param products candidateCount * lanes numbers
   */
  maskProducts(masks: Uint8Array, maskRecords: Uint8Array, candidateCount: number, products: BigInt64Array): Refused;
  /**
   * The answer's words, candidate by candidate, group by group.
   * @param noise per candidate what is added to g and to h: whole numbers; null: nothing. Sums with their noise must
   * stay within the layout: where g and h stand side by side, that of h must not become negative
   * @param floodWidth W
   */
  answer(
    cells: BigUint64Array,
    chains: BinChains,
    products: BigInt64Array,
    noise: Float64Array | null,
    floodWidth: bigint,
    seed: Uint8Array,
    words: Uint8Array,
  ): Promise<void>;

  // ---- the active party ----

  /** Numbers that the hints of so many candidates take. */
  tableSize(candidateCount: number): number;
  /** Puts hints of consecutive candidates into the table. */
  loadHints(words: Uint8Array, firstCandidate: number, table: BigUint64Array): Promise<void>;
  /**
   * <w(G_c), s> of all candidates and many nodes at once.
   * @param seeds 32 bytes each
   * @param dots per seed dotCount(candidateCount) numbers
   */
  dots(table: BigUint64Array, candidateCount: number, seeds: Uint8Array, dots: BigUint64Array): Promise<void>;
  dotCount(candidateCount: number): number;
  /**
   * Records of a node. Record 0 to N - 1 is the mask row, record N + i is row i. Any range can be asked for; whole
   * blocks of N records cost least.
   * @param columns g and h of every row, signed whole numbers
   */
  seal(
    seed: Uint8Array,
    columns: readonly Int32Array[],
    firstRecord: number,
    recordCount: number,
    records: Uint8Array,
  ): Promise<void>;
  /**
   * Sums of g and h, candidate by candidate; g from -(t-1)/2 to (t-1)/2 where it has its own ciphertext.
   * @param dots of one seed
   * @param positions the candidates that the words are of, where these are not all; null: all
   */
  open(
    dots: BigUint64Array,
    candidateCount: number,
    words: Uint8Array,
    positions: Uint32Array | null,
    sums: Float64Array,
  ): Promise<void>;
}
