import fc from "fast-check";
import { expect, test } from "vitest";
import { placeOn, roundAxis, tightAxis } from "./axis.ts";

const texts = ({ ticks }: ReturnType<typeof roundAxis>): string[] => ticks.map(({ text }) => text);

test("an axis begins and ends at round numbers around the values", () => {
  const axis = roundAxis([0.811, null, 0.946]);
  expect([axis.low, axis.high]).toEqual([0.8, expect.closeTo(0.95, 12)]);
  expect(texts(axis)).toEqual(["0.80", "0.85", "0.90", "0.95"]);
  expect(texts(roundAxis([0, 12_000]))).toEqual(["0", "2,500", "5,000", "7,500", "10,000", "12,500"]);
});

test.each([
  [[1, 1], 0.9, 1],
  [[0.98], 0.875, 1],
  [[0], 0, 0.1],
  [[0.999, 1], 0.999, 1],
  [[0.9, 1.2], 0.9, 1.2],
  [[3, 3], 2.6, 3.4],
  [[-2], -2.2, -1.8],
  [[], 0, 1],
  [[null, Number.NaN], 0, 1],
] as const)("the axis of values %j goes from %f to %f", (values, low, high) => {
  const axis = roundAxis(values);
  expect([axis.low, axis.high]).toEqual([expect.closeTo(low, 9), expect.closeTo(high, 9)]);
});

test("the axis of fractions stays between 0 and 1, holds every value, and has a few ticks", () => {
  const value = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 30 }), (values) => {
      const axis = roundAxis(values);
      expect([axis.low >= 0, axis.high <= 1, axis.high > axis.low]).toEqual([true, true, true]);
      for (const one of values) expect(placeOn(axis, one)).toBeGreaterThanOrEqual(-1e-9);
      for (const one of values) expect(placeOn(axis, one)).toBeLessThanOrEqual(1 + 1e-9);
      expect(axis.ticks.length).toBeGreaterThan(1);
      expect(axis.ticks.length).toBeLessThan(9);
    }),
  );
});

test("trees are counted in whole numbers; one tree alone is in the middle", () => {
  expect(texts(tightAxis([1, 12], undefined, true))).toEqual(["5", "10"]);
  expect(texts(tightAxis([1, 3], undefined, true))).toEqual(["1", "2", "3"]);
  const one = tightAxis([1], undefined, true);
  expect([texts(one), placeOn(one, 1)]).toEqual([["1"], 0.5]);
});
