import fc from "fast-check";
import { expect, test } from "vitest";
import type { ColumnExposure } from "../../src/record/exposure.ts";
import { barsMax, placeBars, placeGauge } from "./exposure-layout.ts";

function column(bits: number, [outcomes, sums, scoring]: readonly [number, number, number]): ColumnExposure {
  return {
    name: "x",
    bins: 4,
    bits,
    toldBits: { outcomes, sums, scoring },
    certain: { outcomes: 0, sums: 0, scoring: 0 },
  };
}

const amount = fc.oneof(fc.double({ min: 0, max: 20, noNaN: true }), fc.constantFrom(0, Number.NaN, Infinity, -1));
const anyColumn = fc.tuple(amount, fc.tuple(amount, amount, amount)).map(([bits, revealed]) => column(bits, revealed));

test("a bar's parts add up to the column's bits, stand side by side, and never leave the picture", () => {
  fc.assert(
    fc.property(fc.array(anyColumn, { maxLength: 60 }), (columns) => {
      const bars = placeBars(columns);
      expect(bars).toHaveLength(Math.min(columns.length, barsMax));
      for (const { column: drawn, parts } of bars) {
        const whole = Number.isFinite(drawn.bits) ? Math.max(0, drawn.bits) : 0;
        expect(parts.reduce((sum, { bits }) => sum + bits, 0)).toBeCloseTo(whole, 9);
        for (const [i, { bits, from, to }] of parts.entries()) {
          expect([bits > 0, from >= 0, to <= 1, to >= from]).toEqual([true, true, true, true]);
          expect(from).toBe(i === 0 ? 0 : parts[i - 1].to);
        }
      }
    }),
  );
});

test("the parts come in their order, and parts of nothing are left out", () => {
  const [wide, revealed, single] = placeBars([column(1, [1, 1, 1]), column(4, [1, 2, 3]), column(0, [0, 0, 0])]);
  expect(wide.parts).toEqual([
    { kind: "outcomes", bits: 1, from: 0, to: 0.25 },
    { kind: "sums", bits: 1, from: 0.25, to: 0.5 },
    { kind: "scoring", bits: 1, from: 0.5, to: 0.75 },
    { kind: "unknown", bits: 1, from: 0.75, to: 1 },
  ]);
  expect(revealed.parts).toEqual([{ kind: "outcomes", bits: 1, from: 0, to: 0.25 }]);
  expect(single.parts).toEqual([]);
});

test("what is revealed stays within its column, and is not taken back", () => {
  const [{ parts }] = placeBars([column(2, [1.5, 1, 9])]);
  expect(parts.map(({ kind, bits }) => [kind, bits])).toEqual([
    ["outcomes", 1.5],
    ["scoring", 0.5],
  ]);
});

test("no column: no bar", () => {
  expect(placeBars([])).toEqual([]);
});

test.each([
  [0, 0, false],
  [0.05, 0.4, false],
  [0.125, 1, false],
  [7, 1, true],
  [Number.NaN, 0, false],
])("a gauge of %f sums per person ends at %f of its scale", (sums, at, isBeyond) => {
  expect(placeGauge(sums, null)).toMatchObject({ at, isBeyond, limitAt: null });
});

test("a gauge's marks say how much is gone; a limit beyond the scale stands at its end", () => {
  const { marks, limitAt } = placeGauge(0, 3);
  expect(marks).toEqual([
    { at: 0.16, value: 0.02, word: "little" },
    { at: 0.4, value: 0.05, word: "half" },
    { at: 0.8, value: 0.1, word: "all" },
  ]);
  expect(limitAt).toBe(1);
});
