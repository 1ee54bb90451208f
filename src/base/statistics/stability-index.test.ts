import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { binCounts, binOf, quantileBounds, stabilityIndex, stabilityOf } from "./stability-index.ts";

describe("the stability index", () => {
  test("of a worked example: shares .2, .3, .5 against .3, .3, .4", () => {
    // (.3 - .2) ln 1.5 + 0 + (.4 - .5) ln .8
    expect(stabilityIndex([20, 30, 50], [30, 30, 40])).toBeCloseTo(0.1 * Math.log(1.5) - 0.1 * Math.log(0.8), 15);
  });

  test("is 0 for equal shares, symmetric in shares, and never negative", () => {
    const counts = fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(counts, (pairs) => {
        const [a, b] = [pairs.map(([first]) => first), pairs.map(([, second]) => second)];
        const index = stabilityIndex(a, b);
        if ([a, b].some((counts) => counts.every((count) => count === 0))) {
          expect(index).toBeNaN();
          return;
        }
        expect(index).toBeGreaterThanOrEqual(0);
        expect(stabilityIndex(b, a)).toBeCloseTo(index, 10);
        if (a.every((count) => count > 0))
          expect(
            stabilityIndex(
              a,
              a.map((count) => 3 * count),
            ),
          ).toBeCloseTo(0, 12);
      }),
      { seed: 7 },
    );
  });

  test("an empty bin counts as half an instance, and one that is empty in both not at all", () => {
    expect(stabilityIndex([10, 0, 0], [5, 5, 0])).toBeCloseTo(-0.5 * Math.log(0.5) + 0.45 * Math.log(10), 15);
  });

  test("other bins are a mistake of the caller", () => {
    expect(() => stabilityIndex([1, 2], [1, 2, 3])).toThrow("2 bins are compared with 3");
  });

  test("its customary levels", () => {
    expect([0, 0.0999, 0.1, 0.2499, 0.25].map(stabilityOf)).toEqual([
      "stable",
      "stable",
      "moderate",
      "moderate",
      "large",
    ]);
  });
});

describe("bins", () => {
  test("deciles hold equally many, and repeated values share a bin", () => {
    const values = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1000);
    const bounds = quantileBounds(values);
    expect(bounds).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900]);
    expect([...binCounts(values, bounds)]).toEqual([...Array<number>(10).fill(100), 0]);
    expect(quantileBounds([1, 1, 1, 1, 1, 1, 1, 1, 2, 3])).toEqual([2, 3]);
    expect(quantileBounds([5, 5, 5])).toEqual([]);
    expect(quantileBounds([Number.NaN])).toEqual([]);
    expect(quantileBounds([-1, -0, -0], 2)).toEqual([0]); // toEqual distinguishes -0 from 0
  });

  test("missing values have a bin of their own", () => {
    expect([Number.NEGATIVE_INFINITY, 0, 1, 1.5, 2, Infinity, Number.NaN].map((v) => binOf(v, [1, 2]))).toEqual([
      0, 0, 1, 1, 2, 2, 3,
    ]);
    expect([...binCounts([Number.NaN, 1], [])]).toEqual([1, 1]);
  });
});
