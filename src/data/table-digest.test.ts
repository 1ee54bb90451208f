import { expect, test } from "vitest";
import type { PartyTable } from "./dataset.ts";
import { tableDigest } from "./table-digest.ts";

const table = (changes: Partial<PartyTable> = {}): PartyTable => ({
  ids: ["a", "b"],
  featureNames: ["x", "y"],
  features: [Float32Array.of(1, NaN), Float32Array.of(3, 4)],
  labels: Float64Array.of(0, 1),
  ...changes,
});

test("the same table has the same digest", () => {
  expect(tableDigest(table())).toBe(tableDigest(table()));
  expect(tableDigest(table())).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ["an id", { ids: ["a", "c"] }],
  ["ids cut elsewhere", { ids: ["ab", ""] }],
  ["a name", { featureNames: ["x", "z"] }],
  ["a value", { features: [Float32Array.of(1, NaN), Float32Array.of(3, 5)] }],
  ["a missing value", { features: [Float32Array.of(1, 0), Float32Array.of(3, 4)] }],
  ["a label", { labels: Float64Array.of(1, 1) }],
  ["no labels", { labels: null }],
] as const)("another digest with another table: %s", (_, changes) => {
  expect(tableDigest(table(changes as Partial<PartyTable>))).not.toBe(tableDigest(table()));
});
