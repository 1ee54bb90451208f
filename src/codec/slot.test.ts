import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quantiseColumn } from "./quantise-column.ts";
import {
  cannotOverflow,
  countMax,
  quantisedMax,
  quantiseValue,
  type Slot,
  slotResolution,
  withSmallestAlphaMax,
  withSmallestR,
} from "./slot.ts";

/** Sums real values through the slot and back: quantise, add integers, de-quantise, shift back. */
function roundTrip(slot: Slot, values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + quantiseValue(slot, value), 0);
  return sum * slotResolution(slot) + values.length * slot.shift;
}

/** The paper's bound: n/2 * alpha_max / 2^r plus the truncation error. */
function errorBound(slot: Slot, values: readonly number[]): number {
  const truncated = values.reduce((total, value) => total + Math.max(0, value - slot.shift - slot.alpha), 0);
  return (values.length / 2) * slotResolution(slot) + truncated;
}

test("the paper's example: -1 plus -6 with s=-6, alpha=20, alpha_max=127, r=8 gives -7 within the bound", () => {
  const slot: Slot = { shift: -6, alpha: 20, alphaMax: 127, r: 8, padding: 2 };
  expect(quantiseValue(slot, -6)).toBe(0);
  const sum = roundTrip(slot, [-1, -6]);
  expect(Math.abs(sum - -7)).toBeLessThanOrEqual((2 / 2) * (127 / 2 ** 8));
  expect(Math.round(sum)).toBe(-7);
});

test("the error of a sum stays within the paper's bound, truncation included", () => {
  const slots = fc.record({
    shift: fc.double({ min: -50, max: 0, noNaN: true }),
    alpha: fc.double({ min: 0.5, max: 40, noNaN: true }),
    alphaMax: fc.double({ min: 40, max: 1e7, noNaN: true }),
    r: fc.integer({ min: 4, max: 44 }),
    padding: fc.integer({ min: 1, max: 6 }),
  });
  const values = fc.array(fc.double({ min: 0, max: 60, noNaN: true }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(slots, values, (slot, aboveShift) => {
      const given = aboveShift.map((u) => slot.shift + u);
      const exact = given.reduce((total, value) => total + value, 0);
      // A small tolerance for the floating-point sums on both sides.
      const slack = 1e-9 * (1 + aboveShift.reduce((total, u) => total + u + Math.abs(slot.shift), 0));
      expect(Math.abs(roundTrip(slot, given) - exact)).toBeLessThanOrEqual(errorBound(slot, given) + slack);
    }),
  );
});

test("a column is quantised exactly like its values", () => {
  const values = fc.array(fc.double({ min: -10, max: 40, noNaN: true }), { maxLength: 50 });
  fc.assert(
    fc.property(
      values,
      fc.integer({ min: 2, max: 40 }),
      fc.double({ min: 20, max: 1e7, noNaN: true }),
      (column, r, alphaMax) => {
        const slot: Slot = { shift: -10, alpha: 20, alphaMax, r, padding: 2 };
        expect([...quantiseColumn(slot, Float64Array.from(column))]).toEqual(
          column.map((value) => quantiseValue(slot, value)),
        );
      },
    ),
  );
  expect(() =>
    quantiseColumn({ shift: 0, alpha: 1, alphaMax: 1, r: 4, padding: 1 }, Float64Array.of(0.5, -0.1)),
  ).toThrow(/below the layout's shift/);
});

test("a value below the shift is rejected, not clamped; one above alpha is truncated", () => {
  const slot: Slot = { shift: -10, alpha: 20, alphaMax: 1e6, r: 30, padding: 2 };
  expect(() => quantiseValue(slot, -10.5)).toThrow(/below the layout's shift/);
  expect(() => quantiseValue(slot, Number.NaN)).toThrow(/below the layout's shift/);
  expect(quantiseValue(slot, 1e9)).toBe(quantisedMax(slot));
});

describe("no overflow, at the boundary from both sides", () => {
  const cases: Slot[] = [
    { shift: -10, alpha: 20, alphaMax: 1e6, r: 30, padding: 1 },
    { shift: -10, alpha: 20, alphaMax: 1e6, r: 30, padding: 2 },
    { shift: -10, alpha: 20, alphaMax: 1e7, r: 40, padding: 3 },
    { shift: -1, alpha: 2, alphaMax: 64, r: 6, padding: 2 },
    { shift: 0, alpha: 1, alphaMax: 1, r: 3, padding: 4 },
  ];
  test.each(cases)("padding $padding, r $r, alpha_max $alphaMax", (slot) => {
    const largest = countMax(slot);
    expect(largest).toBeGreaterThan(0);
    expect(cannotOverflow(slot, largest)).toBe(true);
    expect(cannotOverflow(slot, largest + 1)).toBe(false);

    // n (2^r alpha / alpha_max + 1/2) < (2^padding - 1) 2^r, evaluated independently of the code.
    const perValue = (2 ** slot.r * slot.alpha) / slot.alphaMax + 0.5;
    const limit = (2 ** slot.padding - 1) * 2 ** slot.r;
    expect(largest * perValue).toBeLessThan(limit);
    expect((largest + 1) * perValue).toBeGreaterThanOrEqual(limit);

    // The largest sum allowed does not set all padding bits.
    expect(Math.floor((largest * quantisedMax(slot)) / 2 ** slot.r)).toBeLessThan(2 ** slot.padding - 1);
  });

  test("a slot whose largest values really reach all-ones padding one instance later", () => {
    const slot: Slot = { shift: 0, alpha: 8, alphaMax: 16, r: 10, padding: 2 };
    const limit = 3 * 2 ** 10;
    let n = 1;
    while (n * quantisedMax(slot) < limit) n++;
    expect(cannotOverflow(slot, n)).toBe(false);
    expect(cannotOverflow(slot, countMax(slot))).toBe(true);
    expect(n - countMax(slot)).toBeLessThanOrEqual(1);
  });

  test("the paper's looser condition n * alpha < alpha_max is not sufficient, and rejected by the exact one", () => {
    const slot: Slot = { shift: 0, alpha: 1, alphaMax: 1001, r: 3, padding: 1 };
    expect(1000 * slot.alpha).toBeLessThan(slot.alphaMax);
    expect(cannotOverflow(slot, 1000)).toBe(false);
  });

  test("proposed parameters work and the next smaller ones do not", () => {
    const slot: Slot = { shift: -10, alpha: 20, alphaMax: 1e5, r: 30, padding: 2 };
    expect(cannotOverflow(slot, 91_500)).toBe(false);
    const wider = withSmallestAlphaMax(slot, 91_500);
    expect(wider !== null && cannotOverflow(wider, 91_500)).toBe(true);
    expect(wider !== null && cannotOverflow({ ...wider, alphaMax: wider.alphaMax * 0.97 }, 91_500)).toBe(false);
    const coarse: Slot = { shift: -10, alpha: 20, alphaMax: 1e7, r: 14, padding: 2 };
    const finer = withSmallestR(coarse, 91_500);
    expect(finer !== null && cannotOverflow(finer, 91_500)).toBe(true);
    expect(finer !== null && cannotOverflow({ ...finer, r: finer.r - 1 }, 91_500)).toBe(false);
  });
});
