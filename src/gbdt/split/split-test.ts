/**
 * The condition of a split. Numbers: x < threshold (float32) goes left. Categories: values in the named categories go
 * right, all others left, also unknown categories (XGBoost's common::Decision). Missing values go the default way.
 *
 * Rules name categories by their texts, so that they do not depend on a table's codes: columns hold codes and a list of
 * names.
 */
import { TandemError } from "../../base/error.ts";
import type { BinnedFeature } from "./binning.ts";
import { type Candidate, candidateThreshold } from "./candidate.ts";

export type SplitTest = {
  /** The direction of missing values. */
  readonly defaultLeft: boolean;
} & (
  | { readonly threshold: number; readonly categories?: undefined }
  | { readonly threshold?: undefined; readonly categories: readonly string[] }
);

/** The category of each code of a column; null for a numeric column. */
export type CategoryNames = readonly string[] | null;

/** The condition of a candidate; categories in the order of their texts. */
export function toSplitTest(feature: BinnedFeature, candidate: Candidate): SplitTest {
  const defaultLeft = candidate.missingLeft;
  if (!("categories" in candidate)) return { threshold: candidateThreshold(feature, candidate), defaultLeft };
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

/** valueGoesLeft for values of one column from a place on, one for each byte of the target: 1 goes left. */
export function columnOutcomes(
  test: SplitTest,
  { values, names }: { readonly values: Float32Array; readonly names: CategoryNames },
  first: number,
  target: Uint8Array,
): void {
  if (test.categories !== undefined) {
    const goesLeft = columnTest(test, names);
    for (let i = 0; i < target.length; i++) target[i] = goesLeft(values[first + i]) ? 1 : 0;
    return;
  }
  const { threshold } = test;
  const missing = test.defaultLeft ? 1 : 0;
  for (let i = 0; i < target.length; i++) {
    const x = values[first + i];
    target[i] = x < threshold ? 1 : Number.isNaN(x) ? missing : 0;
  }
}

/**
 * Checks that a column is numeric or categorical as the split needs; the data may have changed since training.
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
    `the data has ${found} in column '${featureName}', but the model needs ${wanted}${advice}`,
  );
}
