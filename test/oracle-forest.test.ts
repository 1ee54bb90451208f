/**
 * Boosted random forests between parties: the trees of a round share margins, each with a sample of its own. Federated
 * equals centralised with every scheme; passive parties cannot distinguish the rounds from others.
 */
import { beforeAll, expect, test } from "vitest";
import type { TrainingParameters } from "../src/gbdt/parameters/training-parameters.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
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
const table = randomTable("forest", { rows, features: [2, 2, 2], missingFraction: 0.1 });
const classes = { ...table, labels: Float64Array.from({ length: rows }, (_, i) => i % 3) };
const held = { ...table, validationRows: Uint32Array.from({ length: rows / 4 }, (_, i) => 4 * i) };
const forest: Partial<TrainingParameters> = { num_round: 2, num_parallel_tree: 2, subsample: 0.6 };
const softprob = { objective: "multi:softprob", num_class: 3, num_round: 1 } as const;

async function expectEqual(job: Omit<TestJob, "kernel" | "key">): Promise<TestOutcome> {
  const whole = { kernel, key, ...job };
  const outcome = await trainFederated(whole);
  const owners = new Set(
    outcome.model.trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule.owner] : [])),
  );
  expect(owners.size, "every party splits something").toBe(3);
  expect(firstDifference(outcome.model, await trainInOnePlace(whole))).toBeNull();
  return outcome;
}

const cases: readonly (readonly [string, Omit<TestJob, "kernel" | "key">])[] = [
  ["its own sample for each tree", { table, training: forest }],
  ["columns of its own for each node", { table, training: { ...forest, subsample: 1, colsample_bynode: 0.5 } }],
  ["trees of several classes", { table: classes, training: { ...forest, ...softprob } }],
  ["the first round alone", { table, training: { ...forest, local_rounds: 1 } }],
  ["early stopping", { table: held, training: { ...forest, num_round: 9, eta: 1, early_stopping_rounds: 1 } }],
  ["few thresholds, noise", { table, training: forest, defences: { max_thresholds: 2, answer_noise: 0.3 } }],
];

test.each(
  [undefined, curve, lattice].flatMap((scheme) =>
    cases.map(([name, job]) => [name, scheme?.name, scheme, job] as const),
  ),
)("%s (%s)", async (_name, _scheme, scheme, job) => {
  const { model, grown } = await expectEqual({ ...job, ...(scheme === undefined ? {} : { scheme }) });
  expect(model.parallelTrees).toBe(2);
  expect([model.trees.length % 2, grown % 2]).toEqual([0, 0]);
  expect(firstDifference({ ...model, trees: [model.trees[0]] }, { ...model, trees: [model.trees[1]] })).not.toBeNull();
});

test("leaf weights are divided by num_parallel_tree; without sampling the parallel trees are identical", async () => {
  const alone = await trainInOnePlace({ table, key, training: { num_round: 1 } });
  const { trees } = await trainInOnePlace({ table, key, training: { num_round: 1, num_parallel_tree: 4 } });
  expect(trees).toHaveLength(4);
  for (const tree of trees) {
    expect(tree).toEqual(trees[0]);
    tree.forEach((node, id) => {
      const other = alone.trees[0][id];
      if (node.kind === "leaf" && other.kind === "leaf") expect(node.weight).toBeCloseTo(other.weight / 4, 7);
    });
  }
});

test("a warm start continues a forest, and refuses another num_parallel_tree", async () => {
  const start = await expectEqual({ table, training: forest });
  const job = { table, training: { ...forest, num_round: 1 }, start };
  const { model } = await expectEqual(job);
  expect(model.trees).toHaveLength(6);
  expect(
    firstDifference(model, await trainInOnePlace({ table, key, training: { ...forest, num_round: 3 } })),
  ).toBeNull();
  const other = { ...job, training: { ...job.training, num_parallel_tree: 3 }, kernel, key };
  await expectError(() => trainFederated(other), "USAGE", /num_parallel_tree is 3, but the model was trained with 2/);
});
