import { expect, test } from "vitest";
import { addSpending, nothingSpent, openedBitsMax, reachOfSums } from "./spending.ts";
import { membershipFacts } from "../base/membership.ts";
import { bitsMax } from "../protocol/hidden-sums.ts";
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

test("opened best candidates are no exact sums; a tree may open one at each node, siblings included", () => {
  const hidden = { ...terms, hidesSums: true };
  const opened = treeSpending({ nodes: 0, opened: 5, outcomes: 100 }, hidden, 100);
  expect(opened).toEqual({ ...nothingSpent, openedPerPerson: 0.1, outcomesPerPerson: 1 });
  const most = treeSpendingMax(hidden, 100);
  expect(most).toMatchObject({ sumsPerPerson: 0, noisySumsPerPerson: 0, openedPerPerson: (2 * 7) / 100 });
  // Each node is one of 2^(2B + 1) values.
  expect(openedBitsMax(most.openedPerPerson)).toBeCloseTo((7 * (2 * bitsMax + 1)) / 100);
});

test.each(["hidden", "not hidden"])(
  "what was sent decides: sums of all candidates are exact where sums are %s",
  (are) => {
    const agreed = { ...terms, hidesSums: are === "hidden" };
    const sent = treeSpending({ nodes: 4, opened: 1, outcomes: 0 }, agreed, 100);
    expect(sent).toMatchObject({ sumsPerPerson: 0.12, openedPerPerson: 0.02 });
    const vetted = treeSpendingMax({ ...agreed, isVetting: true }, 100);
    expect(vetted).toMatchObject({ sumsPerPerson: 0.03, openedPerPerson: 0 });
  },
);

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
