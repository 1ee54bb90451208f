/**
 * The oracle with all defences together, as in the presets: federated equals centralised, node for node. The tables are
 * so small that a preset's noise would hide every split, so the tests use a small fraction of it.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { resolveParameters } from "../src/base/parameters/parameters.ts";
import { type Defences, presets, privacyParameters } from "../src/privacy/defences/defences.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { startBits } from "../src/gbdt/split/revealed-pieces.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { isCampaign, partOf } from "./support/campaign.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

/** @returns how many splits passive parties have */
async function expectEqual(job: TestJob): Promise<number> {
  const { model, passiveShares, seen } = await trainFederated(job);
  expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  for (const { active, passive } of seen) {
    expect(active.ledger).toEqual(passive.ledger);
    expect(active.ledger.predictionOutcomes).toBe(0);
  }
  return passiveShares.reduce((sum, { splits }) => sum + splits.length, 0);
}

describe.each(presets.filter((preset) => preset !== "exact"))("%s", (preset) => {
  const defences: Defences = resolveParameters(privacyParameters, { privacy: preset });
  const less: Defences = { ...defences, answer_noise: defences.answer_noise / 400, min_people_share: 0.05 };

  test("jobs that take many features at once", async () => {
    let splits = 0;
    for (const [, table, training] of partOf(manyFeatures, presets.indexOf(preset), 2)) {
      if (isCampaign) await expectEqual({ table, training, defences, kernel, key });
      splits += await expectEqual({ table, training, defences: less, kernel, key });
    }
    expect(splits).toBeGreaterThan(5);
  });

  test("sets of categories", async () => {
    const table = categoricalTable("presets", {
      rows: 300,
      features: [1, 1],
      categories: [[3], [9, 14]],
      missingFraction: 0.1,
    });
    const training = { enable_categorical: true, max_cat_to_onehot: 3 };
    expect(await expectEqual({ table, training, defences: less, kernel, key })).toBeGreaterThan(0);
  });

  test("a warm start: bits of the start model count towards the budget", async () => {
    const table = randomTable("presets", { rows: 200, features: [2, 3], missingFraction: 0.1 });
    const job = { table, defences: less, kernel, key };
    const start = await trainFederated(job);
    const after = { ...job, start };
    const { model, passiveShares } = await trainFederated(after);
    expect(firstDifference(model, await trainInOnePlace(after))).toBeNull();
    for (const { splits } of passiveShares) {
      const tests = splits.map((split) => ({ test: split, values: table.parties[1][split.feature] }));
      const bits = startBits(tests, table.labels.length) / table.parties[1].length;
      expect(bits).toBeLessThanOrEqual(defences.outcome_bits + 1e-3);
    }
  });
});
