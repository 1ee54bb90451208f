/**
 * What the linear attack learns from noisy sums of one job and of several jobs about the same people, whose noise is
 * averaged. Of each column the threshold that divides people most evenly is attacked.
 */
import { SeededRandom } from "../../src/base/random.ts";
import { resolveJob } from "../../src/party/resolve-job.ts";
import { channelBits, learnedBits, linearGuess, noisyAnswers } from "../../src/privacy/attack/linear.ts";
import type { AttackedParty } from "../../src/privacy/attack/exposure.ts";
import { trainRecorded } from "../../src/simulate/audit/recorded-training.ts";
import { measuredTables } from "../presets/tables.ts";

export interface NoiseOptions {
  readonly data: string;
  readonly only: string;
  readonly seed: number;
  readonly noises: readonly number[];
  readonly jobs: readonly number[];
  readonly onRow: (row: NoiseRow) => void;
}

/** Bits per person of a column's side, means over columns. */
export interface NoiseRow {
  readonly table: string;
  readonly noise: number;
  readonly jobs: number;
  /** What outcomes of splits leave open. */
  readonly open: number;
  readonly learned: number;
  readonly channel: number;
}

const training = { num_round: 50, max_depth: 3, max_bin: 32, eta: 0.3 };

export async function measureNoise({ data, only, seed, noises, jobs, onRow }: NoiseOptions): Promise<void> {
  for (const table of measuredTables(data).filter(({ name }) => name.includes(only))) {
    const { train, test } = await table.cut(seed);
    for (const noise of noises) {
      const job = resolveJob({
        scheme: "lattice",
        training: { ...training, seed, objective: table.objective },
        privacy: { privacy: "guarded", hidden_sums: false, answer_noise: noise },
      });
      const { schemes } = await trainRecorded({ job, train, test, names: train.map((_, i) => `party ${i}`) });
      const [party] = schemes[0].parties;
      for (const count of jobs) onRow({ table: table.name, noise, jobs: count, ...attacked(party, count) });
    }
  }
}

function attacked(party: AttackedParty, jobs: number): Pick<NoiseRow, "open" | "learned" | "channel"> {
  const { transcript, features, noise, instances } = party;
  if (noise === null) throw new Error("a job with noise");
  // As if all had the same trees: the noise of their mean is divided by the root of their number.
  const averaged = { sigma: noise.sigma / Math.sqrt(jobs) };
  const random = new SeededRandom(`linear attack ${jobs}`);
  const found = features.map((_, feature) => {
    const { position, side } = mostEven(party, feature);
    const prior = afterOutcomes(party, feature, side);
    const answers = [noisyAnswers(transcript, position, side, averaged, random)];
    return {
      learned: learnedBits(linearGuess(answers, prior), prior, side),
      channel: channelBits(answers, prior),
      open: prior.reduce((sum, share) => sum + entropyOf(share), 0) / instances.length,
    };
  });
  const mean = (of: (one: (typeof found)[number]) => number): number =>
    found.reduce((sum, one) => sum + of(one), 0) / found.length;
  return {
    learned: mean(({ learned }) => learned),
    open: mean(({ open }) => open),
    channel: mean(({ channel }) => channel),
  };
}

/** Per person the probability of being on the side, among those whose outcomes at the column's splits are the same. */
function afterOutcomes({ features, splits }: AttackedParty, feature: number, side: Uint8Array): Float64Array {
  const own = splits.filter((split) => split.feature === feature);
  const { bins } = features[feature];
  const cellOf = (person: number): string => own.map(({ left }) => left[bins[person]]).join("");
  const cells = Array.from(side, (_, person) => cellOf(person));
  const counts = new Map<string, { people: number; inside: number }>();
  cells.forEach((cell, person) => {
    const { people, inside } = counts.get(cell) ?? { people: 0, inside: 0 };
    counts.set(cell, { people: people + 1, inside: inside + side[person] });
  });
  return Float64Array.from(cells, (cell) => {
    const { people, inside } = counts.get(cell) ?? { people: 1, inside: 0 };
    return inside / people;
  });
}

function entropyOf(share: number): number {
  return [share, 1 - share].reduce((bits, p) => bits - (p > 0 ? p * Math.log2(p) : 0), 0);
}

function mostEven(
  { transcript, features, sideAt }: AttackedParty,
  feature: number,
): { readonly position: number; readonly side: Uint8Array; readonly share: number } {
  const count = transcript.trees[0].nodes[0].suppressed.length;
  const sides = Array.from({ length: count }, (_, position) => ({ position, ...sideAt(0, position) }))
    .filter((side) => side.feature === feature)
    .map(({ position, bins }) => {
      const side = Uint8Array.from(features[feature].bins, (bin) => bins[bin]);
      return { position, side, share: side.reduce((sum, value) => sum + value, 0) / side.length };
    });
  return sides.reduce((best, side) => (Math.abs(side.share - 0.5) < Math.abs(best.share - 0.5) ? side : best));
}
