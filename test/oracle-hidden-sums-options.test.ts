/**
 * Every option of the trainer in a job with hidden sums: computed, and then federated equals centralised bit for bit,
 * or refused by its name (test/hidden-sums.test.ts). A new parameter fails the last test until it is listed.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { osRandom } from "../src/base/random.ts";
import { selectLatticeKernel } from "../src/crypto/lattice/select-kernel.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { trainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { EmbeddedCrew } from "../src/scheme/blocks/embedded-crew.ts";
import { LatticeBlock } from "../src/scheme/lattice/block.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { LatticePassive } from "../src/scheme/lattice/passive.ts";
import { PaillierBlock } from "../src/scheme/paillier/block.ts";
import { PaillierPassive } from "../src/scheme/paillier/passive.ts";
import { isCampaign } from "./support/campaign.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { trainFederated, trainInOnePlace, type TestJob } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";
import type { TestTable } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const rows = 60;
const table = randomTable("options of hidden sums", { rows, features: [1, 2], missingFraction: 0.1 });
const values = randomTable("values of hidden sums", { rows, features: [1, 2], regression: true });

function labelled(label: (value: number, row: number) => number, more: Partial<TestTable> = {}): TestTable {
  return { ...values, ...more, labels: values.labels.map(label) };
}

const positive = (value: number): number => Math.exp(value / 4);
const count = (value: number): number => Math.max(0, Math.round(value));
const third = (value: number): number => (value < -3 ? 0 : value < 3 ? 1 : 2);
const groups = { columns: { qid: table.labels.map((_, row) => row % 5) } };
const degree = (value: number): number => Math.min(4, Math.max(0, Math.round(value / 3 + 2)));

type Case = readonly [name: string, table: TestTable, training: TestJob["training"]];

const cases: readonly Case[] = [
  [
    "regularisation, sizes and rates",
    table,
    { max_depth: 3, eta: 0.7, lambda: 3, gamma: 0.05, min_child_weight: 2, max_bin: 7, bin_cuts: "xgboost", seed: 3 },
  ],
  ["max_delta_step", table, { max_delta_step: 0.3, base_score: 0.2, scale_pos_weight: 2 }],
  ["leaves by loss", table, { grow_policy: "lossguide", max_leaves: 4, max_depth: 0 }],
  ["a forest of drawn rows and columns", table, { num_parallel_tree: 2, subsample: 0.7, colsample_bytree: 0.7 }],
  ["columns per level and node", table, { max_depth: 3, colsample_bylevel: 0.7, colsample_bynode: 0.7 }],
  ["goss", table, { sampling_method: "goss", top_rate: 0.3, other_rate: 0.3 }],
  [
    "dart",
    table,
    {
      booster: "dart",
      rate_drop: 0.5,
      skip_drop: 0.1,
      one_drop: true,
      sample_type: "weighted",
      normalize_type: "forest",
      num_round: 3,
    },
  ],
  ["rounds of the active party alone", table, { local_rounds: 1, num_round: 3 }],
  [
    "early stopping",
    { ...table, validationRows: Uint32Array.from({ length: 12 }, (_, i) => 5 * i) },
    { early_stopping_rounds: 1, num_round: 3 },
  ],
  ["several classes", labelled(third), { objective: "multi:softprob", num_class: 3, num_round: 1 }],
  [
    "quantiles",
    labelled((value) => value),
    { objective: "reg:quantileerror", quantile_alpha: [0.2, 0.8], num_round: 1 },
  ],
  ["counts", labelled(count), { objective: "count:poisson" }],
  [
    "tweedie",
    labelled((value) => Math.max(0, value)),
    { objective: "reg:tweedie", tweedie_variance_power: 1.3, base_score: 1 },
  ],
  ["a robust loss", labelled((value) => value), { objective: "reg:pseudohubererror", huber_slope: 2 }],
  [
    "survival",
    labelled(positive, {
      columns: { label_upper_bound: values.labels.map((v, i) => (i % 4 ? 2 * positive(v) : Infinity)) },
    }),
    { objective: "survival:aft", aft_loss_distribution: "logistic", aft_loss_distribution_scale: 1.5 },
  ],
  [
    "ranking",
    labelled(degree, groups),
    {
      objective: "rank:ndcg",
      lambdarank_num_pair_per_sample: 4,
      lambdarank_normalization: false,
      ndcg_exp_gain: false,
    },
  ],
  [
    "categories one by one",
    categoricalTable("one by one", { rows, features: [1, 1], categories: [[3], [4]], missingFraction: 0.1 }),
    { enable_categorical: true, max_cat_to_onehot: 9 },
  ],
  [
    "interaction constraints, weights and margins",
    {
      ...table,
      groups: [["a"], ["a", "b"]],
      columns: {
        weight: table.labels.map((_, row) => 1 + (row % 3) / 2),
        base_margin: table.labels.map((_, row) => Math.fround(Math.sin(row))),
      },
    },
    { max_depth: 3 },
  ],
];

const schemes = [undefined, lattice];
describe.each(schemes)("a job with hidden sums", (scheme) => {
  // By default every case runs with one of the two schemes.
  const ofScheme = cases.filter((_, i) => isCampaign || i % schemes.length === schemes.indexOf(scheme));
  test.each<Case>(ofScheme)(`%s (${scheme?.name ?? "paillier"})`, async (_name, own, training) => {
    const job: TestJob = {
      table: own,
      training: { num_round: 2, max_depth: 2, max_bin: 5, min_child_weight: 0, ...training },
      codec: { resolution_bits: 6 },
      defences: { hidden_sums: true },
      kernel,
      key,
      ...(scheme === undefined ? {} : { scheme }),
    };
    const { model } = await trainFederated(job);
    const owners = model.trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule.owner] : []));
    expect(Math.max(...owners), "no passive party split a node").toBeGreaterThan(0);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  });
});

test.each(["paillier", "lattice"])("a passive party's rows in blocks, as workers hold them (%s)", async (name) => {
  const job: TestJob = {
    table,
    training: { num_round: 2, max_depth: 2, max_bin: 5, min_child_weight: 0 },
    codec: { resolution_bits: 6 },
    defences: { hidden_sums: true },
    kernel,
    key,
    ...(name === "lattice" ? { scheme: lattice } : {}),
  };
  const rowsOfBlock = 7;
  const latticeKernel = selectLatticeKernel();
  const seed = osRandom.fill(new Uint8Array(32));
  const passiveScheme = (): PaillierPassive | LatticePassive =>
    name === "paillier"
      ? new PaillierPassive(kernel, 1, new EmbeddedCrew((data) => new PaillierBlock(kernel, data, 1), rowsOfBlock))
      : new LatticePassive(latticeKernel, 1, seed, {
          crew: new EmbeddedCrew((data) => new LatticeBlock(latticeKernel, data, 1), rowsOfBlock),
        });
  const { model } = await trainFederated({ ...job, passiveScheme });
  expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
});

test("every training parameter is in a case above, or refused by its name", () => {
  const computed = new Set(cases.flatMap(([, , training]) => Object.keys(training ?? {})));
  /** multi_strategy: of its values, multi_output_tree; max_cat_threshold and min_category_people: of sets. */
  const refused = ["alpha", "multi_strategy", "max_cat_threshold", "min_category_people"];
  const afterTraining = ["eval_metric", "eval_every"];
  const missing = Object.keys(trainingParameters).filter(
    (name) => !computed.has(name) && ![...refused, ...afterTraining].includes(name),
  );
  expect(missing).toEqual([]);
  expect(refused.filter((name) => computed.has(name))).toEqual([]);
});
