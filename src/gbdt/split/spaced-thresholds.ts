/**
 * Which thresholds of a numeric feature may be offered together. The sums of two thresholds determine, by subtraction,
 * that of the instances between them. So the offered thresholds divide the instances of each node into groups: below
 * the first, between neighbours, above the last. Each group must satisfy the minimum, at every node of a pair. Then
 * every sum or difference of visible sums is over at least that many instances, or over none.
 *
 * Missing values are a group too if they can be distinguished: the two directions of one threshold differ by them. If
 * this group is small, or empty, at a node of the pair, all missing values must go right there and below, and so count
 * as above the last threshold. If it is empty, the two directions have the same sum: with noise that would be two draws
 * for one sum, and without noise equal sums would reveal that no value is missing.
 *
 * This holds within one pair of nodes only: a node may have nearly the same instances as one group of its parent.
 */
import type { BinnedFeature } from "./binning.ts";
import { candidateCount, hasMirrored, thresholdIndex } from "./candidate.ts";

/**
 * Keeps thresholds from the lowest on, each if it is far enough from the previous kept one.
 * @param counts per node the instances of each bin, missing values last if any
 * @param offered per candidate 1 if each of its sides satisfies the minimum
 * @param above per candidate 1 if it was offered at the parent; null at the root
 */
export function spacedThresholds(
  feature: BinnedFeature,
  minimum: number,
  counts: readonly Float64Array[],
  offered: Uint8Array,
  above: Uint8Array | null,
): Uint8Array {
  const { binCount, hasMissing } = feature;
  const at = (bin: number, missingLeft: boolean): number => thresholdIndex(feature, bin, missingLeft);
  const kept = new Uint8Array(candidateCount(feature));
  const missing = counts.map((node) => (hasMissing ? node[binCount] : 0));
  const wereApart =
    above === null || Array.from({ length: binCount - 1 }, (_, bin) => at(bin, true)).some((i) => above[i] === 1);
  const areApart = hasMissing && wereApart && missing.every((count) => count >= minimum);

  const below = counts.map(() => 0);
  const upper = counts.map((node, i) => sum(node) - (areApart ? missing[i] : 0));
  const variants = areApart ? [false, true] : [false];
  for (let bin = 0; bin < binCount - 1; bin++) {
    counts.forEach((node, i) => {
      below[i] += node[bin];
      upper[i] -= node[bin];
    });
    const places = variants.map((missingLeft) => at(bin, missingLeft));
    const isKept =
      places.every((place) => offered[place] === 1) && [...below, ...upper].every((count) => count >= minimum);
    if (!isKept) continue;
    for (const place of places) kept[place] = 1;
    below.fill(0);
  }
  // The remaining candidate separates missing values from all others.
  const apart = [at(binCount - 1, false), ...(hasMirrored(feature) ? [at(-1, true)] : [])];
  if (areApart) for (const place of apart) kept[place] = offered[place];
  return kept;
}

function sum(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}
