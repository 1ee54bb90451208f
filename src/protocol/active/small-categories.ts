/**
 * Whether sets of a feature's categories may be named at all. A set that wins tells its owner, of each category, on
 * which side of the others its people's leaf weight is. With one person in each that is a label.
 */
import { TandemError } from "../../base/error.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";

/**
 * Missing values are no category. A category that nobody of the sample has tells nothing, and is not counted; with
 * noise no count is told, and all are.
 * @param people of the root that are summed
 * @param peopleMin what a category must have on average
 * @throws TandemError POLICY
 */
export function checkCategories(
  { rows, groups, withheld }: CandidateRows,
  people: number,
  peopleMin: number,
  hidesCounts: boolean,
  party: string,
): void {
  const stride = rows.length / withheld.length;
  let first = 0;
  for (const { size, hasMissing, flipped } of groups) {
    let [categories, inThem] = [0, 0];
    for (let place = 0; place < size - (hasMissing ? 1 : 0); place++) {
      if (withheld[first + place] === 1) continue;
      const summed = rows[(first + place + 1) * stride - 1];
      const count = place === flipped ? people - summed : summed;
      if (count > 0 || hidesCounts) categories++;
      inThem += count;
    }
    first += size;
    const average = (hidesCounts ? people : inThem) / categories;
    if (average < peopleMin)
      throw new TandemError(
        "POLICY",
        `party ${party} has a feature with ${categories} categories of ${average.toFixed(1)} people on average: ` +
          "a set of them would tell it labels. Use a lower --min-category-people, ask for fewer categories, " +
          "or use --max-cat-to-onehot above their number",
      );
  }
}
