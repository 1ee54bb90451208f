import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { sortedSummary } from "./binning.ts";
import { countedSummary } from "./counted-cuts.ts";
import { columnLoops, fromSortKey, portableLoops, toSortKey } from "./column-loops.ts";

const few = fc.integer({ min: -6, max: 6 }).map((n) => Math.fround(n / 3));
const wide = fc.float({ noNaN: true, noDefaultInfinity: true });
/** The same upper half, so that the lower one decides. */
const near = fc.integer({ min: 0, max: 300 }).map((n) => fromSortKey(toSortKey(0x3f80_0000) + n));
const value = fc.oneof(
  { weight: 4, arbitrary: few },
  { weight: 4, arbitrary: wide },
  { weight: 4, arbitrary: near },
  { weight: 1, arbitrary: fc.constantFrom(NaN, 0, -0) },
);
const column = fc.array(value, { maxLength: 150 }).map((values) => Float32Array.from(values));

describe("cuts by counting", () => {
  test("equal those by sorting, for any number of parts of a column", () => {
    fc.assert(
      fc.property(column, fc.integer({ min: 3, max: 40 }), fc.nat(150), (values, sizeMax, cut) => {
        const parts = (): Float32Array[] => [values.subarray(0, cut), values.subarray(cut)];
        const sorted = sortedSummary(values, sizeMax);
        for (const loops of [columnLoops(), portableLoops])
          expect(countedSummary(parts, sizeMax, loops)).toEqual(sorted);
      }),
      { numRuns: 150 },
    );
  });

  test("of many rows, in few and in many steps", () => {
    const random = new SeededRandom(11);
    const values = new Float32Array(400_000);
    for (let i = 0; i < values.length; i++) values[i] = i % 7 === 0 ? NaN : Math.round(random.normal() * 2000) / 16;
    const parts = (): Float32Array[] => [values];
    for (const sizeMax of [3, 17, 257]) expect(countedSummary(parts, sizeMax)).toEqual(sortedSummary(values, sizeMax));
  });

  test("keys ascend with values, and are invertible", () => {
    fc.assert(
      fc.property(wide, wide, (a, b) => {
        const [x, y] = new Int32Array(Float32Array.of(a, b).buffer);
        expect(Math.sign(toSortKey(x) - toSortKey(y))).toBe(Math.sign(a === b ? 0 : a - b));
        expect(fromSortKey(toSortKey(x))).toBe(a + 0);
      }),
    );
  });

  test("an infinite value is refused", () => {
    for (const x of [Infinity, -Infinity])
      expect(() => countedSummary(() => [Float32Array.of(1, x)], 4)).toThrow("infinite");
  });
});
