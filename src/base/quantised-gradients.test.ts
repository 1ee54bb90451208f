import fc from "fast-check";
import { expect, test } from "vitest";
import { realSum } from "./quantised-gradients.ts";

test("de-quantise, then shift back once per value", () => {
  expect(realSum({ shift: -6, resolution: 0.5 }, 22, 2)).toBe(-1);
  expect(realSum({ shift: 0, resolution: 0.25 }, 0, 0)).toBe(0);
});

test("on dyadic grids, the sum of two parts is the part sums' sum, exactly", () => {
  const integer = fc.integer({ min: 0, max: 2 ** 30 });
  fc.assert(
    fc.property(integer, integer, fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 9999 }), (a, b, m, n) => {
      const grid = { shift: -1, resolution: 2 ** -20 };
      expect(realSum(grid, a + b, m + n)).toBe(realSum(grid, a, m) + realSum(grid, b, n));
    }),
  );
});
