/** Warm starts: equal to central training, and to one uninterrupted training. */
import { beforeAll, describe, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";
import { type TestTable } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const tableOf = (seed: number): TestTable =>
  randomTable(seed, { rows: 100, features: [2, 2, 2], missingFraction: 0.1 });
const held = (table: TestTable): TestTable => ({
  ...table,
  validationRows: Uint32Array.from({ length: table.labels.length }, (_, i) => i).filter((i) => i % 4 === 1),
});
const classes = (table: TestTable): TestTable => ({
  ...table,
  labels: table.labels.map((label, i) => (label === 1 ? 1 : i % 3 === 0 ? 2 : 0)),
});

describe("3 rounds and then 4 equal 7 rounds, centralised and federated", () => {
  const cases: readonly (readonly [Partial<TrainingParameters>, (table: TestTable) => TestTable])[] = [
    [{}, (table) => table],
    [{ subsample: 0.6, colsample_bytree: 0.6, colsample_bynode: 0.7 }, (table) => table],
    [{ sampling_method: "goss", top_rate: 0.3, other_rate: 0.2 }, held],
    [{ objective: "multi:softprob", num_class: 3, max_depth: 2 }, classes],
    [{ objective: "multi:softprob", num_class: 3, max_depth: 2, multi_strategy: "multi_output_tree" }, classes],
    [{ base_score: "auto", local_rounds: 4 }, (table) => table],
    [
      { enable_categorical: true },
      () =>
        categoricalTable(1, { rows: 160, features: [1, 1, 1], categories: [[6], [3, 9], [2]], missingFraction: 0.1 }),
    ],
    [{ objective: "count:poisson", local_rounds: 1, grow_policy: "lossguide", max_leaves: 4 }, (table) => table],
  ];
  test.each(cases)("%o", async (training, change) => {
    const table = change(tableOf(3));
    const first = await trainFederated({ table, training: { ...training, num_round: 3 }, kernel, key });
    const job = { table, training: { ...training, num_round: 4 }, kernel, key, start: first };
    const { model, passiveShares } = await trainFederated(job);
    expect(passiveShares.flatMap(({ splits }) => splits).length, "no passive party has a split").toBeGreaterThan(0);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    expect(
      firstDifference(model, await trainInOnePlace({ table, training: { ...training, num_round: 7 }, key })),
    ).toBeNull();
    expect(firstDifference(model, first.model)).not.toBeNull();
  });
});

describe("other data, other parameters, early stopping", () => {
  test("new rows and finer bins: the start model's thresholds are not bin boundaries of the job", async () => {
    const first = await trainFederated({ table: tableOf(5), training: { max_bin: 5 }, kernel, key });
    const table = held(tableOf(6));
    const job = { table, training: { max_bin: 32, eta: 0.7, max_depth: 4 }, kernel, key, start: first };
    const { model } = await trainFederated(job);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    expect(model.trees.slice(0, 3)).toEqual(first.model.trees);
  });

  test("the best round is looked for among the new ones, and the trees before them stay", async () => {
    const table = held(randomTable(2, { rows: 200, features: [2, 2], missingFraction: 0.15 }));
    const first = await trainFederated({ table, training: { num_round: 2 }, kernel, key });
    const job = {
      table,
      training: { num_round: 30, eta: 1, max_depth: 4, early_stopping_rounds: 2 },
      kernel,
      key,
      start: first,
    };
    const { model, grown } = await trainFederated(job);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    expect(grown).toBe(model.trees.length + 2);
    expect(model.trees.length).toBeGreaterThan(2);
    expect(model.trees.slice(0, 2)).toEqual(first.model.trees);
  });

  test("base_score auto takes the model's own", async () => {
    const first = await trainFederated({ table: tableOf(1), training: { base_score: 0.3 }, kernel, key });
    const job = { table: tableOf(2), training: { base_score: "auto" as const }, kernel, key, start: first };
    const { model } = await trainFederated(job);
    expect(model.baseMargin).toBe(first.model.baseMargin);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  });
});

describe("a model that does not fit is refused by both trainers", () => {
  const softprob = { objective: "multi:softprob", num_class: 3 } as const;
  test.each<[Partial<TrainingParameters>, Partial<TrainingParameters>, RegExp]>([
    [
      {},
      { objective: "reg:squarederror" },
      /warm start: objective is reg:squarederror, but the model was trained for binary:logistic/,
    ],
    [softprob, { ...softprob, num_class: 4 }, /warm start: num_class is 4, but the model was trained for 3 classes/],
    [softprob, { ...softprob, multi_strategy: "multi_output_tree" }, /warm start: multi_strategy is multi_output_tree/],
    [
      { ...softprob, multi_strategy: "multi_output_tree" },
      softprob,
      /warm start: multi_strategy is one_output_per_tree/,
    ],
    [{}, { base_score: 0.4 }, /warm start: base_score is 0.4, .* 'auto' uses the model's/],
  ])("%o, then %o", async (before, then, message) => {
    const table = "num_class" in before ? classes(tableOf(4)) : tableOf(4);
    const start = await trainFederated({ table, training: { num_round: 1, max_depth: 1, ...before }, kernel, key });
    await expect(trainInOnePlace({ table, training: then, key, start })).rejects.toThrow(message);
    await expect(trainFederated({ table, training: then, kernel, key, start })).rejects.toThrow(message);
  });
});
