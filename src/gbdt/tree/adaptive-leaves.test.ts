import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { BoostingTask } from "../boost/boosting-task.ts";
import { checkConstraints, checkForest } from "../boost/train.ts";
import { quantileOf } from "../objective/quantile.ts";
import { binFeature } from "../split/binning.ts";
import { withQuantileLeaves } from "./adaptive-leaves.ts";
import type { TreeNode } from "./tree.ts";
import { TrainingRows } from "../rows/training-rows.ts";

const numbers = (...values: number[]): Float64Array => Float64Array.from(values);

describe("quantiles", () => {
  test.each([
    [0.5, 3],
    [0.25, 1.5],
    [0.1, 1], // before the first place
    [0.9, 5],
    [0.6, 3.6],
  ])("without weights: %d of five numbers is %d", (alpha, expected) => {
    expect(quantileOf(numbers(5, 1, 4, 2, 3), null, alpha)).toBeCloseTo(expected, 14);
  });

  test.each([
    [0.5, 10],
    [0.2, 10],
    [0.9, 30],
    [0.21, 10],
    [0.1, 5],
  ])("with weights: %d is %d, an existing value", (alpha, expected) => {
    expect(quantileOf(numbers(30, 10, 5), numbers(2, 7, 1), alpha)).toBe(expected);
  });

  test("of one number, and of none", () => {
    expect(quantileOf(numbers(7), null, 0.01)).toBe(7);
    expect(quantileOf(numbers(7), numbers(0), 0.99)).toBe(7);
    expect(quantileOf(numbers(), null, 0.5)).toBeNaN();
  });
});

const leaf: TreeNode<never> = { kind: "leaf", weight: 9, cover: 3, count: 3 };

test("leaves use sampled instances only; one without sampled instances is 0", () => {
  const grown = { tree: [leaf, leaf, leaf], leaves: Uint32Array.of(0, 0, 0, 1, 1, 2) };
  const asked = { residuals: numbers(1, 2, 30, -4, -6, 8), weights: null, alpha: 0.5, eta: 0.5 };
  const weights = (sample: Uint32Array | null): unknown[] =>
    withQuantileLeaves(grown, sample, asked).tree.map((node) => node.kind === "leaf" && node.weight);
  expect(weights(null)).toEqual([1, -2.5, 4]);
  expect(weights(Uint32Array.of(0, 2, 4))).toEqual([Math.fround(7.75), -3, 0]);
});

const quantiles = resolveParameters(trainingParameters, { objective: "reg:quantileerror", quantile_alpha: [0.1, 0.6] });

test("boosting starts from the quantile of the labels of the training rows", () => {
  const labels = numbers(1, 2, 3, 4, 1000);
  const median = resolveParameters(trainingParameters, { objective: "reg:absoluteerror" });
  expect(new BoostingTask(median, new TrainingRows(labels)).baseMargin()).toBe(3);
  expect(new BoostingTask(median, new TrainingRows(labels, { validation: Uint32Array.of(3, 4) })).baseMargin()).toBe(2);
  expect(new BoostingTask(quantiles, new TrainingRows(labels)).baseMargin()).toBeCloseTo((1 + 3.6) / 2, 14);
});

test("unsupported options are rejected", async () => {
  const ordered = { ...binFeature("age", Float32Array.of(1, 2, 3), 8), monotone: 1 };
  await expectError(() => checkConstraints(quantiles, [ordered]), "USAGE", /monotone constraints do not hold/);
  const vector = { ...quantiles, multi_strategy: "multi_output_tree" as const };
  await expectError(() => new BoostingTask(vector, new TrainingRows(numbers(1, 2))), "USAGE", /a tree per quantile/);
  await expectError(() => checkForest({ ...quantiles, num_parallel_tree: 2 }), "USAGE", /num_parallel_tree must be 1/);
});
