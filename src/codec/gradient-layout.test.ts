import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { codecWith } from "../base/parameters/parameters.ts";
import { realSum } from "../base/gradients/quantised-gradients.ts";
import type { RealGradients } from "../base/gradients/real-gradients.ts";
import { gradientLayout, quantiserFor } from "./gradient-layout.ts";

const batched = codecWith();
const unbatched = codecWith({ codec: "unbatched" });
const logistic = (g: Float64Array, h: Float64Array): RealGradients => ({
  values: [g, h],
  bounds: [
    { min: -1, max: 1 },
    { min: 0, max: 0.25 },
  ],
});
const squared = (g: Float64Array, h: Float64Array): RealGradients => ({
  values: [g, h],
  bounds: [null, { min: 1, max: 1 }],
});
const finite = fc.double({ min: -1e30, max: 1e30, noNaN: true });

describe("the width that a passive party learns", () => {
  test("depends on the number of instances only, never on the gradients", () => {
    fc.assert(
      fc.property(
        fc.array(finite, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(batched, unbatched),
        (values, parameters) => {
          const g = Float64Array.from(values);
          const ones = g.map(() => 1);
          const layout = gradientLayout(parameters, 255, squared(g, ones));
          const ofZeros = gradientLayout(parameters, 255, squared(new Float64Array(g.length), ones));
          expect(layout.plaintextBits).toBe(ofZeros.plaintextBits);
          expect(layout.plaintexts).toEqual(ofZeros.plaintexts);
          expect(layout.slots.map(({ r, padding }) => [r, padding])).toEqual(
            ofZeros.slots.map(({ r, padding }) => [r, padding]),
          );
        },
      ),
    );
  });

  test("logistic: the layout is the same for every tree", () => {
    const a = gradientLayout(batched, 255, logistic(Float64Array.of(-0.5, 0.5), Float64Array.of(0.25, 0.25)));
    const b = gradientLayout(batched, 255, logistic(Float64Array.of(-0.999, 0.001), Float64Array.of(1e-16, 0.1)));
    expect(a).toEqual(b);
  });
});

test("both codecs have the same slots, so the same quantised gradients", () => {
  const g = Float64Array.of(-3.7, 12.25, 0, 1e-9);
  const h = Float64Array.of(1, 1, 1, 1);
  expect(gradientLayout(batched, 255, squared(g, h)).slots).toEqual(
    gradientLayout(unbatched, 255, squared(g, h)).slots,
  );
  expect(gradientLayout(batched, 255, squared(g, h)).plaintexts.length).toBe(1);
  expect(gradientLayout(unbatched, 255, squared(g, h)).plaintexts.length).toBe(2);
  expect(quantiserFor(batched, 255)(squared(g, h))).toEqual(quantiserFor(unbatched, 255)(squared(g, h)));
});

describe("a range taken from the data", () => {
  test("holds every value to half a step, also just above a power of two, where log2 rounds down", () => {
    const nearPowers = fc
      .tuple(fc.integer({ min: -30, max: 60 }), fc.constantFrom(-1, 0, 1, 2), fc.constantFrom(-1, 1))
      .map(([exponent, ulps, sign]) => {
        return sign * 2 ** exponent * (1 + ulps * Number.EPSILON);
      });
    fc.assert(
      fc.property(fc.array(fc.oneof(nearPowers, finite), { minLength: 1, maxLength: 8 }), (values) => {
        const g = Float64Array.from(values);
        const { grids, columns } = quantiserFor(
          batched,
          255,
        )(
          squared(
            g,
            g.map(() => 1),
          ),
        );
        const largest = Math.max(...values.map(Math.abs));
        values.forEach((value, i) => {
          const back = realSum(grids[0], columns[0][i], 1);
          expect(Math.abs(back - value)).toBeLessThanOrEqual(grids[0].resolution * 0.5 + largest * 1e-15);
        });
      }),
    );
  });

  test.each([1 + Number.EPSILON, 4 * (1 + Number.EPSILON), -(2 ** 40) * (1 + Number.EPSILON)])(
    "%d is neither truncated nor rejected",
    (value) => {
      const [slot] = gradientLayout(batched, 255, squared(Float64Array.of(value), Float64Array.of(1))).slots;
      expect(slot.shift).toBeLessThanOrEqual(-Math.abs(value));
      expect(slot.shift + slot.alpha).toBeGreaterThanOrEqual(Math.abs(value));
    },
  );

  test("gradients beyond what doubles can sum are rejected at once; tiny ones pass", async () => {
    for (const value of [1e308, -1e200, Infinity, Number.NaN]) {
      await expectError(
        () => gradientLayout(batched, 255, squared(Float64Array.of(value), Float64Array.of(1))),
        "LAYOUT_RANGE",
        /too large/,
      );
    }
    for (const value of [5e-324, 1e-200, 1e120, 0]) {
      expect(() => quantiserFor(batched, 255)(squared(Float64Array.of(value), Float64Array.of(1)))).not.toThrow();
    }
  });
});
