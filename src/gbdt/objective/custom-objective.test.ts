import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { logCosh } from "../../../test/support/log-cosh.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters, type TrainingParameters } from "../parameters/training-parameters.ts";
import { BoostingTask } from "../boost/boosting-task.ts";
import type { CustomObjective } from "./custom-objective.ts";
import { TrainingRows } from "../rows/training-rows.ts";

const labels = Float64Array.of(1, 2, 3);
const squared = resolveParameters(trainingParameters, { objective: "reg:squarederror" });

function task(custom: CustomObjective, held: Uint32Array | null = null, parameters: TrainingParameters = squared) {
  return new BoostingTask(parameters, new TrainingRows(labels, { validation: held, custom }));
}

test("its gradients are used, within its bounds, and it cannot modify its arguments", () => {
  const spoiling: CustomObjective = {
    ...logCosh,
    gradients(margins, given, weights) {
      const made = logCosh.gradients(margins, given, weights);
      margins.fill(9);
      given.fill(9);
      return made;
    },
  };
  const own = task(spoiling);
  const margins = Float64Array.of(1, 1, 1);
  const { values, bounds } = own.gradients(margins);
  expect(values[0][1]).toBeCloseTo(Math.tanh(-1), 15);
  expect(bounds).toEqual([
    { min: -2, max: 2 },
    { min: 0, max: 2 },
  ]);
  expect([...margins, ...own.rows.labels]).toEqual([1, 1, 1, 1, 2, 3]);
});

describe("refused", () => {
  const giving = (g: readonly number[], h: readonly number[]): CustomObjective => ({
    ...logCosh,
    gradients: () => ({ g: Float64Array.from(g), h: Float64Array.from(h) }),
  });
  const margins = new Float64Array(3);

  test.each([
    ["a g above", giving([0, 2.1, 0], [1, 1, 1]), /instance 1 a g outside(?!.*2\.1)/],
    ["a g below", giving([0, 0, -7], [1, 1, 1]), /instance 2 a g/],
    ["a g that is not a number", giving([NaN, 0, 0], [1, 1, 1]), /instance 0 a g/],
    ["an h below", giving([0, 0, 0], [1, -0.1, 1]), /instance 1 a h/],
    ["an h without end", giving([0, 0, 0], [1, 1, Infinity]), /instance 2 a h/],
  ])("%s", async (_name, custom, words) => {
    await expectError(() => task(custom).gradients(margins), "LAYOUT_RANGE", words);
  });

  test("too few of them", async () => {
    await expectError(() => task(giving([0], [1])).gradients(margins), "USAGE", /for every instance/);
  });

  test.each<[string, CustomObjective["bounds"]]>([
    ["without end", { g: { min: -Infinity, max: 1 }, h: { min: 0, max: 1 } }],
    ["the wrong way round", { g: { min: 1, max: -1 }, h: { min: 0, max: 1 } }],
    ["a hessian below 0", { g: { min: -1, max: 1 }, h: { min: -1, max: 1 } }],
  ])("bounds %s", async (_name, bounds) => {
    await expectError(() => task({ ...logCosh, bounds }), "USAGE", /declare/);
  });

  test("in place of an objective that needs its own gradients", async () => {
    const median = resolveParameters(trainingParameters, { objective: "reg:absoluteerror" });
    await expectError(() => task(logCosh, null, median), "USAGE", /cannot replace/);
  });
});

test("a held-out row may have any gradient", () => {
  const custom: CustomObjective = {
    ...logCosh,
    gradients: () => ({ g: Float64Array.of(0, 99, 0), h: Float64Array.of(1, 99, 1) }),
  };
  expect(task(custom, Uint32Array.of(1)).gradients(new Float64Array(3)).values[0][0]).toBe(0);
});
