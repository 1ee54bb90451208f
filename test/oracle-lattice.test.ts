/**
 * The main oracle with the lattice scheme: federated training equals centralised training, node for node and bit for
 * bit, although passive parties do not learn which instances are in a node.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { generateKey, type PrivateKey } from "../src/crypto/paillier/index.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { trainFederated, trainInOnePlace, type TestJob, type TestOutcome } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

async function expectEqual(job: Omit<TestJob, "kernel" | "key">): Promise<TestOutcome> {
  const whole = { kernel: portableKernel, key, scheme: lattice, ...job };
  const outcome = await trainFederated(whole);
  const splits = outcome.model.trees.flat().filter((node) => node.kind === "split");
  expect(splits.length, "nothing was split, nothing was tested").toBeGreaterThan(0);
  expect(firstDifference(outcome.model, await trainInOnePlace(whole))).toBeNull();
  return outcome;
}

describe("federated equals centralised", () => {
  test("one passive party: it is sent no membership, and its candidates are linked", async () => {
    const table = randomTable("lattice", { rows: 90, features: [2, 2] });
    const { seen } = await expectEqual({ table, training: { num_round: 2 } });
    for (const { active, passive } of seen) {
      expect(passive.ledger).toEqual(active.ledger);
      expect(passive.traffic).toEqual(active.traffic);
      expect(passive.ledger.memberships).toBe(0);
      expect(passive.ledger.candidateLinks).toBe(passive.ledger.candidates);
      expect(passive.ledger.splitOutcomes).toBe(90 * passive.ledger.wins);
    }
  });

  test.each([2, 3])("%i passive parties, with missing values", async (passives) => {
    const features = [2, ...Array.from({ length: passives }, () => 2)];
    await expectEqual({ table: randomTable("parties", { rows: 90, features, missingFraction: 0.2 }) });
  });

  test.each([0, 0.3])("ties on purpose, missing fraction %d", async (missingFraction) => {
    const shape = { rows: 60, features: [1, 2, 2], ties: true, missingFraction };
    await expectEqual({ table: randomTable("ties", shape) });
  });

  test.each(manyFeatures)("%s", async (_name, table, training) => {
    await expectEqual({ table, training });
  });

  test("validation rows, which are in outcomes and not in sums; early stopping; weights", async () => {
    const table = randomTable("held back", { rows: 80, features: [1, 2] });
    const validationRows = Uint32Array.from({ length: 20 }, (_, i) => 4 * i);
    const weight = Float64Array.from({ length: 80 }, (_, i) => 1 + (i % 3));
    await expectEqual({
      table: { ...table, validationRows, columns: { weight } },
      training: { num_round: 6, early_stopping_rounds: 2 },
    });
  });

  test("an active party without features; passives with one bin, one row a bin, or only missing values", async () => {
    const table = randomTable("odd", { rows: 50, features: [0, 3, 1] });
    table.parties[1][1].fill(4);
    table.parties[1][2].fill(Number.NaN);
    await expectEqual({ table, training: { max_bin: 64 } });
  });

  test("few thresholds, masked scoring", async () => {
    const table = randomTable("few", { rows: 80, features: [1, 2, 2] });
    await expectEqual({ table, defences: { max_thresholds: 2, masked_scoring: true }, training: { num_round: 4 } });
    await expectEqual({ table, defences: { outcome_bits: 0.8 }, training: { num_round: 4 } });
  });

  test("a warm start", async () => {
    const table = randomTable("warm", { rows: 70, features: [1, 2] });
    const start = await expectEqual({ table });
    await expectEqual({ table, start });
  });

  const table = randomTable("minimums", { rows: 120, features: [1, 2, 2], missingFraction: 0.1 });

  test.each<[string, Partial<TestJob>]>([
    ["per candidate, at the root", { minimums: [1, 45, 40].map((perCandidate) => ({ perNode: 1, perCandidate })) }],
    ["per node, which others keep", { minimums: [1, 30, 20].map((perNode) => ({ perNode, perCandidate: 1 })) }],
    ["a share of the people", { defences: { min_people_share: 0.3 } }],
    [
      "with a sample",
      { minimums: [1, 30, 30].map((least) => ({ perNode: least, perCandidate: least })), training: { subsample: 0.6 } },
    ],
  ])("minimums %s", async (_name, job) => {
    const { model } = await expectEqual({ table, ...job });
    const unlimited = { kernel: portableKernel, key, scheme: lattice, table, training: job.training ?? {} };
    expect(firstDifference(model, await trainInOnePlace(unlimited)), "nothing was suppressed").not.toBeNull();
  });

  test.each<[string, Partial<TestJob>]>([
    ["plain", {}],
    ["deep", { training: { max_depth: 5 } }],
    ["columns per node, where both children are asked for", { training: { colsample_bynode: 0.5 } }],
    ["presets", { defences: { answer_noise: 10, min_people_share: 0.01, max_thresholds: 3, masked_scoring: true } }],
  ])("noise, %s", async (_name, job) => {
    const noisy = { table, ...job, defences: job.defences ?? { answer_noise: 0.7 } };
    const { model } = await expectEqual(noisy);
    const quiet = { kernel: portableKernel, key, scheme: lattice, ...noisy, defences: {} };
    expect(firstDifference(model, await trainInOnePlace(quiet)), "no noise").not.toBeNull();
  });

  test.each(manyFeatures)("noise, %s", async (_name, many, training) => {
    await expectEqual({ table: many, training, defences: { answer_noise: 0.7 } });
  });
});

describe("with hidden outcomes", () => {
  const defences = { hidden_outcomes: true };

  test("the active party receives outcomes of the node's instances only, and both parties count them", async () => {
    const table = randomTable("lattice", { rows: 90, features: [2, 2] });
    const chosen: number[] = [];
    const { seen } = await expectEqual({
      table,
      training: { num_round: 1 },
      defences,
      look: {
        observed: (_, each) => {
          if (each.kind !== "outcome") return;
          chosen.push(each.instanceCount);
          expect(each.leftMembers).toHaveLength(Math.ceil(each.instanceCount / 8));
        },
      },
    });
    for (const { active, passive } of seen) {
      expect(passive.ledger).toEqual(active.ledger);
      expect(passive.traffic).toEqual(active.traffic);
      expect(passive.ledger.splitOutcomes).toBe(0);
      expect(passive.ledger.outcomeTransfers).toBe(90 * passive.ledger.wins);
      expect(chosen).toHaveLength(passive.ledger.wins);
    }
    expect(Math.min(...chosen), "below the root there are fewer").toBeLessThan(90);
  });

  test("several parties, missing values, validation rows, lossguide", async () => {
    const table = randomTable("held back", { rows: 80, features: [1, 2, 2], missingFraction: 0.2 });
    const validationRows = Uint32Array.from({ length: 20 }, (_, i) => 4 * i);
    await expectEqual({
      table: { ...table, validationRows },
      training: { num_round: 1, grow_policy: "lossguide", max_leaves: 5, max_depth: 0 },
      defences,
    });
  });

  test("a tree per class", async () => {
    const table = randomTable("classes", { rows: 60, features: [1, 2] });
    const labels = table.labels.map((_, i) => i % 3);
    await expectEqual({
      table: { ...table, labels },
      training: { objective: "multi:softprob", num_class: 3, num_round: 1, max_depth: 2 },
      defences,
    });
  });
});
