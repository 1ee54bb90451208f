import { expect, test } from "vitest";
import { addSpending, nothingSpent, reachOfSums } from "./spending.ts";
import { membershipFacts } from "../base/membership.ts";
import { treeSpending, treeSpendingMax } from "./tree-spending.ts";

const terms = { maxDepth: 3, maxLeaves: 0, outputs: 1, answerNoise: 0 };

test("where members are hidden no count is received, and a won split reveals a side of every instance", () => {
  const hidden = { ...terms, membership: membershipFacts.hidden };
  const tree = { nodes: 4, outcomes: 100 };
  expect(treeSpending(tree, hidden, 100).sumsPerPerson).toBeCloseTo((4 * 2) / 100);
  expect(treeSpending(tree, terms, 100).sumsPerPerson).toBeCloseTo((4 * 3) / 100);
  const [most, ofSent] = [treeSpendingMax(hidden, 100), treeSpendingMax(terms, 100)];
  expect([most.outcomesPerPerson, ofSent.outcomesPerPerson]).toEqual([2 ** terms.maxDepth - 1, terms.maxDepth]);
  const drawn = treeSpendingMax({ ...hidden, drawsColumns: true }, 100);
  expect(drawn.sumsPerPerson).toBeCloseTo(((2 ** terms.maxDepth - 1) * 2) / 100); // both children of every pair
});

test("trees of depth 3 over 22,500 instances: three numbers at four nodes each, as the attacks count them", () => {
  const perTree = treeSpendingMax(terms, 22_500);
  expect(50 * perTree.sumsPerPerson).toBeCloseTo(0.0267, 4);
  expect(perTree.noisySumsPerPerson).toBe(0);
  expect(perTree.outcomesPerPerson).toBe(3);
  expect(reachOfSums(50 * perTree.sumsPerPerson)).toBe("some");
  const deep = treeSpendingMax({ ...terms, maxDepth: 5 }, 22_500);
  expect(reachOfSums(50 * deep.sumsPerPerson)).toBe("all");
});

test("with noise no count is sent, and the sums are counted separately", () => {
  const exact = treeSpending({ nodes: 4, outcomes: 100 }, terms, 100);
  const noisy = treeSpending({ nodes: 4, outcomes: 100 }, { ...terms, answerNoise: 10 }, 100);
  expect(exact).toEqual({ ...nothingSpent, sumsPerPerson: 0.12, outcomesPerPerson: 1 });
  expect(noisy).toEqual({ ...nothingSpent, noisySumsPerPerson: 0.08, outcomesPerPerson: 1 });
  expect(addSpending(exact, noisy)).toMatchObject({ sumsPerPerson: 0.12, noisySumsPerPerson: 0.08 });
});

test("noise that hides no instance does not make exact sums cheaper", () => {
  const weak = treeSpending({ nodes: 4, outcomes: 100 }, { ...terms, answerNoise: 0.01 }, 100);
  expect(weak).toEqual({ ...nothingSpent, sumsPerPerson: 0.08, outcomesPerPerson: 1 });
});

test("sums are over training rows; outcomes are revealed for every instance", () => {
  const held = treeSpending({ nodes: 4, outcomes: 100 }, terms, 100, 10);
  expect(held).toEqual({ ...nothingSpent, sumsPerPerson: 1.2, outcomesPerPerson: 1 });
  expect(treeSpendingMax(terms, 100, 10).sumsPerPerson).toBeCloseTo(10 * treeSpendingMax(terms, 100).sumsPerPerson);
});

test("several outputs are several pairs of numbers; max_leaves bounds trees without a depth", () => {
  const many = treeSpending({ nodes: 1, outcomes: 0 }, { ...terms, outputs: 3 }, 10);
  expect(many.sumsPerPerson).toBeCloseTo(0.7);
  const leaves = treeSpendingMax({ ...terms, maxDepth: 0, maxLeaves: 4 }, 10);
  expect(leaves.sumsPerPerson).toBeCloseTo((3 * 3) / 10);
  expect(leaves.outcomesPerPerson).toBe(3);
});
