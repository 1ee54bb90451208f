import { expect, test } from "vitest";
import { resolveParameters } from "../base/parameters/parameters.ts";
import { presets, privacyParameters } from "../privacy/defences/defences.ts";
import { agreedParameters } from "../protocol/job-parameters.ts";
import { presetHint, recordedDefences, weakerDefences } from "./privacy-policy.ts";
import { resolveJob } from "./resolve-job.ts";

type Fields = Readonly<Record<string, unknown>>;

function agreedWith(brought: Fields) {
  return agreedParameters({ ...resolveJob({}), privacy: resolveParameters(privacyParameters, brought) });
}

function weaker(brought: Fields, demanded: Fields) {
  return weakerDefences(agreedWith(brought), resolveParameters(privacyParameters, demanded));
}

test("each preset is enough for itself and those before it, and weaker in every defence than those after it", () => {
  presets.forEach((brought, i) =>
    presets.forEach((demanded, j) =>
      expect(weaker({ privacy: brought }, { privacy: demanded })).toHaveLength(
        i >= j ? 0 : brought === "guarded" ? 3 : 4,
      ),
    ),
  );
});

test("one defence that is weaker is named, with what was asked and what is needed", () => {
  const guarded = { privacy: "guarded" };
  expect(weaker({ ...guarded, answer_noise: 4 }, guarded)).toEqual([
    "answer_noise: 4 requested, at least 5 needed, or hidden_sums",
  ]);
  expect(weaker({ ...guarded, min_people_share: 0.001 }, guarded)).toEqual([
    "min_people_share: 0.001 requested, at least 0.01 needed",
  ]);
  expect(weaker({ ...guarded, outcome_bits: 0 }, guarded)[0]).toMatch(/^outcome_bits: no limit requested, at most/);
  expect(weaker({ ...guarded, masked_scoring: false }, guarded)).toEqual(["masked_scoring: off asked, it must be on"]);
  expect(weaker({ answer_noise: 50 }, { answer_noise: 50 })).toEqual([]);
});

test("either form of a preset is enough; noise that is demanded by its amount is not replaced", () => {
  const hidden = { hidden_sums: true, answer_noise: 0 };
  for (const preset of presets) {
    if (preset === "exact") continue;
    expect(weaker({ privacy: preset, ...hidden }, { privacy: preset })).toEqual([]);
    expect(weaker({ privacy: preset, ...hidden }, { privacy: preset, answer_noise: 7 })).toEqual([
      "answer_noise: 0 requested, at least 7 needed",
    ]);
    expect(weaker({ privacy: preset }, { privacy: preset, hidden_sums: true })).toEqual([
      "hidden_sums: off asked, it must be on",
    ]);
    expect(weaker({ privacy: preset, ...hidden }, { privacy: preset, hidden_sums: true })).toEqual([]);
  }
  expect(weaker({ privacy: "guarded", ...hidden, outcome_bits: 3 }, { privacy: "guarded" })).toEqual([
    "outcome_bits: 3 requested, at most 2 allowed",
  ]);
  expect(weaker({ privacy: "guarded", ...hidden }, { privacy: "strict" })).toHaveLength(2);
});

test("hidden outcomes are demanded where members are hidden; other schemes have no use for them", () => {
  const demanded = resolveParameters(privacyParameters, { privacy: "guarded" });
  const brought = agreedWith({ privacy: "guarded", hidden_outcomes: false });
  expect(weakerDefences(brought, demanded)).toEqual([]);
  expect(weakerDefences({ ...brought, scheme: "lattice" }, demanded)).toEqual([
    "hidden_outcomes: off asked, it must be on",
  ]);
  expect(weakerDefences({ ...agreedWith({ privacy: "guarded" }), scheme: "lattice" }, demanded)).toEqual([]);
});

test("a record says whether outcomes are hidden only where they may be", () => {
  const defences = resolveParameters(privacyParameters, { privacy: "guarded" });
  expect(recordedDefences(defences, "paillier")).not.toHaveProperty("hidden_outcomes");
  expect(recordedDefences(defences, "lattice")).toEqual(defences);
});

test("a refusal names the preset that is needed, unless the policy has custom values", () => {
  const hint = (brought: Fields, demanded: Fields) =>
    presetHint(agreedWith(brought), resolveParameters(privacyParameters, demanded));
  expect(hint({ privacy: "exact" }, { privacy: "guarded" })).toMatch(/'privacy: guarded' in the active party's config/);
  expect(hint({ privacy: "strict" }, { privacy: "guarded" })).toBe("");
  expect(hint({ privacy: "exact" }, { answer_noise: 50 })).toBe("");
});
