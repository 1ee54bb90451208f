import { expect, test } from "vitest";
import { attackedJob, type AttackedJob } from "../../../test/support/attacked-job.ts";
import { SeededRandom } from "../../base/random.ts";
import type { TestTable } from "../../../test/world/simulated.ts";
import { firstComponent, guessFromOwnColumns, guessFromOwnSplits } from "./own-splits.ts";

const rows = 600;

/** The passive party has two columns that follow the risk, or noise only. */
function tableOf(isPredictive: boolean): TestTable {
  const random = new SeededRandom("own splits");
  const risk = Float64Array.from({ length: rows }, () => random.normal());
  const column = (weight: number): Float32Array => Float32Array.from(risk, (value) => weight * value + random.normal());
  const labels = Float64Array.from(risk, (value) => (value + random.normal() / 2 > 1 ? 1 : 0));
  const weight = isPredictive ? 1.5 : 0;
  return { labels, parties: [[column(0.3)], [column(weight), column(-weight), column(0)]] };
}

function judgedOf({ labels, people, margins }: AttackedJob) {
  return { labels, instances: people, margins, knownCount: 60 };
}

test("a party ranks people by its own splits alone, where its columns predict the label", async () => {
  const job = await attackedJob(tableOf(true), { num_round: 5 }, [], { hidden_sums: true }, "hidden");
  const guess = guessFromOwnSplits(job.features, job.recorder.splits, judgedOf(job));
  expect(guess?.without.auc).toBeGreaterThan(0.8);
  expect(guess?.withLabels.auc).toBeLessThan(guess?.model ?? 0);
  // With some labels it could have done that without the job.
  const alone = guessFromOwnColumns(job.features, judgedOf(job));
  expect(alone?.withLabels.auc).toBeGreaterThan(0.8);
  expect(alone?.without.auc).toBeCloseTo(0.5, 9);
});

test("and not where they do not", async () => {
  const job = await attackedJob(tableOf(false), { num_round: 5 }, [], { hidden_sums: true }, "hidden");
  const guess = guessFromOwnSplits(job.features, job.recorder.splits, judgedOf(job));
  // Its splits fit chance in the training rows.
  expect(guess?.without.auc ?? 0.5).toBeLessThan(0.65);
});

test("the first component follows the sides that agree", () => {
  const random = new SeededRandom("component");
  const hidden = Array.from({ length: 300 }, () => random.below(2));
  const agreeing = Array.from({ length: 4 }, () =>
    Uint32Array.from(hidden, (value) => (random.below(10) === 0 ? 1 - value : value)),
  );
  const other = Uint32Array.from(hidden, () => random.below(2));
  const scores = firstComponent([...agreeing, other]);
  const mean = (value: number): number => {
    const own = hidden.flatMap((each, i) => (each === value ? [scores[i]] : []));
    return own.reduce((sum, score) => sum + score, 0) / own.length;
  };
  expect(Math.abs(mean(1) - mean(0))).toBeGreaterThan(2);
});
