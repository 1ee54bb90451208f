/** A passive party refuses a job that its owner's policy does not allow. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { resolveParameters } from "../base/parameters/parameters.ts";
import { noDefences, privacyParameters } from "../privacy/defences/defences.ts";
import { type AgreedParameters, agreedParameters, proposedParameters } from "../protocol/job-parameters.ts";
import { ActiveHelloSchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { PolicyConfig } from "./config/policy-config.ts";
import type { Experiment } from "./experiment.ts";
import { agreedByPolicy } from "./policy.ts";
import { resolveJob } from "./resolve-job.ts";

const policy: PolicyConfig = {
  max_trees: 100,
  max_depth: 6,
  min_key_bits: 2048,
  max_active_ids: 1000,
  min_instances: 1,
  min_instances_per_node: 1,
  min_instances_per_candidate: 1,
  schemes: ["paillier"],
  lattice_minimums: "everywhere",
  explanations: false,
  vetting: "refused",
  max_outputs: 10,
  max_unfinished_jobs: 100,
  max_unfinished_megabytes: 4096,
  scoring: true,
  scoring_models: "all",
  warm_start: true,
  max_scoring_ids: 10,
  max_scores_per_person: 20,
  privacy: resolveParameters(privacyParameters, {}),
  min_instances_per_tree: 1,
  budget: { vettings: 20, daily: {} },
  approval: "automatic",
  automatic_for: [],
  approval_days: 7,
};

function ask(
  scheme: string,
  schemeParameters: Readonly<Record<string, number>>,
  changes: Partial<AgreedParameters> = {},
  allowed = policy,
  experiment: Experiment = {},
) {
  const agreed = agreedParameters({ ...resolveJob({ name: "spring" }), scheme, schemeParameters });
  const parameters = proposedParameters({ ...agreed, ...changes });
  return agreedByPolicy(create(ActiveHelloSchema, { parameters, instanceCount: 10 }), allowed, "shop", experiment);
}

test("a key that is long enough is agreed on, field by field", () => {
  expect(ask("paillier", { keyBits: 2048 })).toMatchObject({ scheme: "paillier", schemeParameters: { keyBits: 2048 } });
});

describe("a scheme that hides the members of nodes", () => {
  const both = { ...policy, schemes: ["paillier", "lattice"] };
  const needsWord = (fields: string): RegExp =>
    new RegExp(
      `: scheme: lattice requested, with which ${fields} would hold over all people only \\('lattice_minimums: root'`,
    );

  test("is allowed where it is named, and there are no minimums", () => {
    expect(ask("lattice", {}, {}, both)).toMatchObject({ scheme: "lattice", schemeParameters: {} });
  });

  test("is refused by default, with the line that would allow it", async () => {
    const line =
      /: scheme: lattice requested, paillier allowed \('schemes: \[paillier, lattice\]' in its policy would allow/;
    await expectError(() => ask("lattice", {}), "POLICY", line);
  });

  test.each(["min_instances_per_node", "min_instances_per_candidate", "min_instances_per_tree"])(
    "is refused where %s is kept, until the owner says that the root is enough",
    async (field) => {
      const kept = { ...both, [field]: 2 };
      await expectError(() => ask("lattice", {}, {}, kept), "POLICY", needsWord(field));
      expect(ask("lattice", {}, {}, { ...kept, lattice_minimums: "root" }).scheme).toBe("lattice");
      expect(ask("paillier", { keyBits: 2048 }, {}, kept).scheme).toBe("paillier");
    },
  );

  test("is refused where the job brings min_people_share, until the owner says so", async () => {
    const share = { defences: { ...noDefences, min_people_share: 0.01 } };
    await expectError(() => ask("lattice", {}, share, both), "POLICY", needsWord("min_people_share"));
    expect(ask("lattice", {}, share, { ...both, lattice_minimums: "root" }).defences).toEqual(share.defences);
  });

  test("is refused with parameters of another", async () => {
    await expectError(() => ask("lattice", { keyBits: 2048 }, {}, both), "POLICY", /unknown parameters/);
  });
});

describe("refused", () => {
  test.each<[string, Readonly<Record<string, number>>, RegExp]>([
    ["a short key", { keyBits: 1024 }, /: key_bits: 1024 requested, at least 2048 allowed$/],
    ["a key beyond all bounds", { keyBits: 0xffffffff }, /: key_bits: 4294967295 requested, at most 4096 allowed$/],
    ["no key", {}, /: key_bits: missing$/],
    ["more than a key", { keyBits: 2048, backDoor: 1 }, /: scheme: unknown parameters for Paillier$/],
  ])("%s", async (_name, parameters, message) => {
    await expectError(() => ask("paillier", parameters), "POLICY", message);
  });

  test.each(["", "rot13", "__proto__", "constructor"])("an unknown scheme: '%s'", async (scheme) => {
    await expectError(
      () => ask(scheme, { keyBits: 2048 }),
      "HANDSHAKE_MISMATCH",
      /^scheme: .*, shop knows paillier, curve, lattice$/,
    );
  });

  const paper = { resolutionBits: 0, slotBits: 30 };
  test.each<[string, Partial<AgreedParameters>, RegExp]>([
    ["a finer grid", { resolutionBits: 25 }, /: resolution_bits: 25 requested, at most 24 allowed$/],
    ["no grid", { resolutionBits: 3 }, /: resolution_bits: 3 requested, it must be an integer from 4 up to 44$/],
    ["wide slots", { ...paper, slotBits: 31 }, /: r: 31 requested, at most 30 allowed$/],
    ["slots without bits", { ...paper, slotBits: 0 }, /: r: 0 requested, it must be an integer from 1 up to 50$/],
    ["slots of two layouts", { slotBits: 30 }, /: r: 30 requested, it must be 0 with layout auto$/],
    ["an unknown codec", { codec: "rot13" }, /: codec: .*rot13.* is not known$/],
    [
      "wide padding",
      { padding: 17 },
      /: padding: 17 requested, it must be an integer from 1 up to 16; padding: 17 requested/,
    ],
    ["padding for marks", { padding: 3 }, /: padding: 3 requested, at most 2 allowed$/],
    ["gradients of nothing", { outputs: 0 }, /: outputs: 0 requested, it must be 1 up to 1000$/],
    ["more classes than there can be", { outputs: 0xffffffff }, /: outputs: 4294967295 requested, it must be 1 up to/],
    [
      "more classes than its owner allows",
      { outputs: 11 },
      /: outputs: 11 requested, at most 10 allowed \('max_outputs: 11' in its policy would allow it\)$/,
    ],
    [
      "trees that share their gradients for nothing",
      { treesPerRound: 3, numRound: 5 },
      /: trees_per_round: 3 requested, it must be 1 or the number of outputs, 1$/,
    ],
    ["rounds of no tree", { treesPerRound: 0 }, /trees_per_round: 0 requested, it must be 1 or the/],
    [
      "noise in the paper's layout",
      { ...paper, defences: { ...noDefences, answer_noise: 1 } },
      /: answer_noise: it needs layout auto$/,
    ],
  ])("%s", async (_name, changes, message) => {
    await expectError(() => ask("paillier", { keyBits: 2048 }, changes), "POLICY", message);
  });

  test("a tree per class, or one for all, are what several classes are trained with", () => {
    for (const treesPerRound of [1, 3])
      expect(ask("paillier", { keyBits: 2048 }, { outputs: 3, treesPerRound, numRound: 5 }).outputs).toBe(3);
  });

  test("an experiment allows a finer grid, and wider slots of the paper's with it", () => {
    const experiment = { resolutionBitsMax: 40, paddingMax: 12 };
    for (const changes of [{ resolutionBits: 40 }, { ...paper, slotBits: 40 }, { padding: 12 }])
      expect(ask("paillier", { keyBits: 2048 }, changes, policy, experiment)).toMatchObject(changes);
    expect(ask("paillier", { keyBits: 2048 }, paper)).toMatchObject(paper);
  });
});

test("validation rows do not count: no sum includes them", async () => {
  const parameters = proposedParameters(agreedParameters(resolveJob({ name: "spring" })));
  const hello = (validation: number[]) =>
    create(ActiveHelloSchema, { parameters, instanceCount: 10, validationRows: Uint8Array.from(validation) });
  const five = { ...policy, min_instances: 5 };
  expect(agreedByPolicy(hello([]), five, "shop").job).toBe("spring");
  expect(agreedByPolicy(hello([0b11111, 0]), five, "shop").job).toBe("spring");
  await expectError(
    () => agreedByPolicy(hello([0b111111, 0]), five, "shop"),
    "POLICY",
    /instances: 4 training rows, at least 5 allowed/,
  );
  // Nor may most rows be validation rows: cuts computed from few rows reveal their values.
  expect(agreedByPolicy(hello([0b11111, 0]), policy, "shop").job).toBe("spring");
  await expectError(
    () => agreedByPolicy(hello([0b111111, 0]), policy, "shop"),
    "POLICY",
    /validation_rows: 6 of 10 held back, at least 0.5 must not be/,
  );
});
