import { expect, test } from "vitest";
import type { RuleView } from "../../src/record/own-view.ts";
import { condition, nodeLines, splitWords } from "./tree-layout.ts";

const node = (rule: RuleView | null) =>
  ({ kind: "split", left: 1, right: 2, gain: 3.25, count: 1234, owner: "shop", rule }) as const;
const number: RuleView = { featureName: "income", threshold: 2.5, defaultLeft: true };
const categories: RuleView = {
  featureName: "job",
  categories: ["admin.", "blue-collar", "services"],
  defaultLeft: false,
};

test("a split in words, on numbers and on categories; another party's is closed", () => {
  expect(splitWords(node(number))).toBe("income < 2.5, missing goes left; gain 3.250; 1,234 people");
  expect(splitWords(node(categories))).toBe(
    "job not in {admin., blue-collar, services}, missing goes right; gain 3.250; 1,234 people",
  );
  expect(splitWords(node(null))).toBe("a split of shop; gain 3.250; 1,234 people");
});

test("a box has two short lines, however many categories there are", () => {
  expect(nodeLines(node(number))).toEqual(["income", "< 2.5 · 1,234"]);
  const [name, rule] = nodeLines(node(categories));
  expect(name).toBe("job");
  expect(rule).toBe("not in {admin.… · 1,234");
  expect(condition(categories)).toContain("services");
});
