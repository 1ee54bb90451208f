/**
 * The scheme interface suffices: a scheme of two files and a message, registered from outside, trains the oracle's
 * jobs, between roles and between whole parties with configs, policies, checkpoints and crashes.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { prepareScenarios, type Scenarios } from "./world/faults/fault-scenarios.ts";
import { type Scenario, simulateFaults, simulateUndisturbed } from "./world/faults/fault-simulation.ts";
import { noMinimums } from "../src/gbdt/split/offered-candidates.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { isScheme, registerScheme, schemeNames } from "../src/scheme/registry.ts";
import { partOf } from "./support/campaign.ts";
import { trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";
import { toy } from "./support/toy-scheme/active.ts";

const kernel = selectKernel();
let key: PrivateKey;
let scenarios: Scenarios;
let forgetToy = (): void => {};
beforeAll(async () => {
  forgetToy = registerScheme(toy);
  key = await generateKey({ bits: 256, insecure: true });
  scenarios = await prepareScenarios();
});
afterAll(async () => {
  forgetToy();
  await scenarios.close();
});

test("the scheme is not registered by default", () => {
  expect(schemeNames()).toEqual(["paillier", "curve", "lattice", "toy"]);
  expect(isScheme("toy")).toBe(true);
});

describe("between roles", () => {
  test.each(
    (["batched", "unbatched"] as const).flatMap((codec, i) =>
      partOf(manyFeatures, i, 2).map(([name, table, training]) => ({ name, table, training, codec })),
    ),
  )("$name, $codec: federated equals centralised", async ({ table, training, codec }) => {
    const job = { table, training, codec: { codec }, kernel, key, scheme: toy };
    const { model, seen } = await trainFederated(job);
    expect(model.trees.flat().some((node) => node.kind === "split")).toBe(true);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    for (const { active, passive } of seen) {
      expect(active.ledger).toEqual(passive.ledger);
      expect(active.traffic).toEqual(passive.traffic);
      expect(active.ledger.encryptedGradients).toBeGreaterThan(0);
    }
  });

  test("minimums apply without a cipher too", async () => {
    const table = randomTable("toy minimums", { rows: 120, features: [2, 3, 2], missingFraction: 0.1 });
    const minimums = [noMinimums, { perNode: 10, perCandidate: 8 }, { perNode: 20, perCandidate: 12 }];
    const job = { table, kernel, key, scheme: toy, minimums };
    const { model } = await trainFederated(job);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  });
});

describe("between parties", () => {
  const withToy = (scenario: Scenario): Scenario => ({
    ...scenario,
    active: {
      ...scenario.active,
      job: {
        ...scenario.active.job,
        scheme: "toy",
        schemeParameters: toy.parameters({ keyBits: 0, insecureKey: true }),
      },
    },
    passives: scenario.passives.map((passive) => ({ ...passive, policy: { ...passive.policy, schemes: ["toy"] } })),
  });
  const treesOf = (share = ""): unknown => (JSON.parse(share) as { share: { trees: unknown } }).share.trees;

  test("scenarios end with the same trees as with Paillier, also when parties fail", async () => {
    for (const scenario of partOf(
      scenarios.all.filter(({ startTrees }) => startTrees === 0),
      0,
      12,
    )) {
      const own = withToy(scenario);
      const [paillier, calm] = [await simulateUndisturbed(scenario), await simulateUndisturbed(own)];
      const broken = await simulateFaults(own, 4, calm);
      expect(treesOf(calm.files.get("bank/share.json")), scenario.name).toEqual(
        treesOf(paillier.files.get("bank/share.json")),
      );
      expect([...broken.files], scenario.name).toEqual([...calm.files]);
    }
  });

  test("a policy that does not name the scheme refuses it", async () => {
    const [scenario] = scenarios.all;
    const own = withToy(scenario);
    const refusing = { ...own, passives: scenario.passives };
    await expect(simulateUndisturbed(refusing)).rejects.toThrow(/scheme: toy requested, paillier allowed/);
  });
});
