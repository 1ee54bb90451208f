import { describe, expect, test } from "vitest";
import { highLimb, type QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { nodeTotals } from "../../gbdt/split/histogram.ts";
import { GrowingNode } from "../../gbdt/tree/grow.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { BelievableSums } from "./active-believable-sums.ts";
import { addsUp } from "./active-member-sums.ts";

const grid = { shift: -1, resolution: 1 };
const plain = { instanceCount: 6, grids: [grid, grid] };
const g = Float64Array.of(2, 2, 8, 8, 5, 5);
const h = Float64Array.of(1, 2, 3, 1, 2, 3);
const gradients: QuantisedGradients = { ...plain, columns: [g, h] };
const all = Uint32Array.of(0, 1, 2, 3, 4, 5);
const totals = nodeTotals(gradients, all); // 30, 12 of 6

const rowsOf = (rows: readonly number[], more: Partial<CandidateRows> = {}): CandidateRows => ({
  rows: Float64Array.from(rows),
  lowerSides: null,
  suppressed: new Uint8Array(rows.length / 3),
  groups: [],
  ...more,
});

describe("sums of candidates", () => {
  const fault = (...row: number[]) => new BelievableSums(gradients, null).fault(rowsOf(row), { totals });

  test.each([
    ["two of the lowest", [4, 3, 2]],
    ["no instance", [0, 0, 0]],
    ["all", [30, 12, 6]],
  ])("%s: possible", (_name, row) => expect(fault(...row)).toBeNull());

  test.each([
    ["no instance, but a sum", [1, 0, 0]],
    ["no instance, but a hessian", [0, 1, 0]],
    ["less than any two have", [3, 3, 2]],
    ["more than any two have", [17, 3, 2]],
    ["more than leaves a possible sum for the others", [28, 8, 4]],
    ["a hessian that is too large", [10, 7, 2]],
    ["more than there are", [30, 12, 7]],
    ["a negative count, as subtraction may give", [-2, -1, -1]],
  ])("%s: not", (_name, row) => expect(fault(...row)).toMatch(/cannot have|more instances than its node/));

  test("only the sample's gradients count", () => {
    const sums = new BelievableSums(gradients, Uint32Array.of(4, 5));
    const node = { totals: nodeTotals(gradients, Uint32Array.of(4, 5)) };
    expect(sums.fault(rowsOf([5, 2, 1]), node)).toBeNull();
    expect(sums.fault(rowsOf([2, 2, 1]), node)).toMatch(/cannot have/);
  });
});

describe("groups of categories", () => {
  const group = { size: 3, hasMissing: false, flipped: -1 };
  const parts = [4, 3, 2, 16, 4, 2, 10, 5, 2];
  const fault = (rows: readonly number[], more: Partial<CandidateRows> = {}) =>
    new BelievableSums(gradients, null).fault(rowsOf(rows, { groups: [group], ...more }), { totals });

  test("add up to the node, also where one is summed over the others", () => {
    expect(fault(parts)).toBeNull();
    const flipped = [26, 9, 4, ...parts.slice(3)];
    expect(fault(flipped, { groups: [{ ...group, flipped: 0 }] })).toBeNull();
  });

  test("do not where an instance is in two of them, or in none while none is suppressed", () => {
    expect(fault([4, 3, 2, 16, 4, 2, 8, 3, 1])).toMatch(/do not add up/);
    expect(fault([4, 3, 2, 16, 4, 2, 12, 5, 2])).toMatch(/do not add up/);
    expect(fault([...parts.slice(0, 6), 0, 0, 0], { suppressed: Uint8Array.of(0, 0, 1) })).toBeNull();
    expect(fault([4, 3, 2, 16, 4, 2, 10, 5, 2], { suppressed: Uint8Array.of(1, 0, 0) })).toBeNull();
  });
});

describe("the sides of a split", () => {
  const node = new GrowingNode(0, 0, all, all, gradients);
  const left = bitmapFrom(6, (i) => i < 2);
  const side = (...row: number[]) => ({ kind: "candidate" as const, position: 0, side: Float64Array.from(row) });

  test("add up to the answered sums, exactly", () => {
    expect(addsUp(node, left, side(4, 3, 2), gradients, 1)).toBe(true);
    expect(addsUp(node, left, side(26, 9, 4), gradients, 1)).toBe(true);
    for (const row of [
      [5, 3, 2],
      [4, 4, 2],
      [4, 3, 3],
      [26, 9, 2],
    ])
      expect(addsUp(node, left, side(...row), gradients, 1), row.join()).toBe(false);
  });

  test("instances outside the sample do not count", () => {
    const sampled = new GrowingNode(0, 0, all, Uint32Array.of(0, 2, 4), gradients);
    expect(addsUp(sampled, left, side(2, 1, 1), gradients, 1)).toBe(true);
    expect(
      addsUp(
        sampled,
        bitmapFrom(6, (i) => i < 2 || i === 5),
        side(2, 1, 1),
        gradients,
        1,
      ),
    ).toBe(true);
    expect(addsUp(sampled, left, side(4, 3, 2), gradients, 1)).toBe(false);
  });

  test("in limbs of any width", () => {
    const limbed: QuantisedGradients = { ...plain, columns: [g, h, h, g] };
    const wide = new GrowingNode(0, 0, all, all, limbed);
    expect(addsUp(wide, left, side(4, 3, 3, 4, 2), limbed, 1)).toBe(true);
    expect(addsUp(wide, left, side(3, 3 + highLimb, 4, 4 - highLimb, 2), limbed, 1)).toBe(true);
    expect(addsUp(wide, left, side(3, 4 + highLimb, 3, 4, 2), limbed, 1)).toBe(false);
  });

  test("with noise: within 9.4 deviations of the noise, 10.3 in both slots together, and no side is empty", () => {
    const noisy = (sigma: number): QuantisedGradients => ({
      ...gradients,
      noise: { unit: 1, sigma, drawnMax: 2, max: 2 },
    });
    expect(addsUp(node, left, side(5, 3, 0), noisy(1 / 9.4), 1)).toBe(true);
    expect(addsUp(node, left, side(5, 3, 0), noisy(1 / 9.5), 1)).toBe(false);
    expect(addsUp(node, left, side(6, 3, 0), noisy(1 / 9.4), 4)).toBe(true);
    expect(addsUp(node, left, side(5, 4, 0), noisy(1 / 7.2), 1)).toBe(true);
    expect(addsUp(node, left, side(5, 4, 0), noisy(1 / 7.4), 1)).toBe(false);
    expect(addsUp(node, new Uint8Array(1), side(0, 0, 0), noisy(0.1), 1)).toBe(false);
  });
});
