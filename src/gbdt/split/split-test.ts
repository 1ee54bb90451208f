/**
 * What a split asks of a value. Numbers: x < threshold (float32) goes left. Categories: whoever is in one of the named
 * ones goes right, everybody else left, also in a category that no training row had (XGBoost's common::Decision).
 * Missing values go the default way.
 *
 * Rules name categories by their texts, so that they mean the same whatever codes a table gives them: columns hold
 * codes with a list of names beside them.
 */
import { TandemError } from "../../base/error.ts";
import type { BinnedFeature } from "./binning.ts";
import { type Candidate, thresholdOf } from "./candidate.ts";

export type SplitTest = {
  /** Where missing values go. */
  readonly defaultLeft: boolean;
} & (
  | { readonly threshold: number; readonly categories?: undefined }
  | { readonly threshold?: undefined; readonly categories: readonly string[] }
);

/** What the codes of a column stand for; null of a column of numbers. */
export type CategoryNames = readonly string[] | null;

/** What a candidate of a feature asks; categories in the order of their texts. */
export function testOf(feature: BinnedFeature, candidate: Candidate): SplitTest {
  const defaultLeft = candidate.missingLeft;
  if (!("categories" in candidate)) return { threshold: thresholdOf(feature, candidate), defaultLeft };
  return { categories: candidate.categories.map((code) => feature.categories?.[code] ?? "").sort(), defaultLeft };
}

/** Whether a value takes the left branch; `x` must be a float32 number, or a code into `names`. NaN = missing. */
export function valueGoesLeft(test: SplitTest, x: number, names: CategoryNames = null): boolean {
  if (Number.isNaN(x)) return test.defaultLeft;
  return test.categories === undefined ? x < test.threshold : !test.categories.includes(names?.[x] ?? "");
}

/** valueGoesLeft for many values of one column: names are compared once. */
export function columnTest(test: SplitTest, names: CategoryNames): (x: number) => boolean {
  const { defaultLeft } = test;
  if (test.categories === undefined) {
    const { threshold } = test;
    return (x) => (Number.isNaN(x) ? defaultLeft : x < threshold);
  }
  const chosen = new Set(test.categories);
  const goesLeft = Uint8Array.from(names ?? [], (name) => (chosen.has(name) ? 0 : 1));
  return (x) => (Number.isNaN(x) ? defaultLeft : goesLeft[x] !== 0);
}

/**
 * A split is made for a column of numbers or of categories, and data may have changed since then.
 * @throws TandemError COLUMN_UNKNOWN naming the feature if the column is not of the rule's kind; one without any value
 * is of both
 */
export function checkKind(
  { categories }: SplitTest,
  featureName: string,
  values: Float32Array,
  names: CategoryNames,
): void {
  if ((categories === undefined) === (names === null) || values.every((x) => Number.isNaN(x))) return;
  const [wanted, found] = categories === undefined ? ["numbers", "text"] : ["categories", "numbers"];
  const advice = categories === undefined ? "" : ". Name it in 'data.categorical'";
  throw new TandemError(
    "COLUMN_UNKNOWN",
    `the data has ${found} in column '${featureName}', where the model asks about ${wanted}${advice}`,
  );
}
