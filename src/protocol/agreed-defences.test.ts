import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { resolveParameters } from "../base/parameters/parameters.ts";
import { type Defences, noDefences, presets, privacyParameters } from "../privacy/defences/defences.ts";
import { JobParametersSchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { defenceFields, receivedDefences, type SentDefence, sentDefences } from "./agreed-defences.ts";
import { agreedParameters, flatParameters } from "./job-parameters.ts";
import { testJob } from "../../test/world/simulated.ts";

function defencesOf(preset: string): Defences {
  const { privacy: _, ...values } = resolveParameters(privacyParameters, { privacy: preset });
  return values;
}

test.each(presets)("the defences of %s arrive as they were sent", (preset) => {
  const defences = sentDefences(defencesOf(preset));
  const bytes = toBinary(JobParametersSchema, create(JobParametersSchema, { defences }));
  expect(receivedDefences(fromBinary(JobParametersSchema, bytes).defences, "shop")).toEqual(defencesOf(preset));
});

test("a defence that is off is not sent, so a party that does not know it can accept the job", () => {
  expect(sentDefences(noDefences)).toEqual([]);
  expect(sentDefences({ ...noDefences, masked_scoring: true, answer_noise: 0.5 })).toEqual([
    { name: "answer_noise", value: 0.5 },
    { name: "masked_scoring", value: 1 },
  ]);
});

describe("refused", () => {
  const noise = { name: "answer_noise", value: 10 };
  const share = { name: "min_people_share", value: 0.01 };
  test.each<[string, readonly SentDefence[], RegExp]>([
    [
      "one that is not known",
      [noise, { name: "rounded_gains", value: 1 }],
      /proposes rounded_gains, which shop does not/,
    ],
    ["the preset's name", [{ name: "privacy", value: 1 }], /proposes privacy, which shop does not know/],
    ["a name of every object", [{ name: "__proto__", value: 1 }], /proposes __proto__, which/],
    ["another name of every object", [{ name: "constructor", value: 1 }], /proposes constructor, which/],
    ["a field's name", [{ name: "answerNoise", value: 1 }], /proposes answerNoise, which/],
    ["no name", [{ name: "", value: 1 }], /^defences: the active party proposes/],
    [
      "a name that would break a line",
      [{ name: `x\n${"y".repeat(5000)}`, value: 1 }],
      /proposes x y{498}\.\.\., which/,
    ],
    ["one twice, alike", [noise, noise], /^defences: answer_noise is sent twice, or out of order$/],
    ["one twice, the weaker last", [noise, { ...noise, value: 1 }], /answer_noise is sent twice/],
    ["one twice, apart", [noise, share, noise], /answer_noise is sent twice/],
    ["another order", [share, noise], /answer_noise is sent twice, or out of order/],
    ["one that is off", [{ ...noise, value: 0 }], /answer_noise is 0, it must be .* left out where it is off$/],
    ["less than nothing", [{ ...noise, value: -0 }], /answer_noise is 0, it must be/],
    [
      "a number below all bounds",
      [{ ...noise, value: -1 }],
      /answer_noise is -1, it must be a number from 0 up to 1000/,
    ],
    ["a number above all bounds", [{ ...noise, value: 1001 }], /answer_noise is 1001, it must be/],
    ["no number", [{ ...noise, value: Number.NaN }], /answer_noise is NaN, it must be/],
    ["a number without end", [{ ...noise, value: Infinity }], /answer_noise is Infinity, it must be/],
    ["a part of a threshold", [{ name: "max_thresholds", value: 1.5 }], /max_thresholds is 1.5, it must be an integer/],
    ["a switch that is off", [{ name: "masked_scoring", value: 0 }], /masked_scoring is 0, it must be true or false/],
    ["a switch that is more than on", [{ name: "masked_scoring", value: 2 }], /masked_scoring is 2, it must be/],
  ])("%s", async (_what, sent, message) => {
    await expectError(() => receivedDefences(sent, "shop"), "HANDSHAKE_MISMATCH", message);
  });
});

test("ids and stored terms name the first defences on or off: they are as before there was a table", () => {
  expect(defenceFields(noDefences)).toEqual({
    answerNoise: 0,
    minPeopleShare: 0,
    maxThresholds: 0,
    maskedScoring: false,
    hiddenOutcomes: false,
  });
});

test("no defence has the name of another field that is agreed on", () => {
  const agreed = agreedParameters(testJob({}));
  const { defences, schemeParameters, ...others } = agreed;
  const names = [others, schemeParameters, defenceFields(defences)].flatMap(Object.keys);
  expect(new Set(names).size).toBe(names.length);
  expect(Object.keys(flatParameters(agreed)).sort()).toEqual(names.sort());
});
