/**
 * A categorical feature: every category that occurs in the training rows is a bin of its own, the most frequent first,
 * equally frequent ones in the order of their texts. With `bin_cuts: xgboost` all are in the order of their texts, as
 * pandas numbers them for XGBoost.
 *
 * A category's code is its bin. Codes break ties between categories with equal weights
 * (gbdt/split/category-partition.ts), so categories are in the order of their codes in a passive party's answers. An
 * order by frequency reveals nothing more than the counts in the same answer; that of texts reveals itself
 * (docs/decisions/0075-codes-of-pandas.md).
 */
import { TandemError } from "../../base/error.ts";
import { byCodePoints } from "../../base/text/code-points.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { hasVectorLeaves } from "../objective/outputs.ts";
import type { BinnedFeature } from "./binning.ts";

/** Limit per feature. Sums are sent per category, and a column with more is an id rather than a category. */
export const categoryCountMax = 4096;

/** Features with fewer categories than this are split one category against the rest (XGBoost's UseOneHot). */
export function oneHotBelow(parameters: TrainingParameters): number {
  // Category sets are found along an order of leaf weights, and a leaf with several outputs has several weights.
  return hasVectorLeaves(parameters) ? categoryCountMax + 1 : parameters.max_cat_to_onehot;
}

/** How categories are numbered. */
export type CategoryOrder = "frequency" | "text";

/**
 * @param codes per row an index into `names`; NaN is a missing value
 * @param training the rows that determine the categories; null: all
 * @throws TandemError USAGE for more categories than categoryCountMax
 */
export function binCategories(
  name: string,
  codes: Float32Array,
  names: readonly string[],
  oneHotBelowCount: number,
  training: Uint32Array | null = null,
  order: CategoryOrder = "frequency",
): BinnedFeature {
  const counts = new Uint32Array(names.length);
  const deciding = training?.length ?? codes.length;
  let present = 0;
  for (let i = 0; i < deciding; i++) {
    const code = codes[training === null ? i : training[i]];
    if (Number.isNaN(code)) continue;
    counts[code]++;
    present++;
  }
  const found = Array.from(counts.keys()).filter((code) => counts[code] > 0);
  if (found.length > categoryCountMax) {
    throw new TandemError(
      "USAGE",
      `column '${name}' has ${found.length} categories, more than ${categoryCountMax}. Leave it out, or join some`,
    );
  }
  found.sort(
    order === "text"
      ? (a, b) => byCodePoints(names[a], names[b])
      : (a, b) => counts[b] - counts[a] || (names[a] < names[b] ? -1 : 1),
  );
  const binCount = found.length;
  const binOfCode = new Uint16Array(names.length).fill(binCount + 1);
  found.forEach((code, bin) => (binOfCode[code] = bin));
  const bins = Uint16Array.from(codes, (code) => (Number.isNaN(code) ? binCount : binOfCode[code]));
  return {
    name,
    thresholds: new Float32Array(0),
    lowest: 0,
    categories: found.map((code) => names[code]),
    oneHot: binCount < oneHotBelowCount,
    binCount,
    hasMissing: present < deciding,
    bins,
  };
}
