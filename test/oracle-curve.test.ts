/**
 * The main oracle with the curve scheme: federated training equals centralised training, node for node and bit for bit,
 * and equals training with Paillier at the same resolution.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { selectCurveKernel } from "../src/crypto/curve/select-kernel.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { EmbeddedCrew } from "../src/scheme/blocks/embedded-crew.ts";
import { CurveBlock } from "../src/scheme/curve/block.ts";
import { curve } from "../src/scheme/curve/curve.ts";
import { CurvePassive } from "../src/scheme/curve/passive.ts";
import { trainFederated, trainInOnePlace, type TestJob, type TestOutcome } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

/** The search for sums is short at this resolution, also with the portable kernel. */
const codec = { resolution_bits: 8 };

async function expectEqual(job: Omit<TestJob, "kernel" | "key">): Promise<TestOutcome> {
  const whole = { kernel: selectKernel(), key, scheme: curve, codec, ...job };
  const outcome = await trainFederated(whole);
  const splits = outcome.model.trees.flat().filter((node) => node.kind === "split");
  expect(splits.length, "nothing was split, nothing was tested").toBeGreaterThan(0);
  expect(firstDifference(outcome.model, await trainInOnePlace(whole))).toBeNull();
  return outcome;
}

describe("federated equals centralised", () => {
  test("one passive party: both ends count the same", async () => {
    const table = randomTable("curve", { rows: 60, features: [2, 2] });
    const { seen, passiveCounts } = await expectEqual({ table, training: { num_round: 2, max_bin: 6 } });
    for (const { active, passive } of seen) {
      expect(passive.ledger).toEqual(active.ledger);
      expect(passive.traffic).toEqual(active.traffic);
    }
    expect(passiveCounts[0].gradientCiphertexts).toBe(2 * 60 * 2);
  });

  test("the model is that of Paillier at the same resolution", async () => {
    const table = randomTable("same", { rows: 50, features: [1, 2], missingFraction: 0.1 });
    const training = { num_round: 2, max_bin: 6, max_depth: 2 };
    const { model } = await expectEqual({ table, training });
    const { model: other } = await trainFederated({ kernel: selectKernel(), key, table, training, codec });
    expect(firstDifference(model, other)).toBeNull();
  });

  test("several passive parties, ties and missing values", async () => {
    const shape = { rows: 40, features: [1, 2, 1], ties: true, missingFraction: 0.3 };
    await expectEqual({ table: randomTable("ties", shape), training: { num_round: 2 } });
  });

  test.each(manyFeatures)("%s", async (_name, table, training) => {
    await expectEqual({ table, training: { max_bin: 6, ...training, num_round: 1 } });
  });

  test("validation rows, weights and squared error", async () => {
    const table = randomTable("held back", { rows: 60, features: [1, 2], regression: true });
    const validationRows = Uint32Array.from({ length: 15 }, (_, i) => 4 * i);
    const weight = Float64Array.from({ length: 60 }, (_, i) => 1 + (i % 3));
    await expectEqual({
      table: { ...table, validationRows, columns: { weight } },
      training: { objective: "reg:squarederror", num_round: 2, max_bin: 6 },
    });
  });

  test.each([{ subtraction: false }, { jointBins: false }, { skipBin: false }])("with %o", async (shortcuts) => {
    const table = randomTable("shortcuts", { rows: 40, features: [1, 2], missingFraction: 0.1 });
    await expectEqual({ table, shortcuts, training: { num_round: 1, max_bin: 6 } });
  });

  test("minimums, a sample and noise", async () => {
    const table = randomTable("minimums", { rows: 80, features: [1, 2], missingFraction: 0.1 });
    const minimums = [1, 12].map((least) => ({ perNode: least, perCandidate: least }));
    const training = { subsample: 0.7, num_round: 2, max_bin: 6 };
    await expectEqual({ table, minimums, training });
    const { model } = await expectEqual({ table, minimums, training, defences: { answer_noise: 0.7 } });
    const quiet = { kernel: selectKernel(), key, scheme: curve, codec, table, minimums, training };
    expect(firstDifference(model, await trainInOnePlace(quiet)), "no noise").not.toBeNull();
  });

  test("presets: noise, few thresholds, masked scoring", async () => {
    const defences = { answer_noise: 10, min_people_share: 0.01, max_thresholds: 3, masked_scoring: true };
    const table = randomTable("presets", { rows: 60, features: [1, 2] });
    await expectEqual({ table, defences, training: { num_round: 2, max_bin: 6 } });
  });
});

test.each(manyFeatures.filter(([name]) => /constraints|class/.test(name)))(
  "in blocks of 7 rows: %s",
  async (_name, table, training) => {
    const kernel = selectCurveKernel();
    const crew = new EmbeddedCrew((data) => new CurveBlock(kernel, data, 1), 7);
    const passiveScheme = (): CurvePassive => new CurvePassive(kernel, 1, new Uint8Array(32).fill(9), crew);
    await expectEqual({ table, training: { max_bin: 6, ...training, num_round: 2, max_depth: 2 }, passiveScheme });
  },
);
