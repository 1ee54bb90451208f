import { expect, test } from "vitest";
import { nearestName } from "./nearest-name.ts";

test("nearestName counts insertions, deletions and substitutions; the first wins a tie", () => {
  expect(nearestName("lamda", ["gamma", "lambda", "eta"])).toBe("lambda");
  expect(nearestName("etaa", ["lambda", "eta"])).toBe("eta");
  expect(nearestName("xx", ["ab", "cd"])).toBe("ab");
  expect(nearestName("anything", [])).toBe("");
});
