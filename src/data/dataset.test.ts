import { expect, it } from "vitest";
import { type PartyTable, selectRows, viewRows } from "./dataset.ts";

const table: PartyTable = {
  ids: ["a", "b", "c"],
  featureNames: ["x", "y"],
  features: [Float32Array.of(1, NaN, 3), Float32Array.of(4, 5, 6)],
  labels: Float64Array.of(0, 1, 0.5),
};

it("selects rows in the given order, of every column", () => {
  expect(selectRows(table, Uint32Array.of(2, 1))).toEqual({
    ids: ["c", "b"],
    featureNames: ["x", "y"],
    features: [Float32Array.of(3, NaN), Float32Array.of(6, 5)],
    labels: Float64Array.of(0.5, 1),
  });
  expect(selectRows({ ...table, labels: null }, Uint32Array.of(0)).labels).toBeNull();
});

it("shares nothing with the original", () => {
  const copy = selectRows(table, Uint32Array.of(0, 1, 2));
  copy.features[0][0] = 99;
  expect(table.features[0][0]).toBe(1);
});

it("asserts that rows exist", () => {
  expect(() => selectRows(table, Uint32Array.of(3))).toThrow("row 3 of a table of 3");
});

it("shows the same rows without a copy of them", () => {
  for (const rows of [Uint32Array.of(2, 1, 1), new Uint32Array(0)]) {
    const view = viewRows(table, rows);
    expect({ ...view, features: view.features.map((feature) => feature) }).toEqual(selectRows(table, rows));
    expect(view.features).toHaveLength(2);
  }
  const view = viewRows(table, Uint32Array.of(1));
  expect(view.features[0]).not.toBe(view.features[0]); // it is not cached
  expect(() => viewRows(table, Uint32Array.of(3))).toThrow("row 3 of a table of 3");
});
