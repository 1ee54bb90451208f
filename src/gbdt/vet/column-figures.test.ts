import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { binFeature } from "../split/binning.ts";
import { binCategories } from "../split/category-binning.ts";
import { columnBins, oneHotBelow } from "./column-bins.ts";
import { columnFigures } from "./column-figures.ts";
import { exactCounts, vetColumns, VettedSums } from "./vet-sums.ts";

interface Golden {
  readonly labels: readonly number[];
  readonly columns: readonly { readonly values: readonly (number | string | null)[] }[];
  readonly figures: readonly { iv: number; auc: number; ks: number; missingShare: number; bins: object[] }[];
}

const golden = JSON.parse(
  readFileSync(new URL("../../../test/fixtures/vetting/golden.json", import.meta.url), "utf8"),
) as Golden;

const numbers = (values: readonly unknown[]): Float32Array =>
  Float32Array.from(values, (value) => (value === null ? Number.NaN : Number(value)));

test("figures are those of FATE, SecretFlow, scikit-learn and scipy", () => {
  const counts = exactCounts(Float64Array.from(golden.labels));
  const [whole, rare, towns] = golden.columns.map(({ values }) => values);
  const names = [...new Set(towns.filter((town) => town !== null))].map(String);
  const codes = towns.map((town) => (town === null ? null : names.indexOf(String(town))));
  const features = [
    binFeature("whole", numbers(whole), 10),
    binFeature("rare", numbers(rare), 10),
    binCategories("town", numbers(codes), names, oneHotBelow),
  ];
  for (const [i, bins] of vetColumns(features, counts).entries()) {
    const { iv, auc, ks, missingShare, bins: found } = columnFigures(bins, new VettedSums(counts).total);
    const expected = golden.figures[i];
    expect(iv).toBeCloseTo(expected.iv, 12);
    expect(auc).toBeCloseTo(expected.auc, 12);
    expect(ks).toBeCloseTo(expected.ks, 12);
    expect(missingShare).toBeCloseTo(expected.missingShare, 12);
    const facts = found.map(({ people, events, woe, iv: ofBin }) => ({ people, events, woe, iv: ofBin }));
    const byPeople = (all: readonly object[]): string[] =>
      all.map((one) =>
        JSON.stringify(one, (_, value: unknown) => (typeof value === "number" ? +value.toFixed(9) : value)),
      );
    expect(byPeople(facts).toSorted()).toEqual(byPeople(expected.bins).toSorted());
  }
});

describe("bins from the sums of candidates", () => {
  const shape = { categorical: false, binCount: 4, hasMissing: true };
  const total = { people: 100, events: 20 };
  /** People up to each bin; a tenth of them has label 1. */
  const upTo = (people: readonly (number | null)[]) => (candidate: number) => {
    const many = people[candidate >> 1];
    return many === null ? null : { people: many, events: many / 10 };
  };

  test("of a number: differences, and what is left is missing", () => {
    const found = columnBins(shape, upTo([10, 30, 60, 90]), total);
    expect(found.map(({ people, bins, hasMissing }) => [people, bins, hasMissing])).toEqual([
      [10, [0, 0], false],
      [20, [1, 1], false],
      [30, [2, 2], false],
      [30, [3, 3], false],
      [10, [], true],
    ]);
  });

  test("a suppressed threshold joins the bins on either side, and missing values with the last", () => {
    const found = columnBins(shape, upTo([10, null, 60, null]), total);
    expect(found.map(({ people, bins, hasMissing }) => [people, bins, hasMissing])).toEqual([
      [10, [0, 0], false],
      [50, [1, 2], false],
      [40, [3, 3], true],
    ]);
    expect(columnFigures(found, total).missingShare).toBeNull();
  });

  test("suppressed categories are one bin, with missing values if these are suppressed", () => {
    const categories = { categorical: true, binCount: 3, hasMissing: true };
    const sums = [{ people: 50, events: 10 }, null, null, { people: 20, events: 1 }];
    expect(columnBins(categories, (i) => sums[i], total)).toMatchObject([
      { bins: [0], people: 50, parts: [{ candidate: 0, sign: 1 }] },
      { bins: [], hasMissing: true, people: 20 },
      {
        bins: [1, 2],
        hasMissing: false,
        people: 30,
        events: 9,
        parts: [
          { candidate: 0, sign: -1 },
          { candidate: 3, sign: -1 },
        ],
      },
    ]);
  });
});

test("a column that says nothing is worth nothing, and one that says all is worth most", () => {
  const total = { people: 200, events: 100 };
  const bin = (people: number, events: number) => ({ people, events, bins: [0], hasMissing: false, parts: [] });
  expect(columnFigures([bin(200, 100)], total)).toMatchObject({ iv: 0, auc: 0.5, ks: 0 });
  const all = columnFigures([bin(100, 0), bin(100, 100)], total);
  expect([all.auc, all.ks]).toEqual([1, 1]);
  expect(all.iv).toBeGreaterThan(10);
});

test("the stated error and bias of noise are those of drawn noise", () => {
  const total = { people: 10_000, events: 2000 };
  const rates = [0.05, 0.1, 0.15, 0.2, 0.5];
  const upTo = (bin: number) => ({
    people: 2000 * (bin + 1),
    events: 2000 * rates.slice(0, bin + 1).reduce((a, b) => a + b, 0),
  });
  const noise = { events: 10, people: 10 };
  const random = new SeededRandom("noise of sums");
  const shape = { categorical: false, binCount: rates.length, hasMissing: false };
  const exact = columnFigures(columnBins(shape, upTo, total), total, noise);
  const rounds = 4000;
  let [sum, squares] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const drawn = rates.map(() => [10 * random.normal(), 10 * random.normal()]);
    // The same noise with both signs: what is left of their mean is the bias.
    const off = [1, -1].map((sign) => {
      const noisy = (bin: number) => ({
        people: upTo(bin).people + sign * drawn[bin][0],
        events: upTo(bin).events + sign * drawn[bin][1],
      });
      return columnFigures(columnBins(shape, noisy, total), total).iv - exact.iv;
    });
    sum += (off[0] + off[1]) / 2;
    squares += off[0] * off[0];
  }
  expect(sum / rounds / exact.ivBias).toBeCloseTo(1, 1);
  expect(Math.sqrt(squares / rounds) / exact.ivError).toBeCloseTo(1, 1);
});

test("figures are within their bounds whatever noise makes of the bins", () => {
  const bin = fc.record({ people: fc.integer({ min: -20, max: 500 }), events: fc.integer({ min: -20, max: 200 }) });
  fc.assert(
    fc.property(fc.array(bin, { minLength: 2, maxLength: 8 }), (given) => {
      const bins = given.map((one, i) => ({
        ...one,
        bins: [i, i],
        hasMissing: false,
        parts: [{ candidate: i, sign: 1 as const }],
      }));
      const { iv, ivError, auc, ks } = columnFigures(bins, { people: 600, events: 150 }, { events: 5, people: 5 });
      expect(iv).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(ivError)).toBe(true);
      expect(auc >= 0 && auc <= 1).toBe(true);
      expect(ks >= 0 && ks <= 1).toBe(true);
    }),
    { seed: 3 },
  );
});
