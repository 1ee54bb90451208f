/**
 * The functions of the native addon that use no cipher (native/plain-*.h, row-loops.h), if it is built and loads.
 * TypeScript versions in the callers give the same bits, and are its oracle.
 */
import { createRequire } from "node:module";
import { packagePath } from "./package-root.ts";

export interface PlainAddon {
  /** All paths as bytes. @returns 0, -1 if this system does not support it, or the error number */
  writeFileDurably(
    temporary: Uint8Array,
    path: Uint8Array,
    folder: Uint8Array,
    contents: Uint8Array,
    mode: number,
  ): Promise<number>;
  appendFileDurably(path: Uint8Array, folder: Uint8Array, contents: Uint8Array, mode: number): Promise<number>;
  /** @returns the index of the first selected row that cannot be summed; -1: none, and `result` is written */
  plainHistogram(
    columns: readonly Float64Array[],
    selected: Uint32Array,
    bins: readonly Uint16Array[],
    binCounts: Uint32Array,
    result: Float64Array,
    threads: number,
  ): Promise<number>;
  /**
   * Divides scores by their labels, 1 or 0, sorts both parts, and writes auc and ks to `result`.
   * @returns the first row whose score is not a number or does not fit; -1: none
   */
  plainSeparation(
    scores: Float64Array,
    labels: Float64Array,
    positives: Float64Array,
    negatives: Float64Array,
    result: Float64Array,
  ): Promise<number>;

  // Loops over rows, in the calling thread. Those with rows return the index of the first that does not exist, or -1.

  /** Per column the sum over rows; with a bitmap over the rows, over those that are set. */
  rowSums(
    columns: readonly Float64Array[],
    rows: Uint32Array,
    bitmap: Uint8Array | null,
    result: Float64Array,
    threads: number,
  ): number;
  /** The sum of magnitudes. */
  rowSizes(column: Float64Array, rows: Uint32Array, result: Float64Array, threads: number): number;
  /** @returns the number of set bits among the first `count` */
  countBits(bitmap: Uint8Array, count: number, threads: number): number;
  /** Results have exactly the size that the bitmap says. */
  divideRows(rows: Uint32Array, bitmap: Uint8Array, inside: Uint32Array, outside: Uint32Array, threads: number): number;
  pickBits(bitmap: Uint8Array, positions: Uint32Array, result: Uint8Array, threads: number): number;
  /** @param bins of one feature */
  lookUpBits(
    table: Uint8Array,
    bins: readonly [Uint16Array],
    rows: Uint32Array,
    result: Uint8Array,
    threads: number,
  ): number;
  placeRows(
    column: Float64Array,
    rows: Uint32Array,
    placeOf: Int32Array | null,
    result: Int32Array,
    threads: number,
  ): number;
  /**
   * @param grid shift, top, resolution and largest
   * @returns the index of the first value that is below the shift, or not a number; -1: none
   */
  roundToGrid(values: Float64Array, grid: Float64Array, result: Float64Array, threads: number): number;
  markRows(rows: Uint32Array, number: number, result: Uint32Array, threads: number): number;
  addByLeaf(
    leaves: Uint32Array,
    weights: Float64Array,
    numbers: Float64Array,
    first: number,
    stride: number,
    threads: number,
  ): number;

  // Reading tables and making bins, in the calling thread: a piece of a table, or a column.

  /** What src/data/csv-rows.ts does. */
  csvRows(bytes: Uint8Array, state: Uint32Array, cells: Uint32Array, lines: Uint32Array): number;
  /**
   * Reads a column's cells as numbers, with NaN for the missing ones.
   * @param missing UTF-8 of tokens that mean missing, up to the end of each
   * @returns 0 where a cell needs TypeScript: text, a number beyond float32; 1 otherwise
   */
  csvNumbers(
    bytes: Uint8Array,
    cells: Uint32Array,
    shape: Uint32Array,
    missing: Uint8Array,
    missingEnds: Uint32Array,
    values: Float32Array,
  ): number;
  /** @returns 0 if two texts are the same; 1: each has its slot */
  placeTexts(units: Uint8Array, ends: Uint32Array, slots: Uint32Array, count: number): number;
  /**
   * Adds a column's cells to an index of texts (base/text/text-index.ts), trimmed.
   * @param rules bits of cellRules
   * @param found receives the index of each text
   * @returns the first row that needs TypeScript, or the number of rows
   */
  addCells(
    bytes: Uint8Array,
    cells: Uint32Array,
    shape: Uint32Array,
    first: number,
    rules: number,
    units: Uint8Array,
    ends: Uint32Array,
    slots: Uint32Array,
    count: number,
    found: Uint32Array,
  ): number;
  /** The loops of gbdt/split/column-loops.ts. */
  countUpper(values: Float32Array, counts: Uint32Array, range: Float64Array): void;
  countLower(values: Float32Array, places: Uint16Array, nextPlaces: Uint16Array, counts: Uint32Array): void;
  binValues(values: Float32Array, thresholds: Float32Array, bins: Uint16Array): void;
}

let loaded: PlainAddon | null | undefined;

/** Null if there is no addon, or TANDEM_KERNEL asks for portable arithmetic. */
export function plainAddon(): PlainAddon | null {
  if (loaded !== undefined) return loaded;
  try {
    const isWanted = process.env["TANDEM_KERNEL"] !== "portable";
    loaded = isWanted ? (createRequire(import.meta.url)(packagePath("build", "tandem.node")) as PlainAddon) : null;
  } catch {
    loaded = null;
  }
  return loaded;
}
