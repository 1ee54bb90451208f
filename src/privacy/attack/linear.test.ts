/** The linear attack on noisy sums: it works without noise, and is bounded by the channel with it, over jobs too. */
import { expect, test } from "vitest";
import { attackedJob, type AttackedJob } from "../../../test/support/attacked-job.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { SeededRandom } from "../../base/random.ts";
import { channelBits, linearGuess, type NoisyAnswers, noisyAnswers, learnedBits } from "./linear.ts";

const people = 150;
const unit = 2 ** 24;

/** The people whose first column is on the side of one threshold, and what is answered about it in `count` jobs. */
function asked(
  { transcript, recorder, features }: AttackedJob,
  sigma: number,
  count: number,
  isShuffled = false,
): { readonly side: Uint8Array; readonly prior: Float64Array; readonly jobs: NoisyAnswers[] } {
  const random = new SeededRandom(`noise ${sigma}`);
  const positions = Array.from({ length: transcript.trees[0].nodes[0].suppressed.length }, (_, position) => position);
  const sides = positions.map((position) => {
    const { feature, bins } = recorder.sideAt(0, position);
    return Uint8Array.from(features[feature].bins, (bin) => bins[bin]);
  });
  const shares = sides.map((side) => side.reduce((sum, value) => sum + value, 0) / people);
  // Nearest to a half: the threshold with most to learn.
  const position = shares.reduce(
    (best, share, i) => (Math.abs(share - 0.5) < Math.abs(shares[best] - 0.5) ? i : best),
    0,
  );
  const side = isShuffled ? shuffled(sides[position], random) : sides[position];
  const jobs = Array.from({ length: count }, () =>
    noisyAnswers(transcript, position, side, { sigma: sigma * unit }, random),
  );
  return { side, prior: new Float64Array(people).fill(shares[position]), jobs };
}

function shuffled(side: Uint8Array, random: SeededRandom): Uint8Array {
  const order = Float64Array.from(side, () => random.uniform());
  const ranked = Array.from(side.keys()).sort((a, b) => order[a] - order[b]);
  return Uint8Array.from(ranked, (person) => side[person]);
}

test("finds nearly every side without noise, little with it, and more from several jobs", async () => {
  const table = randomTable("linear", { rows: people, features: [2, 2] });
  const job = await attackedJob(table, { num_round: 15, max_depth: 3, max_bin: 8 }, [], {}, "hidden");
  const learned = (sigma: number, count: number, isShuffled = false): number => {
    const { side, prior, jobs } = asked(job, sigma, count, isShuffled);
    const bits = learnedBits(linearGuess(jobs, prior), prior, side);
    // A column that depends on the label also shows in averages over similar people, which noise does not hide.
    if (isShuffled) expect(bits).toBeLessThan(1.25 * channelBits(jobs, prior) + 0.05);
    return bits;
  };
  // Positive control.
  expect(learned(0.001, 1)).toBeGreaterThan(1);
  for (const sigma of [1, 5, 20]) learned(sigma, 1, true);
  const [one, four] = [learned(5, 1, true), learned(5, 4, true)];
  expect(one).toBeLessThan(0.2);
  expect(four).toBeGreaterThan(one);
});

test("the channel of n jobs is that of one with the noise divided by the root of n", async () => {
  const table = randomTable("linear jobs", { rows: people, features: [1, 1] });
  const job = await attackedJob(table, { num_round: 5, max_depth: 2, max_bin: 8 }, [], {}, "hidden");
  const { prior, jobs } = asked(job, 6, 4);
  const averaged = asked(job, 3, 1);
  expect(channelBits(jobs, prior)).toBeCloseTo(channelBits(averaged.jobs, prior), 9);
});
