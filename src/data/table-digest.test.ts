import { expect, test } from "vitest";
import type { PartyTable } from "./dataset.ts";
import { constraintsIn, type FeatureConstraints } from "./feature-constraints.ts";
import { tableDigest } from "./table-digest.ts";

const signs = (monotone: FeatureConstraints["monotone_constraints"]): FeatureConstraints =>
  constraintsIn({ monotone_constraints: monotone });

const table: PartyTable = {
  ids: ["a", "b"],
  featureNames: ["x", "y"],
  features: [Float32Array.of(1, 2), Float32Array.of(3, Number.NaN)],
  labels: Float64Array.of(0, 1),
  rowColumns: { weight: Float64Array.of(1, 2) },
  constraints: signs({ x: 1 }),
};

test.each<[string, Partial<PartyTable>]>([
  ["an id", { ids: ["a", "c"] }],
  ["ids cut elsewhere", { ids: ["ab", ""] }],
  ["a feature's name", { featureNames: ["x", "z"] }],
  ["a value", { features: [Float32Array.of(1, 5), Float32Array.of(3, Number.NaN)] }],
  ["a missing value", { features: [Float32Array.of(1, 2), Float32Array.of(3, 0)] }],
  ["a label", { labels: Float64Array.of(1, 1) }],
  ["no labels", { labels: null }],
  ["a weight", { rowColumns: { weight: Float64Array.of(1, 3) } }],
  ["no weights", { rowColumns: {} }],
  ["the sign of a constraint", { constraints: signs({ x: -1 }) }],
  ["another feature with a constraint", { constraints: signs({ y: 1 }) }],
  ["numbers that are categories", { categories: { y: { names: ["a", "b", "c", "d"], where: "" } } }],
])("%s makes another digest", (_, change) => {
  expect(tableDigest({ ...table, ...change })).not.toBe(tableDigest(table));
  expect(tableDigest({ ...table })).toBe(tableDigest(table));
  expect(tableDigest(table)).toMatch(/^[0-9a-f]{64}$/);
});

test("a constraint of 0 is none", () =>
  expect(tableDigest({ ...table, constraints: signs({ x: 1, y: 0 }) })).toBe(tableDigest(table)));

test("categories count by their texts, whatever their codes are", () => {
  const coded = (names: string[], ...codes: number[]): string =>
    tableDigest({
      ...table,
      features: [Float32Array.of(1, 2), Float32Array.from(codes)],
      categories: { y: { names, where: "line 2" } },
    });
  expect(coded(["a", "b"], 0, 1)).toBe(coded(["b", "?", "a"], 2, 0));
  expect(coded(["a", "b"], 0, 1)).not.toBe(coded(["a", "b"], 1, 0));
  expect(coded(["a", "b"], 0, NaN)).not.toBe(coded(["a", ""], 0, 1));
});
