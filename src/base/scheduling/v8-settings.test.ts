import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { afterEach, expect, test, vi } from "vitest";
import { heapGrowth, setUpV8 } from "./v8-settings.ts";

afterEach(() => void vi.useRealTimers());

test("a small heap may grow by a fixed amount, a large one by V8's default", () => {
  expect(heapGrowth(0)).toBe(400);
  expect(heapGrowth(20 << 20)).toBe(400);
  expect(heapGrowth(160 << 20)).toBe(100);
  expect(heapGrowth(320 << 20)).toBe(50);
  expect(heapGrowth(2 ** 31)).toBe(0);
});

test("flags are V8's own again when compiled code is kept, at the end", () => {
  vi.useFakeTimers();
  setFlagsFromString("--heap-growing-percent=0"); // the tests' own setting is another
  const before = cachedDataVersionTag();
  setUpV8();
  const [restore] = process.listeners("exit");
  process.removeListener("exit", restore);
  restore(0);
  expect(cachedDataVersionTag()).toBe(before);
});
