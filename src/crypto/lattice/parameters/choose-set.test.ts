import { expect, test } from "vitest";
import { expectError } from "../../../../test/support/expect-error.ts";
import { chooseSet, largestResolution } from "./choose-set.ts";
import { type AnswerBudget, distanceLog2, isHidden } from "./distance.ts";
import { jobBounds } from "./job-bounds.ts";
import { latticeSets } from "./sets.ts";

const { A, B } = latticeSets;

const jobs: readonly AnswerBudget[] = [
  { nodesMax: 50 * 4, outputs: 1, candidateCount: 620 },
  { nodesMax: 100 * 32, outputs: 1, candidateCount: 620 },
  { nodesMax: 500 * 32, outputs: 1, candidateCount: 6200 },
];

const reached = (rowCount: number, budget: AnswerBudget): string =>
  [A, B].map((set) => largestResolution(set, { rowCount }, budget)).join(" / ");

/** If the summed side has at most half of the rows, which a passive party knows but does not reveal. */
test.each([
  [1000, "24 / 24", "24 / 24", "24 / 24"],
  [18_300, "24 / 24", "23 / 24", "20 / 24"],
  [30_000, "24 / 24", "22 / 24", "19 / 24"],
  [100_000, "22 / 24", "20 / 24", "17 / 24"],
  [300_000, "19 / 24", "17 / 24", "15 / 22"],
  [1_000_000, "17 / 23", "15 / 22", "12 / 21"],
  [4_000_000, "14 / 21", "12 / 20", "9 / 18"],
])("%i rows: resolution bits if at most half of them are summed", (rowCount, ...bits) => {
  expect(jobs.map((budget) => reached(rowCount, { ...budget, sideRowsMax: rowCount / 2 }))).toEqual(bits);
});

/** The public bound: the table of docs/lattice.md. */
test.each([
  [1000, "24 / 24", "24 / 24", "24 / 24"],
  [18_300, "24 / 24", "23 / 24", "20 / 24"],
  [30_000, "24 / 24", "22 / 24", "19 / 24"],
  [100_000, "21 / 24", "19 / 24", "16 / 24"],
  [300_000, "19 / 24", "17 / 24", "14 / 22"],
  [1_000_000, "16 / 23", "14 / 22", "11 / 21"],
  [4_000_000, "13 / 21", "11 / 20", "8 / 18"],
])("%i rows: resolution bits for any number of summed rows", (rowCount, ...bits) => {
  expect(jobs.map((budget) => reached(rowCount, budget))).toEqual(bits);
});

test("the largest resolution is within the limit, and one more bit exceeds it", () => {
  for (const set of [A, B]) {
    const budget = jobs[2];
    const rows = { rowCount: 1_000_000 };
    const resolutionBits = largestResolution(set, rows, budget);
    if (resolutionBits === undefined) throw new Error("no resolution is reached");
    const bounds = jobBounds(set, { ...rows, resolutionBits });
    expect(isHidden(bounds, budget)).toBe(true);
    expect(distanceLog2(bounds, budget)).toBeLessThanOrEqual(-40);
    expect(isHidden(jobBounds(set, { ...rows, resolutionBits: resolutionBits + 1 }), budget)).toBe(false);
  }
});

test("the distance follows the formula, rounded up", () => {
  const bounds = jobBounds(A, { rowCount: 18_300, resolutionBits: 20 });
  const budget = { nodesMax: 400, outputs: 1, candidateCount: 620 };
  const squares = 400 * 2 * 620 * 8 * (18_300 + (4 * 4096) / 3);
  const exact = Math.log2((0.5 * Math.sqrt(0.779 * squares)) / Number(bounds.smudgingWidth));
  const shown = distanceLog2(bounds, budget);
  expect(shown).toBeGreaterThanOrEqual(exact);
  expect(shown - exact).toBeLessThan(0.0101);
  // Four times the answers cost one bit, whatever causes them.
  for (const more of [{ nodesMax: 1600 }, { outputs: 4 }, { candidateCount: 2480 }])
    expect(distanceLog2(bounds, { ...budget, ...more })).toBeCloseTo(shown + 1, 9);
});

test("the Fisher information of the smudging noise is at most 0.779 / W^2", () => {
  // Sum of four uniforms of width 1, by its density on [0, 2] and symmetry; a width of 2W divides by 4 W^2.
  const density = (x: number): number => (x < 1 ? x ** 3 : -3 * x ** 3 + 12 * x ** 2 - 12 * x + 4) / 6;
  const slope = (x: number): number => (x < 1 ? 3 * x ** 2 : -9 * x ** 2 + 24 * x - 12) / 6;
  const steps = 100_000;
  let information = 0;
  for (let i = 0; i < steps; i++) {
    const x = (2 * (i + 0.5)) / steps;
    information += (2 * slope(x) ** 2 * 2) / (density(x) * steps);
  }
  expect(information / 4).toBeLessThan(0.779);
  expect(information / 4).toBeGreaterThan(0.778);
});

test("set A is chosen if it reaches the wanted bits, or 20 bits", () => {
  const choice = (wanted: number, rowCount: number, budget: AnswerBudget): unknown[] => {
    const { set, resolutionBits } = chooseSet(wanted, { rowCount }, budget);
    return [set.name, resolutionBits];
  };
  expect(choice(24, 18_300, jobs[0])).toEqual(["A", 24]);
  expect(choice(24, 18_300, jobs[1])).toEqual(["A", 23]);
  expect(choice(24, 30_000, jobs[2])).toEqual(["B", 24]);
  expect(choice(19, 30_000, jobs[2])).toEqual(["A", 19]);
  expect(choice(10, 1_000_000, jobs[2])).toEqual(["A", 10]);
  expect(choice(24, 4_000_000, jobs[2])).toEqual(["B", 18]);
  // 129 pairs do not fit a node of set A.
  expect(choice(12, 1000, { ...jobs[0], outputs: 129 })).toEqual(["B", 12]);
  expect(choice(12, 1000, { ...jobs[0], outputs: 128 })).toEqual(["A", 12]);
});

test("impossible budgets and jobs that cannot be hidden are rejected", async () => {
  const rows = { rowCount: 1000 };
  await expectError(() => chooseSet(24, rows, { ...jobs[0], candidateCount: 65_537 }), "USAGE", /at most 65536/);
  expect(chooseSet(20, rows, { ...jobs[0], candidateCount: 65_536 }).set).toBe(A);
  expect(largestResolution(B, rows, { ...jobs[0], candidateCount: 16_384 })).toBe(24);
  await expectError(
    () => largestResolution(B, rows, { ...jobs[0], candidateCount: 16_385 }),
    "USAGE",
    /at most 16384 candidates per party in set B; .*--resolution-bits/,
  );
  await expectError(() => chooseSet(24, rows, { ...jobs[0], outputs: 257 }), "USAGE", /at most 256 outputs/);
  await expectError(() => chooseSet(24, rows, { ...jobs[0], nodesMax: 0 }), "USAGE", /1 or more/);
  await expectError(() => chooseSet(24, rows, { ...jobs[0], nodesMax: 1.5 }), "USAGE", /1 or more/);
  await expectError(() => chooseSet(25, rows, jobs[0]), "USAGE", /between 4 and 24/);
  await expectError(() => chooseSet(24, { rowCount: 2 ** 46 }, jobs[2]), "LAYOUT_OVERFLOW", /cannot hide/);
});
