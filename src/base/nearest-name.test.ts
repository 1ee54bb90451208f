import { expect, test } from "vitest";
import { nearestName, suggestion } from "./nearest-name.ts";

test("nearestName counts insertions, deletions and substitutions; the first wins a tie", () => {
  expect(nearestName("lamda", ["gamma", "lambda", "eta"])).toBe("lambda");
  expect(nearestName("etaa", ["lambda", "eta"])).toBe("eta");
  expect(nearestName("xx", ["ab", "cd"])).toBe("ab");
  expect(nearestName("anything", [])).toBe("");
});

test("suggestion proposes the nearest name, and nothing where there is none", () => {
  expect(suggestion("lamda", ["gamma", "lambda"])).toBe("; did you mean 'lambda'?");
  expect(suggestion("anything", [])).toBe("");
});
