/**
 * Whether a feature may be split by category sets. A winning set reveals to its owner how each category's gradients
 * compare with the others. With one instance per category that reveals labels.
 */
import { TandemError } from "../../base/error.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";

/**
 * Missing values are not a category. A category without sampled instances reveals nothing, and is not counted; with
 * noise counts are not sent, and all categories are counted.
 * @param summedCount number of summed instances of the root
 * @param countMin minimum average number of instances per category
 * @throws TandemError POLICY
 */
export function checkCategories(
  { rows, groups, suppressed }: CandidateRows,
  summedCount: number,
  countMin: number,
  hidesCounts: boolean,
  party: string,
): void {
  const stride = rows.length / suppressed.length;
  let first = 0;
  for (const { size, hasMissing, flipped } of groups) {
    let [categories, inThem] = [0, 0];
    for (let place = 0; place < size - (hasMissing ? 1 : 0); place++) {
      if (suppressed[first + place] === 1) continue;
      const summed = rows[(first + place + 1) * stride - 1];
      const count = place === flipped ? summedCount - summed : summed;
      if (count > 0 || hidesCounts) categories++;
      inThem += count;
    }
    first += size;
    const average = (hidesCounts ? summedCount : inThem) / categories;
    if (average < countMin)
      throw new TandemError(
        "POLICY",
        `party ${party} has a feature with ${categories} categories of ${average.toFixed(1)} instances on average: ` +
          "a category set would reveal labels to it. Use a lower --min-category-people, ask for fewer categories, " +
          "or use --max-cat-to-onehot above their number",
      );
  }
}
