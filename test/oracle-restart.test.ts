/**
 * The oracle after restarts: a job that was interrupted twice in the middle of trees, and resumed from files, ends in
 * the centralised model; for every kind of per-round state, with both schemes.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { treesPerRound } from "../src/protocol/job-parameters.ts";
import { curve } from "../src/scheme/curve/curve.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { isCampaign } from "./support/campaign.ts";
import { trainBrokenOff } from "./support/broken-job.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { trainInOnePlace } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";
import { testJob, type TestTable } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const rows = 48;
const table = randomTable("taken up", { rows, features: [1, 2], missingFraction: 0.1, regression: true });
const weighted = { columns: { weight: Float64Array.from(table.labels, (_, row) => 1 + (row % 3) / 2) } };

function labelled(label: (value: number, row: number) => number, more: Partial<TestTable> = {}): TestTable {
  return { ...table, ...more, labels: table.labels.map(label) };
}

const positive = (value: number): number => Math.exp(value / 4);
const degree = (value: number): number => Math.min(4, Math.max(0, Math.round(value / 3 + 2)));
const groups = { columns: { qid: table.labels.map((_, row) => row % 5) } };

const third = (value: number): number => (value < -3 ? 0 : value < 3 ? 1 : 2);
const softprob = { objective: "multi:softprob", num_class: 3 } as const;

type Case = readonly [name: string, table: TestTable, training: Partial<TrainingParameters>];

const cases: readonly Case[] = [
  [
    "interaction_constraints",
    { ...table, groups: [["a"], ["a", "b"]] },
    { objective: "reg:squarederror", max_depth: 3 },
  ],
  ["parallel trees", labelled((value) => (value > 0 ? 1 : 0)), { num_parallel_tree: 2, subsample: 0.7 }],
  [
    "base_margin",
    labelled((value) => Math.max(0, Math.round(value / 3)), {
      columns: { base_margin: table.labels.map((_, row) => Math.fround(Math.sin(row))) },
    }),
    { objective: "count:poisson" },
  ],
  ["several classes", labelled(third), softprob],
  ["trees of several outputs", labelled(third), { ...softprob, multi_strategy: "multi_output_tree" }],
  ["dart", labelled((value) => (value > 0 ? 1 : 0)), { booster: "dart", rate_drop: 0.5, one_drop: true, num_round: 4 }],
  [
    "survival:aft",
    labelled(positive, {
      columns: {
        label_upper_bound: table.labels.map((value, i) => (i % 4 === 0 ? Infinity : positive(value) * (1 + (i % 3)))),
      },
    }),
    { objective: "survival:aft" },
  ],
  [
    "survival:cox",
    labelled((value, row) => (row % 3 === 0 ? -1 : 1) * Math.round(positive(value) * 3 + 1), weighted), // with ties
    { objective: "survival:cox" },
  ],
  ["rank:pairwise", labelled(degree, groups), { objective: "rank:pairwise" }],
  ["rank:ndcg", labelled(degree, groups), { objective: "rank:ndcg" }],
  [
    // Trees trained on the other groups do not fit the validation group: the first round is the best.
    "rank:ndcg, stopping early",
    labelled((value, row) => degree(row % 5 === 0 ? -value : value), {
      ...groups,
      validationRows: Uint32Array.from({ length: 10 }, (_, i) => 5 * i),
    }),
    { objective: "rank:ndcg", num_round: 4, early_stopping_rounds: 2 },
  ],
  ["reg:gamma", labelled(positive), { objective: "reg:gamma", base_score: 3 }],
  ["reg:tweedie", labelled((value) => Math.max(0, value), weighted), { objective: "reg:tweedie", base_score: "auto" }],
  ["reg:quantileerror", labelled((value) => value), { objective: "reg:quantileerror", quantile_alpha: [0.2, 0.8] }],
  [
    "sets of categories",
    categoricalTable("restarts", { rows: 80, features: [1, 0], categories: [[5], [9]], missingFraction: 0.1 }),
    { enable_categorical: true, max_cat_threshold: 4 },
  ],
];

/** Leaving these out of the table must change the model. */
const without = new Map<string, Partial<TestTable>>([
  ["interaction_constraints", { groups: [] }],
  ["base_margin", { columns: {} }],
  ["sets of categories", { categories: [] }],
]);

const schemes = [undefined, curve, lattice];
describe.each(schemes)("a job that is interrupted twice", (scheme) => {
  // By default every case runs with two of the three schemes.
  const ofScheme = cases.filter((_, i) => isCampaign || i % schemes.length !== schemes.indexOf(scheme));
  test.each<Case>(ofScheme)(`%s (${scheme?.name ?? "paillier"})`, async (name, own, given) => {
    const training = { num_round: 3, max_depth: 2, ...given };
    const job = { table: own, training, kernel, key, ...(scheme === undefined ? {} : { scheme }) };
    const perRound = treesPerRound(testJob(job).training);
    // Parallel trees are interrupted between each other, and in the middle of the next.
    const { model, treesAtBreaks } = await trainBrokenOff(job, [perRound, 2 * perRound]);
    expect(treesAtBreaks).toEqual([perRound, 2 * perRound]);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    if (!without.has(name)) return;
    const other = await trainInOnePlace({ ...job, table: { ...own, ...without.get(name) } });
    expect(firstDifference(model, other), "nothing was tested").not.toBeNull();
  });
});
