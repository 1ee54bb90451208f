/** Attacks on a job that leaks, and on the same job with each defence, where the same attack fails. */
import { beforeAll, expect, test } from "vitest";
import type { Defences } from "../src/privacy/defences/defences.ts";
import { quantiserFor } from "../src/codec/gradient-layout.ts";
import { BoostingTask } from "../src/gbdt/boost/boosting-task.ts";
import { membershipFacts } from "../src/base/membership.ts";
import { type OwnTree, transcriptFrom } from "./support/observed-transcript.ts";
import type { Observation } from "../src/messages/observation.ts";
import { SeededRandom } from "../src/base/random.ts";
import { generateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import type { PartyExposure } from "../src/privacy/attack/audit-result.ts";
import { exposureOf } from "../src/privacy/attack/exposure.ts";
import { attackedJob } from "./support/attacked-job.ts";
import { trainFederated } from "./support/in-memory-job.ts";
import { TrainingRows } from "../src/gbdt/rows/training-rows.ts";
import { testJob, type TestTable } from "./world/simulated.ts";

const people = 2000;
const training = { num_round: 45, max_depth: 3, max_bin: 28, eta: 0.3 };

/** A bank's columns, and a shop's: one of 28 bins, one of a few values. */
const table: TestTable = (() => {
  const random = new SeededRandom("defences");
  const risk = Float64Array.from({ length: people }, () => random.normal());
  const column = (valueOf: (i: number) => number): Float32Array => Float32Array.from(risk, (_, i) => valueOf(i));
  return {
    labels: Float64Array.from(risk, (value) => (value + random.normal() > 1 ? 1 : 0)),
    parties: [
      [column((i) => risk[i] + 2 * random.normal()), column(() => random.normal())],
      [
        column((i) => Math.round(12 * (risk[i] + random.normal()))),
        column((i) => Math.max(-2, Math.round(risk[i] + random.normal()))),
      ],
    ],
  };
})();

async function exposed(defences: Partial<Defences>, milliseconds = 20_000): Promise<PartyExposure> {
  const { features, people: whom, transcript, recorder, noise } = await attackedJob(table, training, [], defences);
  const end = performance.now() + milliseconds;
  return exposureOf(
    {
      name: "shop",
      features,
      instances: whom,
      transcript,
      splits: recorder.splits,
      sideAt: (tree, position) => recorder.sideAt(tree, position),
      noise,
      membership: membershipFacts.sent,
      tellsScoring: defences.masked_scoring !== true,
    },
    { left: () => Math.max(0, end - performance.now()), progress: () => {} },
    1,
  );
}

let leaky: PartyExposure;
beforeAll(async () => {
  leaky = await exposed({});
});

test("without a defence nearly every bin is proven, and every proven bin is correct", () => {
  expect(leaky.wrong).toBe(0);
  expect(leaky.certain.sums).toBeGreaterThan(0.9);
  expect(leaky.certain.outcomes).toBeLessThan(0.7);
});

test("answer_noise: sums prove nothing beyond the outcomes, and reveal little", async () => {
  const { wrong, certain, columns } = await exposed({ answer_noise: 10, min_people_share: 0.01 });
  expect(wrong).toBe(0);
  expect(certain.sums).toBe(certain.outcomes);
  for (const { sumsBound } of columns) {
    expect(sumsBound).not.toBeNull();
    expect(sumsBound ?? 1).toBeLessThan(0.3); // 0.18 sums per person: a job as small and long as few are
  }
});

test("min_people_share: a large share leaves little to reconstruct in a short job", async () => {
  const { wrong, columns, left } = await exposed({ min_people_share: 0.1 });
  expect(wrong).toBe(0);
  expect(leaky.columns[0].certain.sums).toBeGreaterThan(0.8);
  expect(columns[0].certain.sums).toBeLessThan(0.2);
  expect(left.sums).toBeGreaterThan(leaky.left.sums + 1);
});

test("max_thresholds: outcomes and scoring reveal no more than the few intervals", async () => {
  const { wrong, bits, left, columns } = await exposed({ max_thresholds: 2, answer_noise: 10, min_people_share: 0.01 });
  expect(wrong).toBe(0);
  for (const column of columns) {
    // Two thresholds cut a column into three pieces.
    expect(column.bits - column.left.scoring).toBeLessThanOrEqual(Math.log2(3) + 1e-9);
    expect(column.bits - column.left.outcomes).toBeLessThanOrEqual(Math.log2(3) + 1e-9);
  }
  expect(bits - left.scoring).toBeLessThan(leaky.bits - leaky.left.scoring - 1);
});

/** What the active party observes of a real job: attacked as if every sum were exact. */
async function observed(defences: Partial<Defences>): Promise<{ exposure: PartyExposure; predictions: number }> {
  const key = await generateKey({ bits: 256, insecure: true });
  const count = 400;
  const small: TestTable = {
    labels: table.labels.slice(0, count),
    parties: table.parties.map((columns) => columns.map((column) => column.slice(0, count))),
  };
  const made = { table: small, training: { ...training, num_round: 20, max_bin: 16 }, defences, key };
  const permutationSecret = new Uint8Array(32).fill(9);
  const observations: Observation[] = [];
  const trees: Omit<OwnTree, "gradients" | "sample">[] = [];
  const margins: Float64Array[] = [];
  await trainFederated({
    ...made,
    kernel: selectKernel(),
    permutationSecrets: [permutationSecret],
    look: {
      observed: (_peer, observation) => observations.push(observation),
      treeFinished(tree, now, grown) {
        margins[tree] = now;
        const children = grown.map((node) => (node.kind === "split" ? { left: node.left, right: node.right } : null));
        trees.push({ tree, children });
      },
    },
  });
  const { recorder, features, people: whom, transcript, noise } = await attackedJob(small, made.training, [], defences);
  const { training: all, codec } = testJob(made);
  const task = new BoostingTask(all, new TrainingRows(small.labels));
  const quantise = quantiserFor(codec, key.publicKey.bits - 1, noise);
  const own = trees.map((tree, i): OwnTree => {
    const before = i === 0 ? task.startMargins() : margins[i - 1];
    return { ...tree, sample: null, gradients: quantise(task.gradients(before)) };
  });
  const seen = transcriptFrom(observations, count, own, transcript.job);
  const end = performance.now() + 300_000;
  const exposure = await exposureOf(
    {
      name: "shop",
      features,
      instances: whom,
      transcript: seen,
      splits: recorder.splits,
      sideAt: (tree, position) => recorder.sideAt(tree, position),
      noise: null,
      membership: membershipFacts.sent,
      tellsScoring: seen.predictions.length > 0,
    },
    { left: () => Math.max(0, end - performance.now()), progress: () => {} },
    1,
  );
  return { exposure, predictions: seen.predictions.length };
}

test("between real roles: observations are reconstructed, and under the preset guarded they are not", async () => {
  const plain = await observed({});
  expect(plain.exposure.wrong).toBe(0);
  expect(plain.exposure.linked).toBeGreaterThan(10);
  expect(plain.exposure.certain.sums).toBeGreaterThan(plain.exposure.certain.outcomes + 0.2);
  expect(plain.predictions).toBeGreaterThan(0);

  const guarded = await observed({ answer_noise: 10, min_people_share: 0.01, max_thresholds: 3, masked_scoring: true });
  expect(guarded.exposure.wrong).toBe(0);
  expect(guarded.exposure.linked).toBe(0);
  expect(guarded.exposure.certain.sums).toBe(guarded.exposure.certain.outcomes);
  expect(guarded.predictions, "outcomes of test rows").toBe(0);
});
