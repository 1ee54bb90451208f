import { expect, test } from "vitest";
import { latticeSets } from "./sets.ts";
import {
  activeMemoryBytes,
  hintBytes,
  nodeBytesDown,
  nodeBytesUp,
  passiveMemoryBytes,
  recordsPerChunk,
} from "./sizes.ts";

const { A, B } = latticeSets;

test("sizes of 18,300 rows with 620 candidates in set A, and of a million in set B", () => {
  // Four nodes of a tree of depth 3: 2.2 MB up, 35 KB down; hints of 17.8 MB.
  expect(4 * nodeBytesUp(A, 18_300)).toBe(2_239_600);
  expect(4 * nodeBytesDown(A, 620)).toBe(34_720);
  expect(hintBytes(A, 620)).toBe(17_776_640);
  expect(activeMemoryBytes(A, 18_300, 620)).toBe(8 * 4096 * 620 + 16 * 22_396);
  expect(passiveMemoryBytes(A, 18_300, 20, 620)).toBe(18_300 * 20 + 1024 * 620 + 16 * 22_396);
  expect(nodeBytesUp(B, 1_000_000)).toBe(19 * 1_008_192);
  expect(nodeBytesDown(B, 620)).toBe(13 * 620);
  expect(hintBytes(B, 620)).toBe(66_027_520);
  expect(activeMemoryBytes(B, 1_000_000, 620)).toBe(16 * 8192 * 620 + 24 * 1_008_192);
});

test("a chunk holds whole blocks where one fits, and a record at least", () => {
  expect(recordsPerChunk(A, 512 * 1024)).toBe(5 * 4096);
  expect(recordsPerChunk(B, 512 * 1024)).toBe(3 * 8192);
  expect(recordsPerChunk(A, 1000)).toBe(40);
  expect(recordsPerChunk(A, 1)).toBe(1);
});
