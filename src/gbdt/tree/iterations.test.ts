import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { iterationRangeFrom, treesIn, treesPerRound } from "./iterations.ts";
import type { Tree } from "./tree.ts";

const leaf = { kind: "leaf", weight: 1, cover: 1, count: 1 } as const;
const trees = (count: number, tree: Tree<never> = [leaf]) => Array.from({ length: count }, () => tree);

test("a round is a tree, a tree per output, or one tree for all outputs", () => {
  expect(treesPerRound({ trees: trees(4) })).toBe(1);
  expect(treesPerRound({ trees: trees(6), outputCount: 3 })).toBe(3);
  expect(treesPerRound({ trees: trees(12), outputCount: 3, parallelTrees: 2 })).toBe(6);
  expect(treesPerRound({ trees: trees(6, [{ ...leaf, weights: [1, 2, 3] }]), outputCount: 3 })).toBe(1);
});

test("rounds are counted as XGBoost counts them: 0 at the end stands for all, an empty range for none", async () => {
  const model = { trees: trees(6), outputCount: 3 };
  expect(treesIn(model, { begin: 0, end: 0 })).toEqual({ first: 0, end: 6 });
  expect(treesIn(model, { begin: 1, end: 0 })).toEqual({ first: 3, end: 6 });
  expect(treesIn(model, { begin: 0, end: 1 })).toEqual({ first: 0, end: 3 });
  expect(treesIn(model, { begin: 2, end: 2 })).toEqual({ first: 6, end: 6 });
  for (const [begin, end] of [
    [0, 3],
    [2, 1],
    [3, 0],
  ])
    await expectError(() => treesIn(model, { begin, end }), "USAGE", /the model has 2/);
});

test("a range is written as two numbers", async () => {
  expect(iterationRangeFrom("0:10")).toEqual({ begin: 0, end: 10 });
  for (const wrong of ["", "3", "1:", ":2", "-1:2", "1:2:3", "1.5:2", "a:b"])
    await expectError(() => iterationRangeFrom(wrong), "USAGE", /two whole numbers/);
});
