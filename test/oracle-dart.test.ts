/**
 * Booster dart between parties: trees are dropped and reweighted between rounds. Federated equals centralised with
 * every scheme, also after a warm start or a restart; passive parties cannot distinguish the job from others.
 */
import { beforeAll, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { predictMargins } from "../src/gbdt/tree/predict.ts";
import type { ActiveProgress } from "../src/protocol/active/role.ts";
import { noProgress, type PassiveProgress } from "../src/protocol/passive/answered-splits.ts";
import { curve } from "../src/scheme/curve/curve.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { expectError } from "./support/expect-error.ts";
import { trainFederated, trainInOnePlace, type TestJob, type TestOutcome } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const rows = 60;
const table = randomTable("dart", { rows, features: [2, 2, 2], missingFraction: 0.1 });
const classes = { ...table, labels: Float64Array.from({ length: rows }, (_, i) => i % 3) };
const held = { ...table, validationRows: Uint32Array.from({ length: rows / 4 }, (_, i) => 4 * i) };
const dart: Partial<TrainingParameters> = {
  booster: "dart",
  num_round: 4,
  max_depth: 2,
  rate_drop: 0.5,
  one_drop: true,
};
const softprob = { objective: "multi:softprob", num_class: 3, num_round: 2 } as const;

async function expectEqual(job: Omit<TestJob, "kernel" | "key">): Promise<TestOutcome> {
  const whole = { kernel, key, ...job };
  const outcome = await trainFederated(whole);
  expect(firstDifference(outcome.model, await trainInOnePlace(whole))).toBeNull();
  expect(outcome.model.treeWeights).toHaveLength(outcome.model.trees.length);
  expect(
    outcome.model.treeWeights?.some((weight) => weight < 1),
    "trees were dropped",
  ).toBe(true);
  return outcome;
}

const cases: readonly (readonly [string, Omit<TestJob, "kernel" | "key">])[] = [
  ["one at least", { table, training: dart }],
  ["by weight, as a forest", { table, training: { ...dart, sample_type: "weighted", normalize_type: "forest" } }],
  ["trees of several classes", { table: classes, training: { ...dart, ...softprob } }],
  [
    "trees of several outputs",
    { table: classes, training: { ...dart, ...softprob, multi_strategy: "multi_output_tree" } },
  ],
  ["parallel trees", { table, training: { ...dart, num_round: 2, num_parallel_tree: 2, subsample: 0.6 } }],
  ["leaves of residuals", { table, training: { ...dart, objective: "reg:absoluteerror", num_round: 3 } }],
  ["masked scores", { table, training: { ...dart, num_round: 3 }, defences: { masked_scoring: true } }],
];

/** What a scheme could change. */
const schemeCases = cases.filter(([name]) => /one at least|classes|side by side/.test(name));

test.each([
  ...cases.map(([name, job]) => [name, "paillier", undefined, job] as const),
  ...schemeCases.flatMap(([name, job]) => [curve, lattice].map((scheme) => [name, scheme.name, scheme, job] as const)),
])("%s (%s)", async (_name, _scheme, scheme, job) => {
  const { model, margins } = await expectEqual({ ...job, ...(scheme === undefined ? {} : { scheme }) });
  expect(predictMargins(model, job.table.parties, rows)).toEqual(margins);
});

test("early stopping keeps the best round with what its trees weighed then", async () => {
  const training = { ...dart, num_round: 20, early_stopping_rounds: 2 };
  const { model, grown } = await expectEqual({ table: held, training });
  expect(model.trees.length).toBe(grown - 2);
  expect(model.trees.length).toBeGreaterThan(2);
  const alone = await trainInOnePlace({ table: held, key, training: { ...dart, num_round: model.trees.length } });
  expect(firstDifference(model, alone)).toBeNull();
});

test("a warm start continues its draws as in one job, and refuses another booster", async () => {
  const start = await expectEqual({ table, training: dart });
  const job = { table, training: { ...dart, num_round: 2 }, start };
  const { model } = await expectEqual(job);
  expect(firstDifference(model, await trainInOnePlace({ table, key, training: { ...dart, num_round: 6 } }))).toBeNull();
  const other = { ...job, training: { num_round: 1 }, kernel, key };
  await expectError(() => trainFederated(other), "USAGE", /booster is gbtree, but the model was trained with dart/);
  const masked = { ...job, defences: { masked_scoring: true }, kernel, key };
  await expectError(() => trainFederated(masked), "USAGE", /dart needs each instance/);
});

test("an interrupted job ends in the same model, also between parallel trees", async () => {
  const training = { ...dart, num_round: 3, num_parallel_tree: 2, subsample: 0.7, early_stopping_rounds: 3 };
  const job = { table: { ...held, parties: held.parties.slice(0, 2) }, training, kernel, key };
  const kept: { active: ActiveProgress; passive: PassiveProgress }[] = [];
  let passive = noProgress;
  const permutationSecrets = [new Uint8Array(32)];
  const whole = await trainFederated({
    ...job,
    permutationSecrets,
    stored: { progress: noProgress, store: async (progress) => void (passive = structuredClone(progress)) },
    activeStored: { store: async (active) => void kept.push(structuredClone({ active, passive })) },
  });
  expect(kept).toHaveLength(6);
  expect(kept.map(({ active }) => active.dart?.weights.length)).toEqual([0, 2, 2, 4, 4, 6]);
  for (const round of [1, 2, 4]) {
    const resumed = await trainFederated({
      ...job,
      permutationSecrets,
      stored: { progress: kept[round].passive, store: async () => {} },
      activeStored: { progress: kept[round].active },
    });
    expect(firstDifference(resumed.model, whole.model)).toBeNull();
    expect(resumed.margins).toEqual(whole.margins);
  }
});
