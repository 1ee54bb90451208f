import { expect, test } from "vitest";
import type { PresetOutlook, PresetPrice } from "../../privacy/attack/audit-result.ts";
import { auditText } from "./audit-text.ts";

function textOf(kept: readonly (number | null)[], presets?: readonly PresetOutlook[]): string {
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
  return auditText({ isEstimate: false, parties: [], labels: [], whatIf: null, schemes: null, prices, presets });
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

function outlook(preset: string, scheme: string, outcomes: number | null): PresetOutlook {
  const isPossible = outcomes !== null;
  const overLine = { megabitsPerSecond: 100, roundTripMs: 20, seconds: 120 };
  return {
    preset,
    scheme,
    isOfJob: scheme === "lattice",
    sums: preset === "exact" ? "exact" : "hidden",
    refusal: isPossible ? null : "too many candidates",
    exposure: isPossible
      ? {
          bits: 22.1,
          outcomes,
          sums: 0.301,
          sumsAreBound: preset !== "exact",
          scores: outcomes,
          labelsAuc: null,
          isComplete: preset !== "exact",
        }
      : null,
    cost: isPossible ? { seconds: 12, overLine, bytes: 5e6 } : null,
  };
}

test("presets by scheme: bounds are rounded up, a refusal is named, and the advice says what is revealed", () => {
  const presets = [
    outlook("exact", "lattice", 14),
    outlook("guarded", "paillier", null),
    outlook("guarded", "lattice", 9),
  ];
  const text = textOf([1, 0.98, 0.7], presets);
  expect(text).toContain("Attacks on exact sums reached the time limit");
  expect(textOf([1, 0.98, 0.7], presets.slice(1))).not.toContain("time limit");
  expect(text).toMatch(/exact, lattice \(this\) +exact +14\.0 +0\.3 +14\.0 +- +12 s +2 min 0 s +5\.00 MB\n/);
  expect(text).toMatch(/guarded, lattice \(this\) +hidden +9\.0 +< 0\.31 +9\.0 +- /);
  expect(text).toMatch(/guarded, paillier +hidden( +-){7}\n/);
  expect(text).toContain("guarded is not possible with paillier: too many candidates");
  expect(text).toContain("100 Mb/s and 20 ms between them");
  expect(text).toContain(
    "Take guarded: it keeps 98 % of the gain on this table, " +
      "and training reveals 9.3 of 22.1 bits of a person instead of 14.3.",
  );
});
