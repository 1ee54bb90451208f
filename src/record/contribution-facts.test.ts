import { expect, test } from "vitest";
import { contributionBars, contributionWords } from "./contribution-facts.ts";

const summary = {
  people: 1200,
  outputs: 1,
  isByParty: false,
  means: [
    { feature: "age", party: "bank", mean: 0.25 },
    { feature: null, party: "shop", mean: 1 },
    { feature: "debt", party: "bank", mean: 0 },
  ],
};

test("bars are sorted by size: own features by name, another party's as one", () => {
  expect(contributionBars(summary).map(({ name, part, words }) => [name, part, words])).toEqual([
    ["all features of shop", 1, "1"],
    ["age", 0.25, "0.25"],
    ["debt", 0, "0"],
  ]);
});

test("a damaged record does not produce bars of invalid length", () => {
  const means = [NaN, -1, Infinity].map((mean) => ({ feature: "x", party: "bank", mean }));
  expect(contributionBars({ ...summary, means }).every(({ part }) => part >= 0 && part <= 1)).toBe(true);
  expect(contributionBars({ ...summary, means: [] })).toEqual([]);
});

test("the text says how many people the means are over", () => {
  expect(contributionWords(summary)).toBe(
    "Mean size of SHAP values over the 1,200 people who were explained last, in the margin's unit.",
  );
  expect(contributionWords({ ...summary, people: 1, outputs: 3, isByParty: true })).toMatch(
    /the one person who .* over 3 classes\. Each passive party counts as one feature\.$/,
  );
});
