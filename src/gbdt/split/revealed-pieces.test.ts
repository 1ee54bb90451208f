import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { rowNumbers } from "../../base/rows/row-numbers.ts";
import { binFeature } from "./binning.ts";
import { candidatesOf, leftBins } from "./candidate.ts";
import { binCategories } from "./category-binning.ts";
import { toSplitTest, valueGoesLeft } from "./split-test.ts";
import { CountedColumns, startBits, type StartTest, RevealedPieces } from "./revealed-pieces.ts";

const count = 240;
const random = new SeededRandom("pieces");
const values = Float32Array.from({ length: count }, () => (random.below(9) === 0 ? Number.NaN : random.below(12)));
const number = binFeature("number", values, 8);
const codes = Float32Array.from({ length: count }, () => (random.below(8) === 0 ? Number.NaN : random.below(5)));
const names = ["a", "b", "c", "d", "e"];
const sets = binCategories("sets", codes, names, 1);
const rows = rowNumbers(count);

/** The entropy of labels, one per row. */
function entropy(labels: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts.values()].reduce((sum, n) => sum - (n / labels.length) * Math.log2(n / labels.length), 0);
}

const named = (feature: typeof number, candidate: number) => ({
  featureName: feature.name,
  ...toSplitTest(feature, candidatesOf(feature)[candidate]),
});

test("bits are the entropy of the sides that splits put people on, missing values included", () => {
  const revealed = new RevealedPieces(new CountedColumns([number, sets], rows));
  expect(revealed.bits).toBe(0);
  const tests = [named(number, 3), named(number, 8), named(number, candidatesOf(number).length - 1)];
  const setTests = [
    { featureName: "sets", categories: ["a", "c"], defaultLeft: true },
    { featureName: "sets", categories: ["c", "d"], defaultLeft: false },
  ];
  for (const each of [...tests, ...setTests]) revealed.add(each);
  const sides = Array.from(rows, (row) => tests.map((each) => valueGoesLeft(each, values[row])).join());
  const setSides = Array.from(rows, (row) => setTests.map((each) => valueGoesLeft(each, codes[row], names)).join());
  expect(revealed.ofFeature(0)).toBeCloseTo(entropy(sides), 5);
  expect(revealed.ofFeature(1)).toBeCloseTo(entropy(setSides), 5);
  expect(revealed.bits).toBe(revealed.ofFeature(0) + revealed.ofFeature(1));
});

test("what a candidate costs is what it adds; a repeated threshold and its pieces cost nothing", () => {
  const revealed = new RevealedPieces(new CountedColumns([number], rows));
  for (const index of [4, 9]) {
    const cost = revealed.costs(0)[index];
    const before = revealed.bits;
    revealed.add(named(number, index));
    expect(revealed.bits - before).toBeCloseTo(cost, 9);
    expect(revealed.costs(0)[index]).toBe(0);
  }
});

test("any union of pieces costs nothing, and any set that divides one costs something", () => {
  const revealed = new RevealedPieces(new CountedColumns([sets], rows));
  revealed.add({ featureName: "sets", categories: ["a", "b"], defaultLeft: true });
  revealed.add({ featureName: "sets", categories: ["c"], defaultLeft: true });
  const pieces = revealed.binPieces(0);
  const bits = revealed.bits;
  for (let mask = 1; mask < 1 << names.length; mask++) {
    const inSet = names.filter((_, code) => ((mask >> code) & 1) === 1);
    const right = new Set(inSet.map((name) => (sets.categories ?? []).indexOf(name)));
    const isUnion = Array.from(pieces).every((piece, bin) =>
      Array.from(pieces).every((other, b) => piece !== other || right.has(bin) === right.has(b)),
    );
    const after = revealed.copy();
    after.add({ featureName: "sets", categories: inSet, defaultLeft: true });
    expect(after.bits > bits, inSet.join()).toBe(!isUnion);
  }
});

test("tests that are decided together cost at most the sum of what each costs alone", () => {
  for (let seed = 0; seed < 50; seed++) {
    const draw = new SeededRandom(`together ${seed}`);
    const revealed = new RevealedPieces(new CountedColumns([number], rows));
    const any = (): number => draw.below(candidatesOf(number).length);
    revealed.add(named(number, any()));
    const [a, b] = [any(), any()];
    const before = revealed.bits;
    const alone = revealed.costs(0)[a] + revealed.costs(0)[b];
    revealed.add(named(number, a));
    revealed.add(named(number, b));
    expect(revealed.bits - before).toBeLessThanOrEqual(alone + 1e-5);
  }
});

describe("a start model", () => {
  const start: StartTest = { test: { featureName: "number", threshold: 4.5, defaultLeft: true }, values };

  test("its threshold is counted, though no bin of this job ends there", () => {
    const wide = binFeature("number", values, 3);
    expect(wide.thresholds).not.toContain(4.5);
    const revealed = new RevealedPieces(new CountedColumns([wide], rows, [start]));
    expect(startBits([start], count)).toBe(revealed.bits);
    const sides = Array.from(rows, (row) => String(valueGoesLeft(start.test, values[row])));
    expect(revealed.bits).toBeCloseTo(entropy(sides), 5);
    revealed.add(named(wide, 0));
    const both = Array.from(rows, (row) => sides[row] + leftBins(wide, candidatesOf(wide)[0])[wide.bins[row]]);
    expect(revealed.bits).toBeCloseTo(entropy(both), 5);
  });

  test("features that this job has not are ignored", () => {
    const revealed = new RevealedPieces(new CountedColumns([sets], rows, [start]));
    revealed.add(start.test);
    expect(revealed.bits).toBe(0);
  });
});
