import { expect, test } from "vitest";
import type { PresetPrice } from "../../privacy/attack/audit-result.ts";
import { auditText } from "./audit-text.ts";

function textOf(kept: readonly (number | null)[]): string {
  const prices = kept.map((share, i): PresetPrice => ({
    preset: ["exact", "guarded", "strict"][i],
    sums: ["exact", "hidden", "noise 20"][i],
    metric: "rmse",
    alone: 12,
    value: 12 - 2 * (share ?? 0),
    kept: share,
    lowest: share ?? 0,
    highest: share ?? 0,
  }));
  return auditText({ isEstimate: false, parties: [], labels: [], whatIf: null, schemes: null, prices });
}

test("a preset that costs more than a fifth of the gain is warned of, and one is recommended", () => {
  const text = textOf([1, 0.98, 0.7]);
  expect(text).toMatch(/strict +noise 20 +10.6 +70 %/);
  expect(text).toContain("Warning: strict costs 30 % of the gain on this table.");
  expect(text).not.toContain("Warning: guarded");
  expect(text).toContain("Take guarded: it keeps 98 % of the gain on this table.");
});

test("strict is recommended only where guarded keeps as much", () => {
  expect(textOf([1, 0.98, 0.96])).toContain("Take strict: it keeps 96 %");
  expect(textOf([1, 0.9, 0.96])).toContain("No preset keeps 95 % of the gain surely");
});

test("without a gain there is nothing to keep", () => {
  expect(textOf([null, null, null])).toContain("there is no gain to keep");
});
