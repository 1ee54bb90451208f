import { expect, test } from "vitest";
import { heapGrowth } from "./v8-settings.ts";

test("a small heap may grow by a fixed amount, a large one by V8's default", () => {
  expect(heapGrowth(0)).toBe(400);
  expect(heapGrowth(20 << 20)).toBe(400);
  expect(heapGrowth(160 << 20)).toBe(100);
  expect(heapGrowth(320 << 20)).toBe(50);
  expect(heapGrowth(2 ** 31)).toBe(0);
});
