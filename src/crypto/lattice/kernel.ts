/**
 * The arithmetic of the lattice scheme. Everything here is deterministic: seeds are arguments, so that every kernel can
 * be compared with the portable one byte by byte. Drawing seeds, and using each only once, is the task of
 * node-precomputation.ts.
 *
 * Promises of `Refused` resolve with the index of the first rejected element, or -1.
 */
import type { LatticeSet } from "./parameters/sets.ts";

export type Refused = Promise<number>;

/** The public parameters of an attempt. */
export interface LatticeShape {
  readonly set: LatticeSet;
  /** The number of summed rows. */
  readonly rowCount: number;
  /** Plaintexts are integers modulo t. */
  readonly t: bigint;
  /** Bits of the lower slot, if g and h share a ciphertext; 0 if each has its own. */
  readonly slotBits: number;
  /** 16 bytes, from which the public rows are drawn. */
  readonly crsKey: Uint8Array;
}

/** A passive party's bins as chains (scheme/candidates/candidate-plan.ts): each target is a running sum of a chain.
 * */
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
  /** @param threads for the work that can be shared */
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
   * @param masks what maskProducts needs of each candidate's secret; maskBytes(candidateCount)
   */
  hints(
    bins: readonly Uint16Array[],
    chains: BinChains,
    seed: Uint8Array,
    words: Uint8Array,
    masks: Uint8Array,
  ): Promise<void>;
  maskBytes(candidateCount: number): number;
  /** Lanes of all bins, initially zero: cellCount(binTotal) numbers, in a format private to the kernel. */
  cellCount(binTotal: number): number;
  /** Cells in the format that every kernel reads: a residue per bin and lane (cell-bytes.ts). */
  cellBytes(cells: BigUint64Array): Uint8Array;
  /** Adds cells of another kernel or of other rows. */
  addCells(bytes: Uint8Array, cells: BigUint64Array): void;
  /** Adds records of rows to the cells of their bins. If a record is not canonical, nothing is added. */
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
   * @param noise per candidate the integers added to g and to h; null: none. Sums with noise must stay within the
   * layout:
   * where g and h share a ciphertext, that of h must not become negative
   * @param smudgingWidth W
   */
  answer(
    cells: BigUint64Array,
    chains: BinChains,
    products: BigInt64Array,
    noise: Float64Array | null,
    smudgingWidth: bigint,
    seed: Uint8Array,
    words: Uint8Array,
  ): Promise<void>;

  // ---- the active party ----

  /** Size of the table for the hints of this many candidates. */
  tableSize(candidateCount: number): number;
  /** Stores hints of consecutive candidates in the table. */
  loadHints(words: Uint8Array, firstCandidate: number, table: BigUint64Array): Promise<void>;
  /**
   * <w(G_c), s> of all candidates and many nodes at once.
   * @param seeds 32 bytes each
   * @param dots per seed dotCount(candidateCount) numbers
   */
  dots(table: BigUint64Array, candidateCount: number, seeds: Uint8Array, dots: BigUint64Array): Promise<void>;
  dotCount(candidateCount: number): number;
  /**
   * Records of a node. Records 0 to N - 1 are the mask row, record N + i is row i. Any range can be computed; whole
   * blocks of N records cost least.
   * @param columns g and h of every row, signed integers
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
   * @param positions the candidates of the words, if not all; null: all
   */
  open(
    dots: BigUint64Array,
    candidateCount: number,
    words: Uint8Array,
    positions: Uint32Array | null,
    sums: Float64Array,
  ): Promise<void>;
}
