import { expect, test } from "vitest";
import { presetOf, presets, privacyParameters, resolveParameters } from "./parameters.ts";

test.each(presets)("the defences that %s sets are known by its name", (preset) => {
  const { privacy, ...defences } = resolveParameters(privacyParameters, { privacy: preset });
  expect(privacy).toBe(preset);
  expect(presetOf(defences)).toBe(preset);
});

test("what no preset sets has no name", () => {
  const { privacy: _, ...exact } = resolveParameters(privacyParameters, {});
  expect(presetOf({ ...exact, masked_scoring: true })).toBeNull();
  expect(presetOf({ ...exact, answer_noise: 10 })).toBeNull();
});
