import { expect, test } from "vitest";
import { blockBounds, blockParts } from "./block-bounds.ts";

test.each([
  [50_000, 32_768, [0, 25_000, 50_000]],
  [21, 4, [0, 3, 7, 10, 14, 17, 21]],
  [30, 30, [0, 30]],
  [3, 1, [0, 1, 2, 3]],
  [0, 5, [0, 0]],
])("%i rows in blocks of at most %i are divided evenly", (rowCount, blockRows, expected) => {
  expect([...blockBounds(rowCount, blockRows)]).toEqual(expected);
});

test("a range of rows is divided at the block boundaries", () => {
  expect([...blockParts(Uint32Array.of(0, 3, 3, 8), 2, 4)]).toEqual([
    { block: 0, from: 0, to: 1 },
    { block: 2, from: 1, to: 4 },
  ]);
});
