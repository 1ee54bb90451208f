import { expect, test } from "vitest";
import { binFeature } from "../../gbdt/split/binning.ts";
import { binCategories } from "../../gbdt/split/category-binning.ts";
import { smallCategoriesOf } from "./small-categories.ts";

const codesOf = (counts: readonly number[]): Float32Array =>
  Float32Array.from(counts.flatMap((count, code) => Array.from({ length: count }, () => code)));
const named = (name: string, counts: readonly number[], oneHotBelow = 4) =>
  binCategories(name, codesOf(counts), [...counts.keys()].map(String), oneHotBelow);

test("columns that are split in sets, with categories of few people, by name", () => {
  expect(
    smallCategoriesOf([
      binFeature("age", codesOf([9, 1]), 8),
      named("fine", [9, 8, 5, 5]),
      named("town", [9, 4, 1, 1]),
      named("one by one", [9, 1]),
    ]),
  ).toEqual(["'town' has 3 of 4 with fewer than 5, on average 3.8"]);
});
