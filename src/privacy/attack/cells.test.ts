import { expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { attackedJob } from "../../../test/support/attacked-job.ts";
import { cellsOf, guessLabels } from "./cells.ts";

test("a party without a label ranks instances nearly as the model does", async () => {
  const rows = 1500;
  const random = new SeededRandom("cells");
  const risk = Float64Array.from({ length: rows }, () => random.normal());
  const noisy = (): Float32Array => Float32Array.from(risk, (value) => value + random.normal());
  const labels = Float64Array.from(risk, (value) => (value + random.normal() / 2 > 1.3 ? 1 : 0));
  const table = { labels, parties: [[noisy(), noisy()], [noisy()]] };
  const { transcript, people, margins } = await attackedJob(table, { num_round: 20 });
  const guess = guessLabels(transcript, labels, people, margins, 200);
  expect(guess?.model).toBeGreaterThan(0.9);
  expect(guess?.without.auc).toBeGreaterThan(0.75);
  expect(guess?.without.tenth).toBeGreaterThan(0.3);
  expect(guess?.withLabels.auc).toBeGreaterThan(guess?.without.auc ?? 1);
  expect(guess?.withLabels.auc).toBeLessThan(guess?.model ?? 0);

  const [cells] = cellsOf(transcript);
  const [tree] = transcript.trees;
  expect(new Set(cells).size).toBeGreaterThan(tree.nodes.length / 2);
  expect(guessLabels(transcript, labels.fill(0), people, margins, 200)).toBeNull();
});
