import { describe, expect, it } from "vitest";
import { SeededRandom } from "../../src/base/random.ts";
import type { Slot } from "../../src/codec/slot.ts";
import { binFeature } from "../../src/gbdt/split/binning.ts";
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import { trialJob } from "../trials/trial.ts";
import { cutCreditTable, syntheticCreditTable } from "../trials/credit-tables.ts";
import { paperDatasets } from "../trials/paper-datasets.ts";
import { drawRowsOf, drawsTable, drawsWords } from "./precision-draws.ts";
import { scales } from "./scale.ts";
import { pairOf } from "./sweep.ts";
import { quantiseStochastically, type SumErrors, sumErrors } from "./precision-sums.ts";
import { precisionWords } from "./precision-words.ts";

const count = 3000;
const random = new SeededRandom("precision");
const g = Float64Array.from({ length: count }, () => random.uniform() * 2 - 1);
const h = Float64Array.from({ length: count }, () => random.uniform() / 4);
const gradients = {
  snapshots: [{ tree: 0, g, h }],
  instanceCount: count,
  features: [binFeature("x", Float32Array.from(g), 32)],
};

describe("errors of sums", () => {
  it("stay below the paper's bound, in every bin, and halve with every bit", () => {
    const rows = [20, 24, 28].map((r) => sumErrors(gradients, { alphaMax: 1e6, r }, 7));
    for (const { error, bound, worstFractionOfBound } of rows) {
      expect(error.nearest).toBeLessThanOrEqual(bound);
      expect(worstFractionOfBound).toBeLessThanOrEqual(1);
      expect(worstFractionOfBound).toBeGreaterThan(0);
    }
    expect(rows[1].bound).toBeCloseTo(rows[0].bound / 16);
  });

  it("reach the bound if all values are rounded the same way", () => {
    // Just below the middle between two steps.
    const half = Float64Array.from({ length: count }, () => -10 + 0.4999 * 2 ** -10 + 2);
    const { error, bound } = sumErrors(
      { ...gradients, snapshots: [{ tree: 0, g: half, h: half }] },
      { alphaMax: 2 ** 10, r: 20 },
      7,
    );
    expect(error.nearest / bound).toBeGreaterThan(0.99);
    expect(error.stochastic / bound).toBeLessThan(0.1);
  });

  it("contain what truncation cuts off", () => {
    const { error, bound, countMax } = sumErrors(gradients, { alphaMax: 1e6, r: 40, alpha: 10 }, 7);
    const cut = g.reduce((sum, value) => sum + Math.max(0, value), 0);
    expect(error.nearest).toBeCloseTo(cut, 2);
    expect(bound).toBeGreaterThanOrEqual(error.nearest);
    expect(countMax).toBeGreaterThan(sumErrors(gradients, { alphaMax: 1e6, r: 40 }, 7).countMax);
  });

  it("cancel with stochastic rounding: a value is right on average", () => {
    const slot: Slot = { shift: -10, alpha: 20, alphaMax: 1024, r: 10, padding: 2 };
    const rounded = quantiseStochastically(slot, new Float64Array(20_000).fill(-10 + 3.3), random);
    expect(new Set(rounded)).toEqual(new Set([3, 4]));
    expect(rounded.reduce((a, b) => a + b, 0) / rounded.length).toBeCloseTo(3.3, 1);
  });
});

describe("other draws of rows", () => {
  const draw = (seed: number, difference: number) => ({
    seed,
    unbatched: { auc: 0.78, ks: 0.4 },
    batched: { auc: 0.78 + difference, ks: 0.41 },
  });

  it("tell a difference in one direction from one that goes both ways", () => {
    const bothWays = drawsWords(
      [0.003, -0.003, 0.001, -0.001].map((value, i) => draw(i, value)),
      0.002,
    );
    expect(bothWays).toContain(
      "Over 4 draws of rows, Proposed minus SecureBoost is 0.00000 of test AUC on average, " +
        "with a standard deviation of 0.00258. It is within 0.002 in 2 of them.",
    );
    expect(bothWays).toContain("neither better nor worse");
    expect(
      drawsWords(
        [-0.003, -0.0031, -0.0029].map((value, i) => draw(i, value)),
        0.002,
      ),
    ).toContain("on average are not equally good");
    expect(drawsWords([draw(7, 0), draw(8, 0)], 0.002)).toContain("the same test AUC in every one");
    expect(drawsWords([draw(7, 0.1)], 0.002)).toBe("");
  });

  it("begin with the one that everything else runs on", async () => {
    const table = syntheticCreditTable(paperDatasets.default, 600, 7);
    const { batched: spec } = pairOf(scales.smoke, { dataset: "default", trees: 2, keyBits: 256 });
    const [first, second] = await drawRowsOf(table, spec, 7, 2);
    const { train, test } = cutCreditTable(table, { train: spec.trainRows, test: spec.testRows }, 7);
    const { testMetrics } = await trainInOnePlace({ job: trialJob(spec), train, test });
    expect(first.batched).toEqual({ auc: testMetrics?.["auc"], ks: testMetrics?.["ks"] });
    expect(second).not.toEqual({ ...first, seed: second.seed });
    expect(drawsTable([first], spec).rows[0]).toHaveLength(7);
  });
});

describe("what is said about them", () => {
  const rows = [1e6, 1e7].map((alphaMax) => sumErrors(gradients, { alphaMax, r: 24 }, 7));
  const byAlpha = [10, 20].map((alpha) => sumErrors(gradients, { alphaMax: 1e6, r: 24, alpha }, 7));
  const models = [
    { r: 20, resolution: 1, auc: 0.7, ks: 0.3 },
    { r: 30, resolution: 0.1, auc: 0.7795, ks: 0.4 },
    { r: null, resolution: 0, auc: 0.78, ks: 0.4 },
  ];

  it("fits either outcome", () => {
    const good = precisionWords(rows, rows, byAlpha, models);
    expect(good).toContain("The paper's bound holds in all 4 settings");
    expect(good).toContain("Both trade-offs are confirmed");
    expect(good).toContain("within 0.002 of the finest grid's at r = 30; tested were 20, 30");
    const doctored: SumErrors[] = rows.map((row, i) => ({
      ...row,
      countMax: 1,
      error: { nearest: i === 0 ? 2 * row.bound : 1e-9, stochastic: row.bound },
    }));
    const bad = precisionWords(doctored, doctored, byAlpha, [models[0], models[2]]);
    expect(bad).toContain("The paper's bound is broken in 1 of 4 settings");
    expect(bad).toContain("the one of alpha_max is not confirmed and the one of alpha is confirmed");
    expect(bad).toContain("No tested r");
  });
});
