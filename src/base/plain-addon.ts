/**
 * What the native addon does without any cipher (native/plain-*.h), where it is built and loads. The TypeScript beside
 * whoever calls it gives the same bits, and is what it is held to.
 */
import { createRequire } from "node:module";
import { packagePath } from "./package-root.ts";

export interface PlainAddon {
  /** All paths as bytes. @returns 0, -1 where this system cannot, or the number of the error */
  writeFileDurably(
    temporary: Uint8Array,
    path: Uint8Array,
    folder: Uint8Array,
    contents: Uint8Array,
    mode: number,
  ): Promise<number>;
  appendFileDurably(path: Uint8Array, folder: Uint8Array, contents: Uint8Array, mode: number): Promise<number>;
  /** @returns the place of the first selected row that cannot be summed; -1: none. Then `result` is written */
  plainHistogram(
    columns: readonly Float64Array[],
    selected: Uint32Array,
    bins: readonly Uint16Array[],
    binCounts: Uint32Array,
    result: Float64Array,
    threads: number,
  ): Promise<number>;
  /**
   * Parts scores by their labels, 1 or 0, sorts both parts, and writes auc and ks to `result`.
   * @returns the first row whose score is no number or that does not fit; -1: none
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

/** Null where there is none, or TANDEM_KERNEL asks for portable arithmetic. */
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
