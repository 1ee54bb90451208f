import { expect, test } from "vitest";
import { byCodePoints } from "./code-points.ts";

test("a letter beyond UTF-16's 16 bits comes after those within", () => {
  // A fullwidth letter, and a letter of mathematics.
  const texts = ["\u{1D5EE}", "\uFF41", "b", "a", ""];
  expect([...texts].sort(byCodePoints)).toEqual(["", "a", "b", "\uFF41", "\u{1D5EE}"]);
  expect([...texts].sort()).not.toEqual([...texts].sort(byCodePoints));
});
