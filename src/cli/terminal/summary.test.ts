import { expect, test } from "vitest";
import { importanceTable } from "./summary.ts";

test("features have shares of the total gain, and a model without a split says why", () => {
  const feature = { party: "bank", weight: 2, gain: 15, cover: 1, totalCover: 2 };
  const table = importanceTable([
    { ...feature, feature: "income", totalGain: 30 },
    { ...feature, feature: "age", totalGain: 10 },
  ]);
  expect(table).toMatch(/income +bank +75\.0 % +2\n +age +bank +25\.0 % +2/);
  expect(importanceTable([])).toMatch(/^ {2}No tree has a split: .*min_child_weight/);
});
