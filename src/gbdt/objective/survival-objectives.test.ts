import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import { BoostingTask } from "../boost/boosting-task.ts";
import { coxNloglik } from "../metric/survival-metrics.ts";
import { aftGradient, aftLoss, erf, gradientMax, hessianMax } from "./aft-loss.ts";
import { objectiveFor } from "./objectives.ts";
import { TrainingRows } from "../rows/training-rows.ts";

const numbers = (...values: number[]): Float64Array => Float64Array.from(values);
const names = ["normal", "logistic", "extreme"] as const;
const defaults = resolveParameters(trainingParameters, {});

test.each([
  [0, 0],
  [0.5, 0.5204998778130465],
  [-1, -0.8427007929497149],
  [2, 0.9953222650189527],
  [3.5, 0.9999992569016276],
  [7, 1],
])("erf(%d) is %d", (x, expected) => expect(erf(x)).toBeCloseTo(expected, 14));

describe.each(names)("survival:aft, %s", (name) => {
  /** Exact, interval-, right- and left-censored. */
  const kinds = [
    { lower: 2, upper: 2 },
    { lower: 1, upper: 3 },
    { lower: 2, upper: Infinity },
    { lower: 0, upper: 2 },
  ];

  it.each(kinds)("differentiates its loss: %o", (bounds) => {
    fc.assert(
      fc.property(fc.double({ min: -0.5, max: 1.5, noNaN: true }), fc.constantFrom(0.8, 1, 2), (margin, sigma) => {
        const step = 1e-4;
        const [below, at, above] = [margin - step, margin, margin + step].map((m) => aftLoss(bounds, m, name, sigma));
        const [g, h] = aftGradient(bounds, margin, name, sigma);
        const near = (ours: number, theirs: number): void =>
          expect(Math.abs(ours - theirs)).toBeLessThan(1e-3 * (1 + Math.abs(theirs)));
        fc.pre(at < 12); // beyond it the loss itself is rounded away
        const [slope, bend] = [(above - below) / (2 * step), (above - 2 * at + below) / step ** 2];
        if (Math.abs(slope) < gradientMax) near(g, slope);
        if (bend > 1e-3 && bend < hessianMax) near(h, bend);
      }),
    );
  });

  it("never leaves XGBoost's clips, however far off", () => {
    const task = objectiveFor("survival:aft").bounds(defaults);
    expect(task).toEqual({ g: { min: -15, max: 15 }, h: { min: 0, max: 15 } });
    for (const bounds of kinds)
      for (const margin of [-1e300, -800, -40, -9, 9, 40, 800, 1e300]) {
        const [g, h] = aftGradient(bounds, margin, name, 0.5);
        expect(Math.abs(g)).toBeLessThanOrEqual(15);
        expect(h).toBeGreaterThanOrEqual(1e-16);
        expect(h).toBeLessThanOrEqual(15);
      }
  });
});

describe("survival:cox", () => {
  const cox = objectiveFor("survival:cox");
  const labels = numbers(3, -1, 2, 5, -4);

  it("differentiates the partial likelihood", () => {
    const margins = numbers(0.3, -0.2, 0.7, 0, 1);
    const [g, h] = cox.gradients(margins, labels, defaults);
    const loss = (of: Float64Array): number => 3 * coxNloglik(of.map(Math.exp), labels); // three events
    margins.forEach((margin, row) => {
      const [below, at, above] = [-1e-4, 0, 1e-4].map((step) => loss(margins.with(row, margin + step)));
      expect(g[row]).toBeCloseTo((above - below) / 2e-4, 5);
      expect(h[row]).toBeCloseTo((above - 2 * at + below) / 1e-8, 3);
    });
  });

  it("ignores rows that are not trained on", () => {
    const margins = numbers(0.3, -0.2, 0.7, 0, 1);
    const [whole] = cox.gradients(margins, labels, defaults);
    const rows = { training: Uint32Array.of(0, 2, 3), columns: {} };
    const [g] = cox.gradients(margins, labels, defaults, rows);
    const [alone] = cox.gradients(numbers(0.3, 0.7, 0), numbers(3, 2, 5), defaults);
    expect([...g]).toEqual([alone[0], 0, alone[1], alone[2], 0]);
    expect(g[0]).not.toBe(whole[0]);
  });

  it("has no hessian below 0, and nothing overflows", () => {
    const [g, h] = cox.gradients(numbers(900, -900, 0, 1e3, 5), labels, defaults);
    for (const value of [...g, ...h]) expect(Number.isFinite(value)).toBe(true);
    for (const value of h) expect(value).toBeGreaterThanOrEqual(0);
  });
});

test("invalid times and bounds are rejected, without printing them", async () => {
  const aft = resolveParameters(trainingParameters, { objective: "survival:aft" });
  const cox = resolveParameters(trainingParameters, { objective: "survival:cox" });
  const bounded = (upper: Float64Array): BoostingTask =>
    new BoostingTask(aft, new TrainingRows(numbers(1, 777, 0), { columns: { label_upper_bound: upper } }));
  expect(bounded(numbers(1, Infinity, 2)).rows.labels).toHaveLength(3);
  for (const upper of [numbers(1, 776, 2), numbers(1, NaN, 2), numbers(1, 777, 0)])
    await expectError(() => bounded(upper), "LABEL_INVALID", /label_upper_bound of instance [12] (?!.*77)/);
  await expectError(
    () => new BoostingTask(aft, new TrainingRows(numbers(1, 2))),
    "USAGE",
    /needs a column label_upper_bound/,
  );
  await expectError(() => new BoostingTask(aft, new TrainingRows(numbers(1, -2))), "LABEL_INVALID", /needs times/);
  await expectError(
    () => new BoostingTask(cox, new TrainingRows(numbers(-1, -2))),
    "LABEL_INVALID",
    /censored times as negative/,
  );
  const mistaken = { label_upper_bound: numbers(1, 2) };
  await expectError(
    () => new BoostingTask(cox, new TrainingRows(numbers(1, 2), { columns: mistaken })),
    "USAGE",
    /takes no label_upper/,
  );
});
