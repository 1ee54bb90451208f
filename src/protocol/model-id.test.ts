import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { defenceNames, noDefences } from "../privacy/defences/defences.ts";
import { idsDigest } from "./ids.ts";
import type { AgreedParameters } from "./job-parameters.ts";
import { modelId } from "./model-id.ts";

const agreed: AgreedParameters = {
  job: "spring",
  numRound: 3,
  maxDepth: 4,
  maxLeaves: 0,
  maxBin: 32,
  sketchedCuts: false,
  vetting: false,
  scheme: "paillier",
  schemeParameters: { keyBits: 2048 },
  codec: "batched",
  seed: 7,
  colsampleBytree: 1,
  colsampleBylevel: 1,
  colsampleBynode: 1,
  treesPerRound: 1,
  localRounds: 0,
  startModel: "",
  startTrees: 0,
  enableCategorical: false,
  maxCatToOnehot: 4,
  defences: noDefences,
  resolutionBits: 24,
  outputs: 1,
  padding: 2,
  slotBits: 0,
  interactionGroups: "",
};
const digest = idsDigest(["a", "b"]);

test("the id is the SHA-256 of the text that docs/model-files.md gives", () => {
  const lines = [
    "tandem/model/1",
    "answerNoise=0",
    'codec="batched"',
    "colsampleBylevel=1",
    "colsampleBynode=1",
    "colsampleBytree=1",
    "enableCategorical=false",
    "hiddenOutcomes=false",
    'interactionGroups=""',
    'job="spring"',
    "keyBits=2048",
    "localRounds=0",
    "maskedScoring=false",
    "maxBin=32",
    "maxCatToOnehot=4",
    "maxDepth=4",
    "maxLeaves=0",
    "maxThresholds=0",
    "minPeopleShare=0",
    "numRound=3",
    "outputs=1",
    "padding=2",
    "resolutionBits=24",
    'scheme="paillier"',
    "seed=7",
    "sketchedCuts=false",
    "slotBits=0",
    'startModel=""',
    "startTrees=0",
    "treesPerRound=1",
    "vetting=false",
    "instances=2",
    `ids=${Buffer.from(digest).toString("hex")}`,
  ];
  const text = lines.map((line) => `${line}\n`).join("");
  expect(modelId(agreed, 2, digest)).toBe(createHash("sha256").update(text).digest("hex"));
});

test("the order of the fields does not matter", () => {
  const reversed = Object.fromEntries(Object.entries(agreed).toReversed()) as AgreedParameters;
  expect(modelId(reversed, 2, digest)).toBe(modelId(agreed, 2, digest));
});

test("everything that was agreed matters", () => {
  const others = [
    ...Object.entries(agreed)
      .filter(([field]) => field !== "schemeParameters" && field !== "defences")
      .map(([field, value]) =>
        modelId(
          { ...agreed, [field]: typeof value === "number" ? value + 1 : `${JSON.stringify(value)}\n` },
          2,
          digest,
        ),
      ),
    modelId({ ...agreed, schemeParameters: { keyBits: 2049 } }, 2, digest),
    ...defenceNames.map((name) =>
      modelId({ ...agreed, defences: { ...noDefences, [name]: noDefences[name] === false ? true : 1 } }, 2, digest),
    ),
    modelId(agreed, 3, digest),
    modelId(agreed, 2, idsDigest(["b", "a"])),
  ];
  expect(new Set([modelId(agreed, 2, digest), ...others]).size).toBe(
    Object.keys(agreed).length + defenceNames.length + 2,
  );
});
