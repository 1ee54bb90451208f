/**
 * The functions of the native addon that use no cipher (native/plain-*.h, row-loops.h), if it is built and loads. TypeScript
 * versions in the callers give the same bits, and are its oracle.
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
