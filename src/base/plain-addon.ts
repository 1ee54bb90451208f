/**
 * The functions of the native addon that use no cipher (native/plain-*.h), if it is built and loads. TypeScript
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
