/** Losses, bounds and rejected labels of further objectives; other tests compare trees with XGBoost's. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters, type TrainingParameters } from "../parameters/training-parameters.ts";
import { baseMarginFrom, predictionsFrom, objectiveFor, type ObjectiveName, predictionCount } from "./objectives.ts";

const defaults = resolveParameters(trainingParameters, {});
const logLoss = (margin: number, label: number): number => Math.log1p(Math.exp(margin)) - label * margin;

/** A loss, and labels that it accepts. */
const smooth: readonly [
  ObjectiveName,
  fc.Arbitrary<number>,
  (m: number, y: number, p: TrainingParameters) => number,
][] = [
  ["reg:logistic", fc.double({ min: 0, max: 1, noNaN: true }), logLoss],
  ["binary:logitraw", fc.constantFrom(0, 1), logLoss],
  ["reg:gamma", fc.double({ min: 0.01, max: 9, noNaN: true }), (m, y) => y / Math.exp(m) + m],
  [
    "reg:tweedie",
    fc.double({ min: 0, max: 9, noNaN: true }),
    (m, y, { tweedie_variance_power: rho }) =>
      Math.exp((2 - rho) * m) / (2 - rho) - (y * Math.exp((1 - rho) * m)) / (1 - rho),
  ],
];

describe.each(smooth)("%s", (name, labels, loss) => {
  it("differentiates its loss, twice, and stays within the bounds that it states", () => {
    const objective = objectiveFor(name);
    fc.assert(
      fc.property(
        fc.double({ min: -3, max: 3, noNaN: true }),
        labels,
        fc.constantFrom(1.1, 1.5, 1.9),
        (margin, label, tweedie_variance_power) => {
          const parameters = { ...defaults, tweedie_variance_power };
          const [g, h] = objective.gradients(Float64Array.of(margin), Float64Array.of(label), parameters);
          const step = 1e-4;
          const [below, at, above] = [margin - step, margin, margin + step].map((m) => loss(m, label, parameters));
          const near = (ours: number, theirs: number): void =>
            expect(Math.abs(ours - theirs)).toBeLessThan(1e-4 * (1 + Math.abs(theirs)));
          near(g[0], (above - below) / (2 * step));
          near(h[0], (above - 2 * at + below) / step ** 2);
          const bounds = objective.bounds(parameters);
          if (bounds.g !== null) expect(g[0] >= bounds.g.min && g[0] <= bounds.g.max).toBe(true);
          if (bounds.h !== null) expect(h[0] >= bounds.h.min && h[0] <= bounds.h.max).toBe(true);
        },
      ),
    );
  });
});

test("binary:hinge has a gradient for instances within the margin 1", () => {
  const hinge = objectiveFor("binary:hinge");
  const [g, h] = hinge.gradients(Float64Array.of(0.5, 1, 2, -2, 0), Float64Array.of(1, 1, 0, 0, 0), defaults);
  expect([...g]).toEqual([-1, 0, 1, 0, 1]);
  expect([...h]).toEqual([1, 0, 1, 0, 1]);
  expect([...predictionsFrom("binary:hinge", Float64Array.of(-1, 0, 0.1))]).toEqual([0, 0, 1]);
});

test("multi:softmax predicts a class, the lowest on a tie, and is evaluated by probabilities", () => {
  const softmax = objectiveFor("multi:softmax");
  const margins = Float64Array.of(1, 2, 0, 3, 3, 1);
  expect([...predictionsFrom("multi:softmax", margins, 3)]).toEqual([1, 0]);
  expect(softmax.evaluated?.(margins, 3)).toEqual(predictionsFrom("multi:softprob", margins, 3));
  expect([predictionCount("multi:softmax", 3), predictionCount("multi:softprob", 3)]).toEqual([1, 3]);
});

const badLabels: readonly [ObjectiveName, readonly (readonly number[])[], readonly number[]][] = [
  ["reg:logistic", [[0.5, 1.01], [-0.1], [NaN], []], [0, 0.3, 1]],
  ["binary:logitraw", [[0.5, 1], [1, 1], []], [0, 1]],
  ["binary:hinge", [[-1, 1], [0, 0], []], [0, 1]],
  ["reg:gamma", [[1, 0], [1, -2], [Infinity], []], [0.1, 5]],
  ["reg:tweedie", [[1, -2], [0, 0], [NaN], []], [0, 5]],
  [
    "multi:softmax",
    [
      [0, 3],
      [1, 1],
      [0.5, 1],
    ],
    [0, 1, 2],
  ],
];

test.each(badLabels)("%s rejects labels that it cannot use, without printing them", async (name, bad, good) => {
  const objective = objectiveFor(name);
  const parameters = { ...defaults, num_class: 3 };
  const check = (labels: readonly number[]): void => {
    objective.checkLabels(Float64Array.from(labels), parameters);
    objective.checkVariety?.(Float64Array.from(labels));
  };
  expect(() => check(good)).not.toThrow();
  for (const labels of bad) await expectError(() => check(labels), "LABEL_INVALID", /label/);
});

const starts: readonly [ObjectiveName, number, number | null][] = [
  ["reg:logistic", 0.5, 0],
  ["reg:logistic", 1, null],
  ["binary:logitraw", -3, -3],
  ["binary:hinge", 0.5, 0.5],
  ["reg:gamma", 1, 0],
  ["reg:gamma", 0, null],
  ["reg:tweedie", Math.E, 1],
  ["reg:tweedie", -1, null],
];

test.each(starts)("%s starts from base_score %d as XGBoost does", async (name, baseScore, margin) => {
  const objective = objectiveFor(name);
  if (margin === null) await expectError(() => baseMarginFrom(objective, baseScore), "USAGE", /base_score/);
  else expect(baseMarginFrom(objective, baseScore)).toBe(margin);
});
