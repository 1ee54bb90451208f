import fc from "fast-check";
import { expect, test } from "vitest";
import { idsDigest } from "./ids.ts";

const hex = (ids: readonly string[]): string => Buffer.from(idsDigest(ids)).toString("hex");

test("equal exactly if the lists are equal", () => {
  const list = fc.array(fc.constantFrom("a", "b", "ab", "1:a", "", "\n", "ü", "2:"), { maxLength: 5 });
  fc.assert(fc.property(list, list, (a, b) => (hex(a) === hex(b)) === (JSON.stringify(a) === JSON.stringify(b))));
  expect(hex(["a", "b"])).toBe(hex(["a", "b"]));
});

test("neighbouring ids cannot run into each other, and order and number count", () => {
  const lists = [
    ["ab", "c"],
    ["a", "bc"],
    ["abc"],
    ["c", "ab"],
    [],
    [""],
    ["", ""],
    ["1:a"],
    ["a"],
    ["a1:b"],
    ["a", "b"],
  ];
  expect(new Set(lists.map(hex)).size).toBe(lists.length);
  expect(idsDigest(["a"]).length).toBe(32);
});
