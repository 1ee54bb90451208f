import { expect, test } from "vitest";
import { foldRows } from "../data/split.ts";
import { spread } from "../gbdt/boost/fold-turns.ts";

test("every row is tested in exactly one fold and trained on in all others", () => {
  const folds = [0, 1, 2].map((fold) => foldRows(20, 3, fold, 7));
  expect(folds.flatMap(({ test: rows }) => [...rows]).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, i) => i),
  );
  for (const { train, test: held } of folds) expect(new Set([...train, ...held]).size).toBe(20);
  expect(foldRows(20, 3, 0, 8)).not.toEqual(folds[0]);
  expect(() => foldRows(2, 3, 0, 7)).toThrow("2 rows");
});

test("spread", () => {
  expect(spread([1, 2, 3])).toEqual({ mean: 2, deviation: 1 });
});
