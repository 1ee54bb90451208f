/**
 * The oracle with noise: given the passive parties' noise secrets, federated training equals centralised training, node
 * for node and bit for bit.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { loadNativeKernel } from "../src/crypto/paillier/native-kernel.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import { codecWith } from "../src/base/parameters/parameters.ts";
import { quantiserFor } from "../src/codec/gradient-layout.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { attackedJob } from "./support/attacked-job.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { partOf, seedCount } from "./support/campaign.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";
import { toy } from "./support/toy-scheme/active.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const some = { answer_noise: 0.1 };
const mixed = { rows: 120, features: [2, 2, 2], missingFraction: 0.1 };

/** Equal, and different from the same job without noise, or nothing was tested. */
async function expectEqual(job: Pick<TestJob, "table"> & Partial<TestJob>, note = ""): Promise<void> {
  const noisy = { kernel, key, defences: some, ...job };
  const { model, passiveShares, seen } = await trainFederated(noisy);
  expect(passiveShares.flatMap(({ splits }) => splits).length, `${note}: no passive party split`).toBeGreaterThan(0);
  expect(firstDifference(model, await trainInOnePlace(noisy)), note).toBeNull();
  expect(firstDifference(model, await trainInOnePlace({ ...noisy, defences: {} })), note).not.toBeNull();
  for (const { active, passive } of seen) {
    expect(active.ledger).toEqual(passive.ledger);
    expect(active.traffic).toEqual(passive.traffic);
  }
}

describe("every job of the list", () => {
  const codecs = ["batched", "unbatched"] as const;
  test.each(
    codecs.flatMap((codec, c) =>
      partOf(manyFeatures, c, codecs.length).map(([name, table, training]) => ({ name, table, training, codec })),
    ),
  )("$name, $codec", ({ table, training, codec }) => expectEqual({ table, training, codec: { codec } }));

  test.each(partOf(manyFeatures, 0, 2).map(([name, table, training]) => ({ name, table, training })))(
    "$name, without a cipher",
    ({ table, training }) => expectEqual({ table, training, scheme: toy }),
  );
});

describe("with every parameter", () => {
  test.each<[string, Partial<TestJob>]>([
    ["early stopping", { training: { num_round: 8, early_stopping_rounds: 2, subsample: 0.7 } }],
    ["columns per node", { training: { colsample_bynode: 0.5, num_round: 4 } }],
    ["columns per tree, no limit of depth", { training: { colsample_bytree: 0.5, max_depth: 0, max_leaves: 9 } }],
    [
      "regularisation",
      { training: { alpha: 0.3, gamma: 0.2, min_child_weight: 2, max_delta_step: 0.5, max_depth: 5 } },
    ],
    ["both children asked for", { shortcuts: { subtraction: false }, training: { max_depth: 5 } }],
    ["no packing", { shortcuts: { packing: false }, codec: { codec: "unbatched" } }],
    ["no skipped bin", { shortcuts: { skipBin: false } }],
    ["minimums", { minimums: [1, 8, 5].map((perCandidate) => ({ perNode: 1, perCandidate })) }],
    ["little noise", { defences: { answer_noise: 1e-9 } }],
    ["a coarse grid", { codec: { resolution_bits: 4, padding: 1 } }],
    ["weights and a start margin", { training: { base_score: 0.3, scale_pos_weight: 3.5 } }],
  ])("%s", async (name, job) => {
    const validationRows = Uint32Array.from({ length: 30 }, (_, i) => 4 * i);
    for (let seed = 0; seed < seedCount({ test: 1, campaign: 2 }); seed++) {
      const plain = randomTable(`${name} ${seed}`, mixed);
      const weight = plain.labels.map((_, i) => (i % 5) / 2);
      const table = name.startsWith("early") ? { ...plain, validationRows } : { ...plain, columns: { weight } };
      await expectEqual({ table, ...job }, `seed ${seed}`);
    }
  });

  test.each<Partial<TestJob["training"]> & object>([
    { objective: "reg:squarederror", base_score: 0 },
    { objective: "reg:pseudohubererror", huber_slope: 0.3 },
    { objective: "count:poisson", base_score: "auto" },
  ])("%o", async (training) => {
    const table = randomTable("numbers", { ...mixed, regression: true });
    const isCount = training.objective === "count:poisson";
    const labels = isCount ? table.labels.map((label) => Math.max(0, Math.round(label / 3))) : table.labels;
    await expectEqual({ table: { ...table, labels }, training });
  });

  describe("gradients that are clipped: one label is far from all others", () => {
    const outlier = (table: TestJob["table"]): TestJob["table"] => ({
      ...table,
      labels: table.labels.map((label, i) => (i === 7 ? 2000 : label)),
    });
    const numbers = (seed: string): TestJob["table"] =>
      outlier(randomTable(seed, { rows: 300, features: [1, 2, 2], missingFraction: 0.1, regression: true }));
    const objective = "reg:squarederror";

    test("this table is clipped", () => {
      const { labels } = numbers("clipped");
      const real = { values: [labels, labels.map(() => 1)], bounds: [null, { min: 0, max: 1 }] };
      const scale = { unit: 2 ** 24, sigma: 2 ** 24, drawnMax: 2 ** 28, max: 2 ** 30 };
      expect(quantiserFor(codecWith(), 255, scale)(real).sent).toBeDefined();
    });

    test.each<[string, Partial<TestJob>]>([
      ["plain", {}],
      ["both children asked for", { shortcuts: { subtraction: false }, training: { max_depth: 4 } }],
      ["sampled", { training: { subsample: 0.7, colsample_bytree: 0.6 } }],
      ["goss", { training: { sampling_method: "goss", top_rate: 0.3, other_rate: 0.3 } }],
      ["constrained", { training: { alpha: 0.5, max_delta_step: 3, min_child_weight: 3 } }],
      ["members hidden", { scheme: lattice }],
      ["members hidden, columns per node", { scheme: lattice, training: { colsample_bynode: 0.6 } }],
      ["sums in two limbs", { codec: { resolution_bits: 44, padding: 12 } }],
      ["counts", { training: { objective: "count:poisson", base_score: "auto" } }],
    ])("%s", async (name, { training = {}, ...job }) => {
      const plain = numbers("clipped");
      const monotone = name === "constrained" ? { monotone: [[1], [0, -1], [0, 0]] } : {};
      const labels = name === "counts" ? plain.labels.map((label) => Math.max(0, Math.round(label / 3))) : plain.labels;
      const table = { ...plain, labels, ...monotone };
      await expectEqual({ table, training: { objective, base_score: 0, num_round: 3, ...training }, ...job });
    });

    test("the audit computes with what is sent: no instance has more than one unit of the noise", async () => {
      const { transcript, noise } = await attackedJob(
        numbers("clipped"),
        { objective, base_score: 0, num_round: 2 },
        [],
        some,
      );
      for (const { gradients } of transcript.trees)
        expect(Math.max(...gradients.columns[0].map(Math.abs))).toBe(noise?.unit);
    });

    test("bounded: classes of which one is rare, one tree for all and one for each", async () => {
      const table = randomTable("rare", { rows: 300, features: [1, 2, 2] });
      const labels = table.labels.map((label, i) => (i % 60 === 3 ? 2 : label));
      for (const multi_strategy of ["multi_output_tree", "one_output_per_tree"] as const)
        await expectEqual({
          table: { ...table, labels },
          training: { objective: "multi:softprob", num_class: 3, num_round: 2, multi_strategy },
        });
    });
  });

  test.each(["batched", "unbatched"] as const)("sums that a double cannot hold, %s", async (codec) => {
    const fine = { codec, resolution_bits: 44, padding: 12 };
    for (const rows of partOf([90, 1200], codec === "batched" ? 0 : 1, 2)) {
      const table = randomTable("fine", { rows, features: [1, 2, 2], missingFraction: 0.1 });
      const monotone = [[1], [0, -1], [0, 0]];
      await expectEqual({ table: { ...table, monotone }, codec: fine });
      await expectEqual({ table, codec: fine, scheme: toy, shortcuts: { subtraction: false } });
    }
    const table = categoricalTable(3, { rows: 150, features: [1, 1], categories: [[6], [3, 9]], missingFraction: 0.1 });
    await expectEqual({ table, codec: fine, training: { enable_categorical: true } });
  });

  test.each([false, true])("sets of categories with minimums; subtraction %s", async (subtraction) => {
    for (let seed = 0; seed < seedCount({ test: 1, campaign: 3 }); seed++) {
      const shape = { rows: 200, features: [1, 1, 0], categories: [[5], [12, 3], [7, 30]], missingFraction: 0.1 };
      const minimums = [1, 4, 1].map((perCandidate) => ({ perNode: 1, perCandidate }));
      const training = { enable_categorical: true, max_cat_to_onehot: 4, max_depth: 4 };
      await expectEqual({ table: categoricalTable(seed, shape), training, minimums, shortcuts: { subtraction } });
    }
  });

  test("a warm start", async () => {
    const table = randomTable("warm", mixed);
    const first = await trainFederated({ table, kernel, key, defences: some });
    await expectEqual({ table, start: first, training: { num_round: 2 } });
  });

  test("every kernel", async () => {
    const table = randomTable("kernels", { ...mixed, rows: 60 });
    for (const other of [portableKernel, ...loadNativeKernel().kernels.values()])
      await expectEqual({ table, kernel: other, training: { num_round: 2 } }, other.name);
  });

  test("much noise, deep trees", async () => {
    const table = randomTable("much", { rows: 3000, features: [1, 2, 2], missingFraction: 0.1 });
    await expectEqual({ table, defences: { answer_noise: 5 }, training: { max_depth: 6 }, scheme: toy });
  });

  test("so much noise that only the active party splits", async () => {
    const table = randomTable("so much", mixed);
    const noisy = { table, kernel, key, defences: { answer_noise: 1000 }, training: { max_depth: 6 } };
    const { model, passiveShares } = await trainFederated(noisy);
    expect(passiveShares.flatMap(({ splits }) => splits)).toEqual([]);
    expect(firstDifference(model, await trainInOnePlace(noisy))).toBeNull();
    const alone = { ...noisy, table: { ...table, parties: [table.parties[0]] }, defences: {} };
    const { trees } = await trainInOnePlace(alone);
    expect(model.trees.map((tree) => tree.length)).toEqual(trees.map((tree) => tree.length));
  });

  test("the root is summed in pieces", async () => {
    const table = randomTable("many", { rows: 9000, features: [1, 2], missingFraction: 0.1 });
    await expectEqual({ table, training: { num_round: 1 }, defences: { answer_noise: 10 } });
  });
});

test("another secret makes another model, and without passive parties there is no noise", async () => {
  const table = randomTable("secrets", mixed);
  const job = { table, kernel, key, defences: { answer_noise: 3 } };
  const { model } = await trainFederated(job);
  const swapped = { ...table, parties: [table.parties[0], table.parties[2], table.parties[1]] };
  expect(firstDifference(model, await trainInOnePlace({ ...job, table: swapped }))).not.toBeNull();
  const alone = { ...table, parties: [table.parties[0]] };
  const [noisy, local] = [
    await trainFederated({ ...job, table: alone }),
    await trainInOnePlace({ ...job, table: alone }),
  ];
  expect(firstDifference(noisy.model, local)).toBeNull();
});
