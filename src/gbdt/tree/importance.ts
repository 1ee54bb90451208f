/**
 * Feature importance, in XGBoost's terms: weight, the number of splits; gain and cover, summed over them (XGBoost's
 * total_gain and total_cover; divided by weight, its gain and cover).
 */
import type { Tree } from "./tree.ts";

export interface Importance {
  readonly weight: number;
  readonly totalGain: number;
  readonly totalCover: number;
}

/**
 * @param keyOf the key under which a split is counted, null to skip it: a feature's name, or its owner
 * @returns the largest total gain first
 */
export function importanceBy<R, K>(trees: readonly Tree<R>[], keyOf: (rule: R) => K | null): Map<K, Importance> {
  const found = new Map<K, Importance>();
  for (const node of trees.flat()) {
    if (node.kind === "leaf") continue;
    const key = keyOf(node.rule);
    if (key === null) continue;
    const { weight, totalGain, totalCover } = found.get(key) ?? { weight: 0, totalGain: 0, totalCover: 0 };
    found.set(key, { weight: weight + 1, totalGain: totalGain + node.gain, totalCover: totalCover + node.cover });
  }
  return new Map([...found].toSorted(([, a], [, b]) => b.totalGain - a.totalGain));
}
