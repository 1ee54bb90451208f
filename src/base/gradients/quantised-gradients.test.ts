import fc from "fast-check";
import { expect, test } from "vitest";
import { highLimb, realSum, slotSum, slotSumOfRest } from "./quantised-gradients.ts";

test("de-quantise, then shift back once per value", () => {
  expect(realSum({ shift: -6, resolution: 0.5 }, 22, 2)).toBe(-1);
  expect(realSum({ shift: 0, resolution: 0.25 }, 0, 0)).toBe(0);
});

test("limbs of the same sum give the same number, in any order of addition", () => {
  const limb = fc.integer({ min: 0, max: 2 ** 45 });
  fc.assert(
    fc.property(limb, limb, limb, limb, (highA, lowA, highB, lowB) => {
      const exact = (high: number, low: number): bigint => BigInt(high) * BigInt(highLimb) + BigInt(low);
      const canonical = (sum: bigint): Float64Array =>
        Float64Array.of(Number(sum / BigInt(highLimb)), Number(sum % BigInt(highLimb)), 0);
      const a = exact(highA, lowA);
      const total = a + exact(highB, lowB);
      const added = Float64Array.of(highA + highB, lowA + lowB, 0);
      expect(slotSum(added, 0, 0, 2)).toBe(Number(total));
      expect(slotSum(canonical(total), 0, 0, 2)).toBe(Number(total));
      for (const part of [Float64Array.of(highA, lowA, 0), canonical(a)]) {
        expect(slotSumOfRest(added, part, 0, 0, 2)).toBe(Number(total - a));
        expect(slotSumOfRest(canonical(total), part, 0, 0, 2)).toBe(Number(total - a));
      }
    }),
  );
});

test("on dyadic grids, the sum of two parts is the part sums' sum, exactly", () => {
  const integer = fc.integer({ min: 0, max: 2 ** 30 });
  fc.assert(
    fc.property(
      integer,
      integer,
      fc.integer({ min: 0, max: 9999 }),
      fc.integer({ min: 0, max: 9999 }),
      (a, b, m, n) => {
        const grid = { shift: -1, resolution: 2 ** -20 };
        expect(realSum(grid, a + b, m + n)).toBe(realSum(grid, a, m) + realSum(grid, b, n));
      },
    ),
  );
});
