import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SlotGrid } from "../../base/gradients/quantised-gradients.ts";
import { isWorthSplitting, leafValue, type SplitParameters, TreeGain } from "./gain.ts";

/** The identity grid. */
const identity: SlotGrid[] = [
  { shift: 0, resolution: 1 },
  { shift: 0, resolution: 1 },
];
const free: SplitParameters = { lambda: 0, gamma: 0, minChildWeight: 0, alpha: 0, maxDeltaStep: 0 };

function candidateGain(
  grids: SlotGrid[],
  sideSums: number[],
  sideCount: number,
  totalSums: number[],
  totalCount: number,
  given: SplitParameters,
): number {
  return new TreeGain(grids, given).gains(
    Float64Array.of(...sideSums, sideCount),
    Float64Array.of(...totalSums, totalCount),
  )[0];
}

function leafWeight(g: number, h: number, given: SplitParameters): number {
  return new TreeGain(
    [
      { shift: 0, resolution: 1 },
      { shift: 0, resolution: 0.1 },
    ],
    given,
  ).weights(Float64Array.of(g, h * 10, 1))[0];
}

const integer = fc.integer({ min: 0, max: 2 ** 45 });
const side = fc.record({ g: integer, h: integer, count: fc.integer({ min: 0, max: 1000 }) });
const grid = fc.record({
  shift: fc.double({ min: -20, max: 0, noNaN: true }),
  resolution: fc.double({ min: 2 ** -46, max: 2 ** -4, noNaN: true }),
});
const parameters = fc.record({
  lambda: fc.double({ min: 0, max: 10, noNaN: true }),
  gamma: fc.constant(0),
  minChildWeight: fc.constantFrom(0, 1, 50),
  alpha: fc.constantFrom(0, 0.5, 100),
  maxDeltaStep: fc.constantFrom(0, 0.7),
});

describe("gains", () => {
  it("is eq. (3) without the 1/2 and gamma", () => {
    // left G=3 H=2, right G=-5 H=4, lambda=1: 9/3 + 25/5 - 4/7
    const gain = candidateGain([{ shift: -10, resolution: 1 }, identity[1]], [23, 2], 2, [38, 6], 4, {
      ...free,
      lambda: 1,
    });
    expect(gain).toBeCloseTo(9 / 3 + 25 / 5 - 4 / 7, 12);
  });

  it("is bit for bit the same from either side", () => {
    let finite = 0;
    fc.assert(
      fc.property(fc.tuple(grid, grid), side, side, parameters, (grids, a, b, given) => {
        const total = [a.g + b.g, a.h + b.h];
        const count = a.count + b.count;
        const fromA = candidateGain(grids, [a.g, a.h], a.count, total, count, given);
        const fromB = candidateGain(grids, [b.g, b.h], b.count, total, count, given);
        expect(fromA).toBe(fromB);
        expect(fromA).not.toBeNaN();
        const rows = Float64Array.of(a.g, a.h, a.count, b.g, b.h, b.count);
        expect([...new TreeGain(grids, given).gains(rows, Float64Array.of(...total, count))]).toEqual([fromA, fromB]);
        if (Number.isFinite(fromA)) finite++;
      }),
      { numRuns: 500 },
    );
    expect(finite).toBeGreaterThan(50);
  });

  it("excludes empty sides, sides without hessian and sides below min_child_weight", () => {
    const gain = (sums: number[], count: number, given = free): number =>
      candidateGain(identity, sums, count, [10, 10], 10, given);
    expect(gain([4, 4], 0)).toBe(-Infinity);
    expect(gain([4, 4], 10)).toBe(-Infinity);
    expect(gain([4, 0], 5, { ...free, lambda: 1 })).toBe(-Infinity);
    expect(gain([4, 10], 5, { ...free, lambda: 1 })).toBe(-Infinity);
    expect(gain([4, 4], 5, { ...free, minChildWeight: 4.5 })).toBe(-Infinity);
    expect(gain([4, 6], 5, { ...free, minChildWeight: 4.5 })).toBe(-Infinity);
    expect(gain([9, 4], 5, { ...free, minChildWeight: 4 })).toBeGreaterThan(0);
  });
});

describe("isWorthSplitting", () => {
  it("needs more than rounding noise, and gamma itself is enough", () => {
    expect(isWorthSplitting(1e-6, 0)).toBe(false);
    expect(isWorthSplitting(1.1e-6, 0)).toBe(true);
    expect(isWorthSplitting(2, 2)).toBe(true);
    expect(isWorthSplitting(1.999, 2)).toBe(false);
    expect(isWorthSplitting(-Infinity, 0)).toBe(false);
  });
});

describe("leaves", () => {
  it("follow eq. (4), and stay at zero without enough hessian", () => {
    expect(leafWeight(3, 2, { ...free, lambda: 1 })).toBe(-1);
    expect(leafWeight(3, 2, { ...free, minChildWeight: 2.5 })).toBe(0);
    expect(leafWeight(3, 0, { ...free, lambda: 1 })).toBe(0);
    expect(leafWeight(3, -0.1, { ...free, lambda: 1 })).toBe(0);
  });

  it("lose alpha from the gradient sum, and go no further than max_delta_step", () => {
    expect(leafWeight(3, 2, { ...free, alpha: 1 })).toBe(-1);
    expect(leafWeight(-3, 2, { ...free, alpha: 1 })).toBe(1);
    expect(leafWeight(3, 2, { ...free, alpha: 4 }) + 0).toBe(0);
    expect(leafWeight(3, 2, { ...free, maxDeltaStep: 0.7 })).toBe(-0.7);
    expect(leafWeight(-3, 2, { ...free, maxDeltaStep: 0.7 })).toBe(0.7);
    expect(leafWeight(1, 2, { ...free, maxDeltaStep: 0.7 })).toBe(-0.5);
  });

  it("are stored in float32, never as -0", () => {
    expect(leafValue(1, 0.3)).toBe(Math.fround(0.3));
    expect(Object.is(leafValue(leafWeight(0, 1, free), 0.3), 0)).toBe(true);
  });
});
