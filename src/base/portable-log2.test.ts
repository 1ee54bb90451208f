import { expect, test } from "vitest";
import { portableLog2 } from "./portable-log2.ts";

test("it is Math.log2, up to its rounding", () => {
  for (const x of [1, 2, 3, 10, 22_500, 112_500, 2 ** 31 - 1, 1.0000001])
    expect(Math.abs(portableLog2(x) - Math.log2(x))).toBeLessThan(2 ** -20);
  expect([1, 2, 1024].map(portableLog2)).toEqual([0, 1, 10]);
});
