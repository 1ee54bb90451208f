import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawRows, splitRows } from "./split.ts";

describe("splitRows", () => {
  it("cuts every row exactly once, both sides ascending and of the asked size", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 400 }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        fc.nat(),
        (count, fraction, seed) => {
          const testCount = Math.round(count * fraction);
          fc.pre(testCount > 0 && testCount < count);
          const { train, test } = splitRows(count, fraction, seed);
          expect(test.length).toBe(testCount);
          expect([...train, ...test].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
          for (const side of [train, test]) expect(side.every((row, i) => i === 0 || side[i - 1] < row)).toBe(true);
        },
      ),
    );
  });

  it("repeats for a seed, differs between seeds, and is pinned: a saved job must find its split again", () => {
    expect(splitRows(1000, 0.25, 7)).toEqual(splitRows(1000, 0.25, 7));
    expect(splitRows(1000, 0.25, 7).test).not.toEqual(splitRows(1000, 0.25, 8).test);
    expect([...splitRows(12, 0.25, 7).test]).toEqual([2, 4, 6]);
  });

  it.each([0, 1, -0.1, 1.5, NaN])("refuses a fraction of %d", (fraction) => {
    expect(() => splitRows(100, fraction, 7)).toThrow("the test fraction must be above 0 and below 1");
  });

  it("refuses to leave a side empty", () => {
    expect(() => splitRows(10, 0.04, 7)).toThrow("a test fraction of 0.04 leaves none of 10 rows for testing");
    expect(() => splitRows(10, 0.96, 7)).toThrow("a test fraction of 0.96 leaves none of 10 rows for training");
    expect(() => splitRows(0, 0.5, 7)).toThrow("leaves none of 0 rows");
  });
});

describe("drawRows", () => {
  it("draws as many rows as asked, no row twice, and nests smaller training sets in larger ones", () => {
    const large = drawRows(100, { test: 20, train: 70 }, 7);
    const small = drawRows(100, { test: 20, train: 30 }, 7);
    expect(new Set([...large.test, ...large.train]).size).toBe(90);
    expect(small.test).toEqual(large.test);
    expect(small.train.length).toBe(30);
    expect([...small.train].every((row) => large.train.includes(row))).toBe(true);
  });

  it("refuses more rows than there are", () => {
    expect(() => drawRows(10, { test: 4, train: 7 }, 7)).toThrow(
      "7 training rows and 4 test rows are wanted, but there are only 10 rows",
    );
  });
});
