import { describe, expect, test } from "vitest";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import type { Defence } from "./defence.ts";
import { appliesTo, defenceNames, defences, isOn, isWeaker, noDefences, presetOf, presets } from "./defences.ts";
import { privacyParameters } from "./defences.ts";

describe.each(defenceNames)("%s", (name) => {
  const defence: Defence = defences[name];

  test("is off by default, and no preset has less of it than the one before", () => {
    expect(isOn(defence.parameter.default)).toBe(false);
    const values = presets.map((preset) => resolveParameters(privacyParameters, { privacy: preset })[name]);
    expect(isOn(values[0])).toBe(false);
    values.slice(1).forEach((value, i) => expect(isWeaker(name, value, values[i])).toBe(false));
  });

  test("off is weaker than on; nothing is weaker than off, nor than itself", () => {
    const off = defence.parameter.default;
    const on = defence.parameter.kind === "switch" ? true : defence.parameter.max;
    expect(isWeaker(name, off, on)).toBe(true);
    expect(isWeaker(name, on, off)).toBe(false);
    for (const value of [off, on]) expect(isWeaker(name, value, value)).toBe(false);
  });

  test("has a text", () => {
    expect(defence.phrase(1)).toMatch(/^\w.*[^.]$/);
    expect(defence.lowers).toMatch(/^what .* reveals?$/);
  });

  test("has a reason where it is refused, and an audit combines it with an existing one", () => {
    const isLimited = defence.appliesTo !== undefined || defence.needsMasks === true;
    expect(defence.refusal === undefined).toBe(!isLimited);
    expect((["sent", "hidden"] as const).some((membership) => appliesTo(name, membership))).toBe(true);
    if (typeof defence.audit === "object") expect(defenceNames).toContain(defence.audit.with);
  });
});

test("a number is weaker below or above the demanded one, depending on the table", () => {
  expect(isWeaker("answer_noise", 9, 10)).toBe(true);
  expect(isWeaker("answer_noise", 11, 10)).toBe(false);
  expect(isWeaker("max_thresholds", 4, 3)).toBe(true);
  expect(isWeaker("max_thresholds", 2, 3)).toBe(false);
});

test.each(presets)("presetOf finds %s by its values", (preset) => {
  const { privacy, ...values } = resolveParameters(privacyParameters, { privacy: preset });
  expect(privacy).toBe(preset);
  expect(presetOf(values)).toBe(preset);
});

test("other values have no preset; unknown values are not compared", () => {
  expect(presetOf({ ...noDefences, masked_scoring: true })).toBeNull();
  expect(presetOf({ ...noDefences, answer_noise: 10 })).toBeNull();
  expect(presetOf({})).toBe("exact");
  expect(presetOf({ answer_noise: 5 })).toBe("guarded");
  expect(presetOf({ answer_noise: 0, hidden_sums: true, outcome_bits: 1 })).toBe("strict");
});
