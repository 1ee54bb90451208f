import { expect, test } from "vitest";
import { GrowingNumbers } from "./growing-numbers.ts";

test("numbers are returned in order, for any chunk sizes", () => {
  const growing = new GrowingNumbers(Uint32Array);
  const expected = Uint32Array.from({ length: 700_000 }, (_, i) => i * 3);
  growing.push(expected[0]);
  for (const [first, end] of [
    [1, 1023],
    [1023, 5000],
    [5000, 5000],
    [5000, 699_999],
  ])
    growing.append(expected.subarray(first, end));
  growing.push(expected[699_999]);
  expect(growing.length).toBe(700_000);
  expect(Buffer.from(growing.finish().buffer).equals(Buffer.from(expected.buffer))).toBe(true);
  expect(growing.length).toBe(0);
  expect(growing.finish()).toEqual(new Uint32Array(0));
});
