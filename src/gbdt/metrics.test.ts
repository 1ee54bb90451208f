import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { auc, ks, logloss, rmse } from "./metrics.ts";

// Few distinct scores, so that ties are everywhere.
const scored = fc.array(fc.record({ score: fc.integer({ min: 0, max: 8 }), label: fc.constantFrom(0, 1) }), {
  minLength: 1,
  maxLength: 60,
});

type Row = { score: number; label: number };
const scoresOf = (rows: Row[]): number[] => rows.map((row) => row.score);
const labelsOf = (rows: Row[]): number[] => rows.map((row) => row.label);
const classOf = (rows: Row[], label: number): number[] => rows.filter((row) => row.label === label).map((row) => row.score);

describe("auc", () => {
  it("is the share of pairs in the right order, a tie counting one half", () => {
    fc.assert(
      fc.property(scored, (rows) => {
        const [negatives, positives] = [classOf(rows, 0), classOf(rows, 1)];
        let wins = 0;
        for (const p of positives) for (const n of negatives) wins += p > n ? 1 : p === n ? 0.5 : 0;
        const pairs = positives.length * negatives.length;
        expect(auc(scoresOf(rows), labelsOf(rows))).toBe(pairs === 0 ? NaN : wins / pairs);
      }),
    );
  });

  it("refuses scores that are not numbers", () => {
    expect(() => auc([NaN, 1], [0, 1])).toThrow("not a number");
  });
});

describe("ks", () => {
  it("is the largest TPR - FPR over all cut-offs", () => {
    fc.assert(
      fc.property(scored, (rows) => {
        const [negatives, positives] = [classOf(rows, 0), classOf(rows, 1)];
        let largest = 0;
        for (let cut = 0; cut <= 9; cut++) {
          const share = (scores: number[]): number => scores.filter((score) => score >= cut).length / scores.length;
          largest = Math.max(largest, Math.abs(share(positives) - share(negatives)));
        }
        const got = ks(scoresOf(rows), labelsOf(rows));
        if (positives.length === 0 || negatives.length === 0) expect(got).toBeNaN();
        else expect(got).toBeCloseTo(largest, 12);
      }),
    );
  });
});

describe("logloss and rmse", () => {
  it("follow their definitions", () => {
    expect(logloss([0.8, 0.3], [1, 0])).toBeCloseTo(-(Math.log(0.8) + Math.log(0.7)) / 2, 14);
    expect(rmse([1, 5], [2, 2])).toBeCloseTo(Math.sqrt(5), 14);
  });

  it("survive a certain mistake", () => {
    expect(logloss([0], [1])).toBeCloseTo(-Math.log(1e-16), 10);
    expect(logloss([1], [0])).toBeCloseTo(-Math.log(1e-16), 10);
    expect(logloss([1], [1])).toBeCloseTo(0, 14);
  });

  it("refuse different lengths", () => {
    expect(() => rmse([1], [1, 2])).toThrow("length");
    expect(() => auc([1], [1, 0])).toThrow("length");
  });
});
