import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { auc, ks, separation, separationAside } from "./auc-metrics.ts";

// Few distinct scores, so that ties are everywhere.
const scored = fc.array(fc.record({ score: fc.integer({ min: 0, max: 8 }), label: fc.constantFrom(0, 1) }), {
  minLength: 1,
  maxLength: 60,
});

type Row = { score: number; label: number };
const scoresOf = (rows: Row[]): number[] => rows.map((row) => row.score);
const labelsOf = (rows: Row[]): number[] => rows.map((row) => row.label);
const classOf = (rows: Row[], label: number): number[] =>
  rows.filter((row) => row.label === label).map((row) => row.score);

describe("auc", () => {
  it("is the fraction of pairs in the right order, a tie counting one half", () => {
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
          const fraction = (scores: number[]): number => scores.filter((score) => score >= cut).length / scores.length;
          largest = Math.max(largest, Math.abs(fraction(positives) - fraction(negatives)));
        }
        const got = ks(scoresOf(rows), labelsOf(rows));
        if (positives.length === 0 || negatives.length === 0) expect(got).toBeNaN();
        else expect(got).toBeCloseTo(largest, 12);
      }),
    );
  });
});

describe("weights", () => {
  it("of whole numbers count an instance several times", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            score: fc.integer({ min: 0, max: 8 }),
            label: fc.constantFrom(0, 1),
            weight: fc.integer({ min: 0, max: 3 }),
          }),
          { minLength: 1, maxLength: 40 },
        ),
        (rows) => {
          const repeated = rows.flatMap((row) => Array.from({ length: row.weight }, () => row));
          const weighted = separation(
            scoresOf(rows),
            labelsOf(rows),
            rows.map(({ weight }) => weight),
          );
          const plain = separation(scoresOf(repeated), labelsOf(repeated));
          for (const name of ["auc", "aucpr", "ks"] as const) {
            if (Number.isNaN(plain[name])) expect(weighted[name]).toBeNaN();
            else expect(weighted[name]).toBeCloseTo(plain[name], 12);
          }
        },
      ),
    );
  });
});

it("refuses different lengths", () => {
  expect(() => auc([1], [1, 0])).toThrow("length");
});

describe("separationAside", () => {
  it("is bit-identical with and without the addon", async () => {
    const random = new SeededRandom("aside");
    const count = 6000;
    // Of either sign, from very small to very large, some of them equal, -0 among them.
    const scores = Float64Array.from({ length: count }, () =>
      random.below(4) === 0 ? random.below(9) - 4 : (random.below(2 ** 31) - 2 ** 30) * 2 ** (random.below(80) - 60),
    ).map((score) => (score === 0 && random.below(2) === 0 ? -0 : score));
    const labels = Float64Array.from(scores, (score) => (random.below(3) === 0 || score > 1e6 ? 1 : 0));
    const [plain, aside] = [separation(scores, labels), await separationAside(scores, labels)];
    expect([aside.auc, aside.ks, aside.aucpr]).toEqual([plain.auc, plain.ks, plain.aucpr]);
    expect(plain.auc).toBeGreaterThan(0.5);
  });

  it("rejects NaN, and is undefined for one class", async () => {
    const labels = Float64Array.from({ length: 5000 }, (_, i) => i % 2);
    await expect(separationAside(new Float64Array(5000).fill(NaN, 4999), labels)).rejects.toThrow("not a number");
    expect((await separationAside(new Float64Array(5000), labels.fill(1))).auc).toBeNaN();
  });
});
