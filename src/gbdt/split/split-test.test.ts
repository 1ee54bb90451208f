import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { checkKind, columnTest, valueGoesLeft } from "./split-test.ts";

const names = ["red", "green", "blue"];
const chosen = { categories: ["blue", "red"], defaultLeft: false } as const;

test("named categories go right, others left, also unknown ones", () => {
  const goesLeft = columnTest(chosen, names);
  expect([0, 1, 2, 3, 77].map(goesLeft)).toEqual([false, true, false, true, true]);
  expect([0, 1, 2, 3].map((code) => valueGoesLeft(chosen, code, names))).toEqual([false, true, false, true]);
  expect([goesLeft(NaN), valueGoesLeft({ ...chosen, defaultLeft: true }, NaN, names)]).toEqual([false, true]);
  expect(columnTest(chosen, ["blue"])(0)).toBe(false);
});

test("numbers below the threshold go left", () => {
  const goesLeft = columnTest({ threshold: 2, defaultLeft: true }, null);
  expect([1, 2, 3, NaN].map(goesLeft)).toEqual([true, false, false, true]);
});

test("a rule and a column must be of the same kind; a column without values matches both", async () => {
  const values = Float32Array.of(1, NaN);
  checkKind(chosen, "colour", values, names);
  checkKind({ threshold: 2, defaultLeft: true }, "age", values, null);
  checkKind(chosen, "colour", Float32Array.of(NaN), null);
  await expectError(() => checkKind(chosen, "colour", values, null), "COLUMN_UNKNOWN", /'colour'.*data\.categorical/);
  await expectError(
    () => checkKind({ threshold: 2, defaultLeft: true }, "age", values, names),
    "COLUMN_UNKNOWN",
    /text in column 'age'/,
  );
});
