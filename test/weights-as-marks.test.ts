/**
 * A semi-honest active party may choose instance weights: with powers of two it reads the sides of single instances
 * from the sums. Minimums do not prevent this, noise does.
 */
import { expect, test } from "vitest";
import type { Defences } from "../src/privacy/defences/defences.ts";
import { SeededRandom } from "../src/base/random.ts";
import { slotSum } from "../src/base/gradients/quantised-gradients.ts";
import { binGoesLeft, candidatesOf } from "../src/gbdt/split/candidate.ts";
import { noMinimums } from "../src/gbdt/split/offered-candidates.ts";
import { mostFrequentBins } from "../src/scheme/candidates/candidate-plan.ts";
import { SentNodes } from "../src/scheme/candidates/sent-nodes.ts";
import { TreeSample } from "../src/scheme/candidates/tree-sample.ts";
import { attackedJob } from "./support/attacked-job.ts";
import { noiseSecret } from "./world/simulated.ts";

const people = 600;
const marked = Array.from({ length: 16 }, (_, k) => 11 + 31 * k);

/** The share of correctly read sides over all marked instances and all candidates sent at the root. */
async function readRight(defences: Partial<Defences>): Promise<{ shown: number; right: number }> {
  const random = new SeededRandom("weights");
  // The first two are at either end, so that guessing one side for all is never correct.
  const ends = new Map([
    [marked[0], 0],
    [marked[1], 11],
  ]);
  const column = (): Float32Array => Float32Array.from({ length: people }, (_, i) => ends.get(i) ?? random.below(12));
  const weights = new Float64Array(people);
  marked.forEach((person, k) => (weights[person] = 2 ** -k));
  const labels = Float64Array.from({ length: people }, () => random.below(2));
  const table = { labels, columns: { weight: weights }, parties: [[column()], [column(), column()]] };
  const {
    features,
    people: instances,
    transcript,
    noise: scale,
  } = await attackedJob(table, { num_round: 1, max_bin: 16 }, [], defences);
  const [{ gradients, nodes }] = transcript.trees;
  const [{ rows, suppressed }] = nodes;
  const limbs = gradients.columns.length / gradients.grids.length;
  const stride = rows.length / suppressed.length;
  const ofPerson = (person: number): number =>
    slotSum(
      Float64Array.from(gradients.columns, (values) => values[person]),
      0,
      1,
      limbs,
    );
  // The transcript's sums are exact; this is what the passive party adds, in the same secret order.
  const noise = scale && { secret: noiseSecret(1), scale, slotCount: 2 };
  const skippedBins = mostFrequentBins(features, instances);
  const order = { permutationSecret: new Uint8Array(32).fill(9), skippedBins, sampler: null };
  const limits = { maxDepth: 6, maxLeaves: 0, minimums: noMinimums };
  const sample = new TreeSample(features, people, new Uint8Array(0));
  const added = new SentNodes({ features, instances, ...order, ...limits, noise }, 0, 0, sample).task(0).noise;
  const sides = new Set<string>();
  for (const feature of features)
    for (const candidate of candidatesOf(feature))
      for (const side of [true, false])
        sides.add(
          marked.map((person) => Number(binGoesLeft(feature, candidate, feature.bins[person]) === side)).join(""),
        );
  const shown = Array.from(suppressed.keys()).filter((position) => suppressed[position] === 0);
  const right = shown.filter((position) => {
    let left = slotSum(rows, position * stride, 1, limbs) + (added?.[2 * position + 1] ?? 0);
    const read = marked.map((person) => {
      const isIn = left >= ofPerson(person) ? 1 : 0;
      left -= isIn * ofPerson(person);
      return isIn;
    });
    return sides.has(read.join(""));
  });
  return { shown: shown.length, right: right.length };
}

test.each([{}, { min_people_share: 0.15 }])("sides are read from exact sums: %o", async (defences) => {
  const { shown, right } = await readRight(defences);
  expect(shown).toBeGreaterThan(5);
  expect(right).toBe(shown);
});

test("noise hides the sides", async () => {
  const { shown, right } = await readRight({ answer_noise: 10, min_people_share: 0.05 });
  expect(shown).toBeGreaterThan(10);
  expect(right).toBeLessThan(shown / 4);
});
