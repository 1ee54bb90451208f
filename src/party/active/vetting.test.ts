/** What a passive party accepts as a vetting, and how much room its sums have for marks. */
import { describe, expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { codecWith } from "../../base/parameters/parameters.ts";
import { gradientLayout } from "../../codec/gradient-layout.ts";
import { sourceNames } from "../../data/sources/registry.ts";
import { vettingGradients } from "../../gbdt/vet/vet-sums.ts";
import { resolveJob } from "../resolve-job.ts";
import type { ActiveConfig } from "../config/config.ts";
import { vettingConfig, vettingTraining } from "./vetting.ts";
import { type AgreedParameters, agreedParameters } from "../../protocol/job-parameters.ts";
import { checkVetted, impossibleVetting, vettingCalls, vettingResolutionBits } from "../../protocol/vetting.ts";
import { PassiveParty } from "../../wire/generated/tandem/v1/tandem_pb.ts";

const agreed = agreedParameters({
  ...resolveJob({}),
  vetting: true,
  training: vettingTraining(10),
  codec: codecWith({ resolution_bits: vettingResolutionBits }),
});
const refusals = (changes: Partial<AgreedParameters>): readonly (string | false)[] =>
  impossibleVetting({ ...agreed, ...changes }).filter((each) => each !== false);

describe("a passive party's terms of a vetting", () => {
  test("accept what an honest party asks for, and say nothing about training", () => {
    expect(refusals({})).toEqual([]);
    expect(refusals({ vetting: false, numRound: 100 })).toEqual([]);
  });

  test.each<[Partial<AgreedParameters>, RegExp]>([
    [{ numRound: 2 }, /one tree of depth 1/],
    [{ maxDepth: 2 }, /one tree of depth 1/],
    [{ outputs: 2 }, /one output/],
    [{ startTrees: 1 }, /no start model/],
    [{ colsampleBytree: 0.5 }, /all columns/],
    [{ interactionGroups: "a" }, /no interaction groups/],
    [{ maxCatToOnehot: 4 }, /max_cat_to_onehot must be 2/],
    [{ resolutionBits: 24 }, /resolution_bits: 24 requested, it must be 4/],
    [{ defences: { ...agreed.defences, hidden_sums: true } }, /hidden_sums keeps from the active party/],
  ])("refuse %o", (changes, message) => expect(refusals(changes)).toEqual([expect.stringMatching(message)]));

  test("have the root only", () => {
    expect(() => checkVetted(agreed, 0)).not.toThrow();
    expect(() => checkVetted(agreed, 1)).toThrow(/node 1 was requested in a vetting/);
    expect(() => checkVetted({ ...agreed, vetting: false }, 1)).not.toThrow();
  });

  test("have the calls up to the sums of the root, and none that reveals sides of people", () => {
    const handlers = Object.fromEntries(PassiveParty.methods.map(({ localName: name }) => [name, () => name]));
    const calls = vettingCalls(handlers, (name) => {
      throw new TandemError("PROTOCOL_STATE", `no ${name}`);
    });
    const answered = Object.entries(calls).filter(([name, call]) => {
      try {
        return call() === name;
      } catch {
        return false;
      }
    });
    const names = ["join", "setUp", "hints", "gradients", "histograms", "finishTree", "finishJob"];
    expect(answered.map(([name]) => name)).toEqual(names);
  });
});

test.each(sourceNames)("a vetting reads the rows of data.%s, as training does", (source) => {
  const data = { label: "defaulted", features: "all", [source]: "where it is", monotone_constraints: { age: 1 } };
  const config = { name: "bank", data, job: resolveJob({}), output: {} } as unknown as ActiveConfig;
  const { data: vetted } = vettingConfig(config, "vet", 10);
  expect(vetted).toMatchObject({ label: "defaulted", [source]: "where it is", monotone_constraints: {} });
});

test("sums of 30,000 people have room for the marks of 43 people, half of what training has", () => {
  const bitsAt = (resolution: number): number =>
    gradientLayout(
      codecWith({ resolution_bits: resolution }),
      2048,
      vettingGradients(new Float64Array(30_000)),
    ).slots.reduce((sum, { r, padding }) => sum + r + padding, 0);
  expect([bitsAt(vettingResolutionBits), bitsAt(24)]).toEqual([43, 83]);
});
