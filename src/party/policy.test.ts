/** What a passive party says to a job that asks for another cipher than its owner allows. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { codecParameters, privacyParameters, resolveParameters, trainingParameters } from "../base/parameters.ts";
import { agreedParameters } from "../protocol/job-parameters.ts";
import { ActiveHelloSchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { PolicyConfig } from "./config.ts";
import { agreedByPolicy } from "./policy.ts";

const policy: PolicyConfig = {
  max_trees: 100,
  max_depth: 6,
  min_key_bits: 2048,
  max_active_ids: 1000,
  min_instances: 1,
  min_instances_per_node: 1,
  min_instances_per_candidate: 1,
  schemes: ["paillier"],
  codecs: ["batched"],
  unpacked: false,
  max_resolution_bits: 24,
  scoring: true,
  warm_start: true,
  max_scoring_ids: 10,
  privacy: resolveParameters(privacyParameters, {}),
  min_instances_per_tree: 1,
  budget: {},
};

function ask(scheme: string, schemeParameters: Readonly<Record<string, number>>) {
  const parameters = agreedParameters(
    "spring",
    resolveParameters(trainingParameters, {}),
    resolveParameters(codecParameters, {}),
    { name: scheme, parameters: schemeParameters },
  );
  return agreedByPolicy(create(ActiveHelloSchema, { parameters, instanceCount: 10 }), policy, "shop");
}

test("a key that is long enough is agreed on, field by field", () => {
  expect(ask("paillier", { keyBits: 2048 })).toMatchObject({ scheme: "paillier", schemeParameters: { keyBits: 2048 } });
});

describe("refused", () => {
  test.each<[string, Readonly<Record<string, number>>, RegExp]>([
    ["a short key", { keyBits: 1024 }, /: key_bits: 1024 asked, at least 2048 allowed$/],
    ["a key beyond all bounds", { keyBits: 0xffffffff }, /: key_bits: 4294967295 asked, at most 4096 allowed$/],
    ["no key", {}, /: key_bits: none asked$/],
    ["more than a key", { keyBits: 2048, backDoor: 1 }, /: scheme: more parameters asked than Paillier has$/],
  ])("%s", async (_name, parameters, message) => {
    await expectError(() => ask("paillier", parameters), "POLICY", message);
  });

  test.each(["", "rot13", "__proto__", "constructor"])("a scheme that nobody knows: '%s'", async (scheme) => {
    await expectError(() => ask(scheme, { keyBits: 2048 }), "HANDSHAKE_MISMATCH", /^scheme: .*, shop knows paillier$/);
  });
});
