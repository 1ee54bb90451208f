import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { categoryBins, numberBins } from "../../base/statistics/distribution.ts";
import { stabilityIndex } from "../../base/statistics/stability-index.ts";
import { DriftMeter } from "./drift-meter.ts";

const random = new SeededRandom("drift");
const normal = (count: number, mean = 0): Float64Array =>
  Float64Array.from({ length: count }, () => mean + random.normal());
const trained = normal(3000);
const kinds = Float64Array.from({ length: 3000 }, (_, i) => i % 3);
const reference = {
  scores: [numberBins(trained)],
  features: [
    { name: "amount", distribution: numberBins(trained) },
    { name: "kind", distribution: categoryBins(kinds, ["a", "b", "c"], ["a", "b"]) },
  ],
};

/** All rows, with the same values as scores and amounts. */
function see(meter: DriftMeter, values: Float64Array, codes: ArrayLike<number> = kinds, names = ["a", "b", "c"]): void {
  meter.see({
    rows: values.map((_, i) => i),
    column: (name) => (name === "kind" ? { values: codes, names } : { values, names: null }),
    scores: values,
  });
}

const indexes = (meter: DriftMeter): (number | undefined)[] | undefined =>
  meter.summary(0)?.items.map(({ index }) => index);

test("the people of the training have not moved, also with other codes for the same categories", () => {
  const meter = new DriftMeter(reference);
  see(meter, trained.slice(0, 1500), kinds.slice(0, 1500));
  see(
    meter,
    trained.slice(1500),
    Float64Array.from(kinds.slice(1500), (code) => 2 - code),
    ["c", "b", "a"],
  );
  expect(meter.summary(7)).toEqual({
    at: 7,
    people: 3000,
    items: [
      { of: "score", name: "", index: 0 },
      { of: "feature", name: "amount", index: 0 },
      { of: "feature", name: "kind", index: 0 },
    ],
  });
});

test("other people: the index over the bins of the training, and none for fewer than 400", () => {
  const meter = new DriftMeter(reference);
  const [same, moved] = [normal(399), normal(1000, 0.5)];
  see(meter, same);
  expect(meter.summary(0)).toBeNull();
  see(meter, moved, new Float64Array(1000).fill(Number.NaN));
  const values = [...same, ...moved];
  const { bounds, counts } = reference.scores[0];
  const now = counts.map(
    (_, bin) => values.filter((value) => bounds.filter((bound) => bound <= value).length === bin).length,
  );
  const [score, amount, kind] = indexes(meter) ?? [];
  expect(score).toBeCloseTo(stabilityIndex(counts, now), 12);
  expect(amount).toBe(score);
  expect(kind).toBeGreaterThan(0.25); // all of a sudden missing
});

test("by chance alone the smallest number of people rarely moves", () => {
  let moved = 0;
  for (let i = 0; i < 200; i++) {
    const meter = new DriftMeter({ scores: reference.scores, features: [] });
    see(meter, normal(400));
    if ((indexes(meter)?.[0] ?? 1) >= 0.1) moved++;
  }
  expect(moved).toBe(0);
});

test("people of long ago no longer count", () => {
  const meter = new DriftMeter(reference);
  for (let i = 0; i < 12; i++) see(meter, normal(1000, 3));
  expect(indexes(meter)?.[0]).toBeGreaterThan(1);
  for (let i = 0; i < 12; i++) see(meter, normal(1000));
  expect(indexes(meter)?.[0]).toBeLessThan(0.05);
  expect(meter.summary(0)?.people).toBeLessThanOrEqual(10_000);
});
