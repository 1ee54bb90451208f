/**
 * The oracle for every objective: federated equals centralised, bit for bit, with every scheme. Tiny jobs: an objective
 * acts at the active party only, before encryption and after decryption.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { curve } from "../src/scheme/curve/curve.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { expectError } from "./support/expect-error.ts";
import { trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { logCosh } from "./support/log-cosh.ts";
import { randomTable } from "./support/tables.ts";
import { type TestTable } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const table = randomTable("objectives", { rows: 48, features: [1, 2], missingFraction: 0.1, regression: true });
const weighted = { columns: { weight: Float64Array.from(table.labels, (_, row) => 1 + (row % 3) / 2) } };

type Case = readonly [
  training: Partial<TrainingParameters>,
  labelOf: (label: number, row: number) => number,
  more: Partial<TestTable>,
];

const cases: readonly Case[] = [
  [{ objective: "reg:logistic" }, (label) => 1 / (1 + Math.exp(-label / 5)), {}],
  [{ objective: "binary:logitraw", scale_pos_weight: 2 }, (label) => (label > 0 ? 1 : 0), {}],
  [{ objective: "binary:hinge" }, (label) => (label > 0 ? 1 : 0), weighted],
  [{ objective: "multi:softmax", num_class: 3 }, (label) => (label < -3 ? 0 : label < 3 ? 1 : 2), {}],
  [{ objective: "reg:gamma", base_score: 3 }, (label) => Math.exp(label / 4), {}],
  [
    { objective: "reg:tweedie", tweedie_variance_power: 1.3, base_score: "auto" },
    (label) => Math.max(0, label),
    weighted,
  ],
  [
    { objective: "reg:absoluteerror", subsample: 0.8 },
    (label) => label,
    { validationRows: Uint32Array.of(1, 5, 7, 20, 33) },
  ],
  [
    { objective: "survival:cox" },
    (label, row) => (row % 3 === 0 ? -1 : 1) * Math.round(Math.exp(label / 4) * 3 + 1), // with ties
    { ...weighted, validationRows: Uint32Array.of(0, 4, 9, 10, 33) },
  ],
  [
    { objective: "survival:aft", aft_loss_distribution: "extreme" },
    (label) => Math.exp(label / 4),
    {
      columns: {
        label_upper_bound: table.labels.map((label, i) => (i % 4 === 0 ? Infinity : Math.exp(label / 4 + (i % 3)))),
      },
    },
  ],
  [
    { objective: "rank:pairwise" },
    (label) => (label > 0 ? 1 : 0),
    { columns: { qid: table.labels.map((_, row) => row % 4) }, validationRows: Uint32Array.of(1, 5, 9, 13, 17) },
  ],
  [
    { objective: "rank:ndcg" },
    (label) => Math.min(4, Math.max(0, Math.round(label / 3 + 2))),
    {
      columns: {
        qid: table.labels.map((_, row) => row % 5),
        weight: table.labels.map((_, row) => 1 + (row % 5)),
      },
      validationRows: Uint32Array.of(0, 5, 10, 15, 20),
    },
  ],
  [{ objective: "reg:squarederror" }, (label) => label, { ...weighted, custom: logCosh }],
  [{ objective: "reg:quantileerror", quantile_alpha: [0.2, 0.8] }, (label) => label, weighted],
  [
    { objective: "count:poisson", num_parallel_tree: 2, subsample: 0.8 },
    (label) => Math.max(0, Math.round(label / 3)),
    { columns: { base_margin: table.labels.map((_, row) => Math.fround(Math.sin(row))) } },
  ],
];

const offset = Float64Array.from(table.labels, (_, row) => Math.fround(Math.sin(row)));

test("base_margin: initial margins, also in a warm start, with masked scores and in predictions", async () => {
  const own = { ...table, labels: table.labels.map((label) => Math.max(0, Math.round(label / 3))) };
  const validationRows = Uint32Array.of(2, 9, 30);
  const job = { training: { objective: "count:poisson", num_round: 2, max_depth: 2 } as const, kernel, key };
  const without = await trainFederated({ ...job, table: own });
  const withIt = { ...own, columns: { base_margin: offset }, validationRows };
  for (const defences of [{}, { masked_scoring: true }]) {
    const first = { ...job, table: withIt, defences };
    const start = await trainFederated(first);
    expect(start.activeShare.takesBaseMargin).toBe(true);
    expect(firstDifference(start.model, await trainInOnePlace(first))).toBeNull();
    expect(firstDifference(start.model, without.model)).not.toBeNull();
    const second = { ...first, start };
    expect(firstDifference((await trainFederated(second)).model, await trainInOnePlace(second))).toBeNull();
  }
  await expectError(() => trainFederated({ ...job, table: withIt, start: without }), "USAGE", /without base_margin/);
});

test("a custom objective that exceeds its bounds ends the job with an error that contains no value", async () => {
  const custom = { ...logCosh, bounds: { g: { min: -0.5, max: 0.5 }, h: { min: 0, max: 1 } } };
  const job = { table: { ...table, custom }, training: { objective: "reg:squarederror" } as const, kernel, key };
  await expectError(() => trainFederated(job), "LAYOUT_RANGE", /'log-cosh' gives instance \d+ a g outside/);
});

describe("federated equals centralised", () => {
  test.each<Case>(cases)("%o", async (training, labelOf, more) => {
    const own = { ...table, ...more, labels: table.labels.map(labelOf) };
    const job = { table: own, training: { num_round: 2, max_depth: 2, ...training }, kernel, key };
    for (const scheme of [undefined, curve, lattice]) {
      const whole = scheme === undefined ? job : { ...job, scheme };
      const { model } = await trainFederated(whole);
      expect(firstDifference(model, await trainInOnePlace(whole)), scheme?.name ?? "paillier").toBeNull();
      const owners = model.trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule.owner] : []));
      expect(owners, "no passive party's split was tested").toContain(1);
    }
  });
});
