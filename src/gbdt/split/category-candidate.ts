/**
 * The sums of a categorical feature, as candidates that split off the summed side, in tie order:
 * - one category against the rest (XGBoost's EnumerateOneHot): each category, missing values left before right with
 * it;
 * - category sets: the sum of each category alone, and of the missing values alone; the sets are formed from these
 * sums
 *   afterwards (gbdt/split/category-partition.ts), by the party that can read them.
 */
import type { BinnedFeature } from "./binning.ts";
import type { CategoryCandidate } from "./candidate.ts";

export type CategoricalFeature = BinnedFeature & { readonly categories: readonly string[] };

export function isCategorical(feature: BinnedFeature): feature is CategoricalFeature {
  return feature.categories !== undefined;
}

/** Whether it is split by category sets: then its candidates are single categories. */
export function isPartitioned(feature: BinnedFeature): boolean {
  return isCategorical(feature) && feature.oneHot !== true;
}

/** No candidate has a side without a bin. */
export function categoryCandidates(feature: CategoricalFeature): CategoryCandidate[] {
  const { binCount, hasMissing } = feature;
  const alone = Array.from({ length: binCount }, (_, category): CategoryCandidate => ({
    categories: [category],
    missingLeft: true,
  }));
  if (isPartitioned(feature))
    return binCount < 2 ? [] : hasMissing ? [...alone, { categories: [], missingLeft: false }] : alone;
  if (!hasMissing) return binCount < 2 ? [] : alone;
  return binCount < 2 ? alone : alone.flatMap((candidate) => [candidate, { ...candidate, missingLeft: false }]);
}

export function categoryCandidateCount(feature: CategoricalFeature): number {
  const { binCount, hasMissing } = feature;
  if (binCount < 2) return !isPartitioned(feature) && hasMissing ? binCount : 0;
  if (!hasMissing) return binCount;
  return isPartitioned(feature) ? binCount + 1 : 2 * binCount;
}

/** A candidate's index in categoryCandidates. */
export function categoryCandidateIndex(
  feature: CategoricalFeature,
  { categories, missingLeft }: CategoryCandidate,
): number {
  const { binCount, hasMissing } = feature;
  if (isPartitioned(feature)) return categories.length === 0 ? binCount : categories[0];
  return hasMissing && binCount > 1 ? 2 * categories[0] + (missingLeft ? 0 : 1) : categories[0];
}

/** The bins of the side that a candidate splits off: its categories, and the missing values if they go right too. */
export function rightBins(
  { binCount, hasMissing }: BinnedFeature,
  { categories, missingLeft }: CategoryCandidate,
): readonly number[] {
  return hasMissing && !missingLeft ? [...categories, binCount] : categories;
}
