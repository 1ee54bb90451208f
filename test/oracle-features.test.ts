/** The oracle of test/oracle.test.ts for every feature of the trainer: federated equals centralised, node for node. */
import { beforeAll, describe, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { SeededRandom } from "../src/base/random.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { loadNativeKernel } from "../src/crypto/paillier/native-kernel.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import type { Model } from "../src/gbdt/tree/model.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { predictMargins } from "../src/gbdt/tree/predict.ts";
import { partOf, seedCount } from "./support/campaign.ts";
import { trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";
import { type TestTable } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const shape = { rows: 120, features: [2, 2, 2], missingFraction: 0.1 };

/** Trains both ways for some seeds. @returns the federated models, for further questions */
async function expectEqual(
  training: Partial<TrainingParameters>,
  tableOf: (seed: number) => TestTable = (seed) => randomTable(seed, shape),
) {
  const models = [];
  for (let seed = 0; seed < seedCount({ test: 1, campaign: 2 }); seed++) {
    const job = { table: tableOf(seed), training, kernel, key };
    const { model } = await trainFederated(job);
    expect(
      model.trees.flat().some((node) => node.kind === "split"),
      "nothing was split, nothing was tested",
    ).toBe(true);
    expect(firstDifference(model, await trainInOnePlace(job)), `seed ${seed}`).toBeNull();
    models.push(model);
  }
  return models;
}

const leafCounts = (models: Awaited<ReturnType<typeof expectEqual>>): number[] =>
  models.flatMap(({ trees }) => trees.map((tree) => tree.filter(({ kind }) => kind === "leaf").length));

function regressionTable(seed: number, labelOf: (score: number) => number = (score) => score): TestTable {
  const table = randomTable(seed, { ...shape, regression: true });
  return { ...table, labels: table.labels.map(labelOf) };
}

const counts = (seed: number): TestTable => regressionTable(seed, (score) => Math.max(0, Math.round(score / 3)));

describe("objectives", () => {
  test.each([1, 0.3, 7])(
    "reg:pseudohubererror, slope %d",
    async (huber_slope) =>
      void (await expectEqual({ objective: "reg:pseudohubererror", huber_slope }, regressionTable)),
  );

  test("count:poisson, whose bounds follow the data", async () => {
    const models = await expectEqual({ objective: "count:poisson", num_round: 4 }, counts);
    // max_delta_step is 0.7 unless given, and eta 0.3.
    for (const node of models.flatMap(({ trees }) => trees.flat()))
      if (node.kind === "leaf") expect(Math.abs(node.weight)).toBeLessThanOrEqual(Math.fround(0.7 * 0.3));
  });

  test("base_score auto", async () => {
    for (const { baseMargin } of await expectEqual({ base_score: "auto" })) expect(baseMargin).not.toBe(0);
    await expectEqual({ objective: "count:poisson", base_score: "auto" }, counts);
  });
});

describe("regularisation and growth", () => {
  test.each(
    partOf<Partial<TrainingParameters>>(
      [
        { alpha: 0.8 },
        { max_delta_step: 0.3 },
        { alpha: 1.5, max_delta_step: 0.4, lambda: 0 },
        { scale_pos_weight: 3.7 },
        { scale_pos_weight: 0.2, alpha: 0.1 },
      ],
      0,
      2,
    ),
  )("%o", async (training) => void (await expectEqual(training)));

  test("max_leaves, level by level", async () => {
    const leaves = leafCounts(await expectEqual({ max_leaves: 5, max_depth: 4 }));
    expect(Math.max(...leaves)).toBe(5);
  });

  test("grow_policy lossguide", async () => {
    const models = await expectEqual({ grow_policy: "lossguide", max_leaves: 7, max_depth: 6 });
    expect(Math.max(...leafCounts(models))).toBe(7);
    await expectEqual({ grow_policy: "lossguide", max_depth: 4, gamma: 0.3 });
  });
});

describe("max_depth 0", () => {
  const depthOf = (tree: Model["trees"][number], node = 0): number => {
    const at = tree[node];
    return at.kind === "leaf" ? 0 : 1 + Math.max(depthOf(tree, at.left), depthOf(tree, at.right));
  };

  test.each(["lossguide", "depthwise"] as const)("%s: no limit but max_leaves", async (grow_policy) => {
    const models = await expectEqual({ grow_policy, max_depth: 0, max_leaves: 24, lambda: 0, num_round: 2 });
    expect(Math.max(...leafCounts(models))).toBe(24);
    // Deeper than a tree of 24 leaves that are level.
    expect(Math.max(...models.flatMap(({ trees }) => trees.map((tree) => depthOf(tree))))).toBeGreaterThan(5);
  });

  test("a limit that no tree reaches changes nothing", async () => {
    const [free, limited] = [0, 16].map((max_depth) =>
      trainFederated({
        table: randomTable(1, shape),
        training: { max_depth, max_leaves: 10, grow_policy: "lossguide" },
        kernel,
        key,
      }),
    );
    expect(firstDifference((await free).model, (await limited).model)).toBeNull();
  });

  test("without max_leaves it is refused by both trainers", async () => {
    const job = { table: randomTable(0, shape), training: { max_depth: 0 }, kernel, key };
    await expect(trainFederated(job)).rejects.toThrow("max_depth and max_leaves are both 0");
    await expect(trainInOnePlace(job)).rejects.toThrow("max_depth and max_leaves are both 0");
  });
});

describe("instance weights", () => {
  const weighted = (seed: number, table: TestTable): TestTable => {
    const random = new SeededRandom(`weights-${seed}`);
    return { ...table, columns: { weight: table.labels.map(() => random.below(7) / 3) } };
  };
  test("zero, small and large", () => expectEqual({}, (seed) => weighted(seed, randomTable(seed, shape))));
  test("with scale_pos_weight", () =>
    expectEqual({ scale_pos_weight: 2 }, (seed) => weighted(seed, randomTable(seed, shape))));
  test("squared error", () =>
    expectEqual({ objective: "reg:squarederror" }, (seed) => weighted(seed, regressionTable(seed))));
  test("counts", () => expectEqual({ objective: "count:poisson" }, (seed) => weighted(seed, counts(seed))));
});

describe("sampling", () => {
  const rows = (seed: number): TestTable => randomTable(seed, { ...shape, rows: 200 });

  test("subsample: only sampled instances are encrypted and sent, all are routed", async () => {
    await expectEqual({ subsample: 0.4 }, rows);
    await expectEqual({ subsample: 0.05, min_child_weight: 0 }, rows);
    await expectEqual({ subsample: 0.6, objective: "reg:squarederror" }, regressionTable);
    const { activeCounts, margins } = await trainFederated({
      table: rows(1),
      training: { subsample: 0.4, num_round: 3 },
      kernel,
      key,
    });
    expect(activeCounts.encryptions).toBe(3 * 80);
    expect(margins).toHaveLength(200);
  });

  test("another seed, another sample", async () => {
    const [first, second] = await Promise.all(
      [7, 8].map(
        async (seed) =>
          (await trainFederated({ table: rows(0), training: { subsample: 0.4, seed }, kernel, key })).model,
      ),
    );
    expect(firstDifference(first, second)).not.toBeNull();
  });

  test("goss: the sampled rest is weighted up, and no slot overflows", async () => {
    await expectEqual({ sampling_method: "goss" }, rows);
    await expectEqual({ sampling_method: "goss", top_rate: 0.1, other_rate: 0.07 }, rows);
    await expectEqual({ sampling_method: "goss", objective: "reg:squarederror" }, regressionTable);
    const { activeCounts } = await trainFederated({
      table: rows(1),
      training: { sampling_method: "goss", num_round: 3 },
      kernel,
      key,
    });
    expect(activeCounts.encryptions).toBe(3 * (40 + 20));
  });

  test.each(
    partOf<Partial<TrainingParameters>>(
      [
        { colsample_bytree: 0.5, num_round: 6 },
        { colsample_bylevel: 0.5, num_round: 4 },
        { colsample_bynode: 0.4, num_round: 4 },
        { colsample_bytree: 0.7, colsample_bylevel: 0.7, colsample_bynode: 0.7, subsample: 0.7, num_round: 4 },
        { colsample_bynode: 0.5, grow_policy: "lossguide", max_leaves: 6 },
      ],
      1,
      2,
    ),
  )("%o", async (training) => {
    const wide = { ...shape, features: [3, 4, 2], rows: 150 };
    const models = await expectEqual(training, (seed) => randomTable(seed, wide));
    const used = models.map(
      ({ trees }) =>
        new Set(
          trees.flat().flatMap((node) => (node.kind === "split" ? [`${node.rule.owner}/${node.rule.feature}`] : [])),
        ).size,
    );
    expect(Math.max(...used)).toBeGreaterThan(2);
  });

  test("a party's own secret decides which of its columns are drawn", async () => {
    const table = randomTable(3, { ...shape, features: [3, 4, 2] });
    const job = { table, training: { colsample_bytree: 0.4, num_round: 6 }, kernel, key };
    const { model } = await trainFederated(job);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    expect(
      firstDifference(model, await trainInOnePlace(job, ["secret of party 0", "another", "secret of party 2"])),
    ).not.toBeNull();
  });
});

describe("monotone constraints", () => {
  const constrained = (table: TestTable): TestTable => ({
    ...table,
    monotone: [
      [1, 0],
      [-1, 1],
      [0, -1],
    ],
  });
  const tableOf = (seed: number): TestTable => constrained(randomTable(seed, { ...shape, rows: 200 }));

  test.each(
    partOf<Partial<TrainingParameters>>(
      [
        { max_depth: 5 },
        { max_depth: 4, alpha: 0.3, max_delta_step: 0.5 },
        { grow_policy: "lossguide", max_leaves: 9, max_depth: 6 },
        { colsample_bynode: 0.6, subsample: 0.8 },
      ],
      0,
      2,
    ),
  )("%o", async (training) => void (await expectEqual(training, tableOf)));

  test("predictions follow them at every party, and would not otherwise", async () => {
    const violations = (model: Model, { parties, labels }: TestTable): number => {
      let count = 0;
      for (const [owner, feature, sign] of [
        [0, 0, 1],
        [1, 0, -1],
        [1, 1, 1],
        [2, 1, -1],
      ]) {
        const at = (value: number): Float64Array =>
          predictMargins(
            model,
            parties.map((columns, p) =>
              columns.map((column, f) => (p === owner && f === feature ? column.map(() => value) : column)),
            ),
            labels.length,
          );
        const steps = [-200, -5, -1, -0.3, 0, 0.2, 0.7, 2, 30, 500].map(at);
        for (let s = 1; s < steps.length; s++)
          steps[s].forEach((margin, row) => (count += sign * (margin - steps[s - 1][row]) < -1e-9 ? 1 : 0));
      }
      return count;
    };
    const table = tableOf(1);
    const training = { max_depth: 5, num_round: 6 };
    const { model } = await trainFederated({ table, training, kernel, key });
    expect(violations(model, table)).toBe(0);
    const { monotone: _none, ...free } = table;
    expect(violations(await trainInOnePlace({ table: free, training, key }), table)).toBeGreaterThan(100);
  });
});

describe("several classes", () => {
  const classes =
    (count: number) =>
    (seed: number): TestTable => {
      const table = randomTable(seed, { ...shape, rows: 150, regression: true });
      const sorted = table.labels.slice().sort();
      return {
        ...table,
        labels: table.labels.map((score) => Math.floor((count * sorted.indexOf(score)) / sorted.length)),
      };
    };
  const softprob = { objective: "multi:softprob", num_round: 2 } as const;

  test.each(["one_output_per_tree", "multi_output_tree"] as const)("%s", async (multi_strategy) => {
    for (const count of partOf([2, 3, 5], 0, 2)) {
      const models = await expectEqual({ ...softprob, num_class: count, multi_strategy }, classes(count));
      for (const { trees, outputCount } of models) {
        expect(outputCount).toBe(count);
        expect(trees).toHaveLength(multi_strategy === "multi_output_tree" ? 2 : 2 * count);
      }
    }
  });

  test.each(
    partOf<Partial<TrainingParameters>>(
      [
        { subsample: 0.6 },
        { sampling_method: "goss" },
        { colsample_bytree: 0.6 },
        { colsample_bynode: 0.6, grow_policy: "lossguide", max_leaves: 5 },
        { alpha: 0.3, max_delta_step: 0.5, multi_strategy: "multi_output_tree" },
      ],
      0,
      2,
    ),
  )("with %o", async (training) => void (await expectEqual({ ...softprob, num_class: 3, ...training }, classes(3))));

  test("both codecs; an instance's pairs in as few plaintexts as possible; one encryption per round", async () => {
    const table = classes(5)(1);
    const training = { ...softprob, num_class: 5 };
    const [batched, unbatched] = await Promise.all(
      (["batched", "unbatched"] as const).map((codec) =>
        trainFederated({ table, training, codec: { codec }, kernel, key }),
      ),
    );
    expect(firstDifference(batched.model, unbatched.model)).toBeNull();
    expect(batched.activeCounts.encryptions).toBe(2 * 150 * 2); // 5 pairs of some 70 bits: two plaintexts of 255 bits
    expect(unbatched.activeCounts.encryptions).toBe(2 * 150 * 10);
  });

  test("the trees of a round share the root's sums", async () => {
    const table = classes(3)(2);
    const one = await trainFederated({ table, training: { ...softprob, num_class: 3, max_depth: 1 }, kernel, key });
    const decryptionsPerRound = one.activeCounts.decryptions / 2;
    const vector = await trainFederated({
      table,
      training: { ...softprob, num_class: 3, max_depth: 1, multi_strategy: "multi_output_tree" },
      kernel,
      key,
    });
    expect(vector.activeCounts.decryptions / 2).toBe(decryptionsPerRound);
  });

  test("constraints and leaves with several weights exclude each other", async () => {
    const table = {
      ...classes(3)(0),
      monotone: [
        [1, 0],
        [0, 0],
        [0, 0],
      ],
    };
    const training = { ...softprob, num_class: 3, multi_strategy: "multi_output_tree" } as const;
    await expect(trainFederated({ table, training, kernel, key })).rejects.toThrow("one_output_per_tree");
  });
});

describe("a validation set and early stopping", () => {
  const held = (table: TestTable): TestTable => ({
    ...table,
    validationRows: Uint32Array.from({ length: table.labels.length }, (_, i) => i).filter((i) => i % 4 === 1),
  });
  const tableOf = (seed: number): TestTable => held(randomTable(seed, { ...shape, rows: 200, missingFraction: 0.15 }));
  const eager = { num_round: 30, eta: 1, max_depth: 4, early_stopping_rounds: 2 } as const;

  test("validation rows are not trained on, and not encrypted", async () => {
    await expectEqual({}, tableOf);
    await expectEqual({ subsample: 0.5, sampling_method: "uniform", base_score: "auto" }, tableOf);
    await expectEqual({ sampling_method: "goss" }, tableOf);
    const { activeCounts, margins } = await trainFederated({
      table: tableOf(0),
      training: { num_round: 2 },
      kernel,
      key,
    });
    expect(activeCounts.encryptions).toBe(2 * 150);
    expect(margins).toHaveLength(200);
  });

  test("validation values above all training values are routed as in prediction", async () => {
    const table = tableOf(2);
    const rows = table.validationRows ?? new Uint32Array(0);
    for (const column of table.parties.flat()) for (const row of rows) if (row % 8 === 1) column[row] = 1e6;
    const { margins, model } = await trainFederated({ table, training: { num_round: 4, max_depth: 5 }, kernel, key });
    expect(predictMargins(model, table.parties, 200)).toEqual(margins);
  });

  test("both trainers stop after the same round and keep the same trees; passive parties drop the others", async () => {
    for (const training of [
      eager,
      { ...eager, eval_metric: ["logloss", "auc"] as const },
      { ...eager, objective: "multi:softprob" as const, num_class: 2 },
    ]) {
      const models = await expectEqual(training, tableOf);
      expect(models.some(({ trees }) => trees.length < 30)).toBe(true);
    }
    const { model, grown, passiveShares } = await trainFederated({ table: tableOf(0), training: eager, kernel, key });
    expect(grown).toBe(model.trees.length + 2);
    expect(Math.max(...passiveShares.flatMap(({ splits }) => splits.map(({ tree }) => tree)))).toBeLessThan(
      model.trees.length,
    );
  });

  test("early stopping without a validation set is refused", async () => {
    await expect(trainFederated({ table: randomTable(0, shape), training: eager, kernel, key })).rejects.toThrow(
      "needs a validation set",
    );
    await expect(
      trainFederated({ table: tableOf(0), training: { eval_metric: ["merror"] }, kernel, key }),
    ).rejects.toThrow("does not fit");
  });
});

describe("local rounds", () => {
  test.each(
    partOf<Partial<TrainingParameters>>(
      [
        { local_rounds: 2, num_round: 4 },
        { local_rounds: 1, num_round: 3, objective: "multi:softprob", num_class: 2 },
        { local_rounds: 5, num_round: 2 },
      ],
      0,
      2,
    ),
  )("%o", async (training) => {
    const models = await expectEqual(training);
    const perRound = training.num_class ?? 1;
    for (const { trees } of models) {
      const owners = (some: typeof trees): number[] =>
        some.flat().flatMap((node) => (node.kind === "split" ? [node.rule.owner] : []));
      expect(owners(trees.slice(0, (training.local_rounds ?? 0) * perRound)).every((owner) => owner === 0)).toBe(true);
      if ((training.local_rounds ?? 0) < (training.num_round ?? 0))
        expect(owners(trees.slice((training.local_rounds ?? 0) * perRound)).some((owner) => owner > 0)).toBe(true);
    }
  });

  test("nothing of them is encrypted or sent", async () => {
    const { activeCounts, passiveCounts } = await trainFederated({
      table: randomTable(1, shape),
      training: { local_rounds: 2, num_round: 3 },
      kernel,
      key,
    });
    expect(activeCounts.encryptions).toBe(shape.rows);
    for (const counts of passiveCounts) expect(counts.gradientCiphertexts).toBe(shape.rows);
  });
});

/** All kernels and codecs; the tests above use the best kernel and the default codec. */
describe.each(
  [...loadNativeKernel().kernels.values(), portableKernel].map((each, i) => ({ each, i, name: each.name })),
)("many features at once, $name kernel", ({ each, i }) => {
  const codecs = [{ codec: "batched" }, { codec: "unbatched" }, { layout: "paper" }] as const;

  // By default every job runs with two kernels at least, each with another codec.
  test.each(
    codecs.flatMap((codec, c) =>
      partOf(manyFeatures, i + c, 2 * codecs.length).map(([name, rows, training]) => ({ name, codec, rows, training })),
    ),
  )("$name, $codec", async ({ codec, rows, training }) => {
    const job = { table: rows, training, codec, kernel: each, key };
    const { model, seen } = await trainFederated(job);
    for (const { active, passive } of seen) {
      expect(active.ledger, "both ends have counted the same disclosures").toEqual(passive.ledger);
      expect(active.traffic, "and the same bytes").toEqual(passive.traffic);
    }
    expect(
      model.trees.flat().some((node) => node.kind === "split"),
      "nothing was split, nothing was tested",
    ).toBe(true);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  });
});
