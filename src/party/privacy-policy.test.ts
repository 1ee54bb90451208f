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
  expect(weaker({ ...guarded, answer_noise: 9 }, guarded)).toEqual(["answer_noise: 9 requested, at least 10 needed"]);
  expect(weaker({ ...guarded, min_people_share: 0.001 }, guarded)).toEqual([
    "min_people_share: 0.001 requested, at least 0.01 needed",
  ]);
  expect(weaker({ ...guarded, max_thresholds: 0 }, guarded)[0]).toMatch(/^max_thresholds: no limit requested, at most/);
  expect(weaker({ ...guarded, masked_scoring: false }, guarded)).toEqual(["masked_scoring: off asked, it must be on"]);
  expect(weaker({ answer_noise: 50 }, { answer_noise: 50 })).toEqual([]);
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
