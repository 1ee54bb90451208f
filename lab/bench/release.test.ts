import { expect, test } from "vitest";
import { childSeconds } from "./release.ts";

test("CPU seconds of ended processes, as shells print them", () => {
  expect(childSeconds("0m0.00s 0m0.00s\n1m2.50s 0m0.25s\n")).toBe(62.75); // dash, bash
  expect(childSeconds("0m0.000000s 0m0.001000s\n0m11.250000s 0m1.500000s\n")).toBe(12.75); // dash 0.5.12
  expect(childSeconds("")).toBeNaN();
});
