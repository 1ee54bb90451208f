/**
 * Noise in masked scores (`score_noise`). Sums are then residues modulo 2^32, and every passive party adds a fresh
 * discrete Gaussian to its share of each sum. Its deviation is a share of 2^31, so a share of the largest number of the
 * ring: whatever weights an active party sends, a sum carries at most log2 of the ring's size minus the entropy of the
 * noise (privacy/defences/score-noise.ts), in place of up to 95 bits.
 *
 * The active party scales its weights so that every possible score and six deviations of all parties' noise fit.
 *
 * Noise is drawn for each answer: weights are hidden from the party, so it cannot recognise a repeated question, and
 * the same noise for another question would cancel. Averages of repeated questions are bounded by their number
 * (party/question-counts.ts).
 */
import { TandemError } from "../../base/error.ts";
import { discreteGaussian } from "../../base/noise/discrete-gaussian.ts";
import type { SecureRandom } from "../../base/random.ts";
import type { Tree } from "../../gbdt/tree/tree.ts";
import type { ScoreWeights } from "./exact-weights.ts";

const half = 2 ** 31;
/** A sum leaves its range with a probability of 2e-9. */
const deviationsOfRoom = 6;
/** Of the range: less would leave nothing but noise. */
const roomMin = 0.1;

/** Leaf weights as residues modulo 2^32, rounded. */
export class NoisyWeights implements ScoreWeights {
  readonly limbs = 1;
  /** Residues per unit of a margin. */
  readonly #scale: number;
  /** Per output the middle of the sums that the trees can have. */
  readonly #middles: readonly number[];

  /** @throws TandemError USAGE if there is no room for the noise of all parties */
  constructor(trees: readonly Tree<unknown>[], outputCount: number, deviation: number, partyCount: number) {
    const room = 1 - deviationsOfRoom * deviation * Math.sqrt(partyCount);
    if (room < roomMin)
      throw new TandemError("USAGE", `score_noise: ${deviation} is too much for ${partyCount} passive parties`);
    const ranges = Array.from({ length: outputCount }, (_, output) => sumRange(trees, output, outputCount));
    this.#middles = ranges.map(([least, most]) => (least + most) / 2);
    const widest = ranges.reduce((width, [least, most]) => Math.max(width, (most - least) / 2), 0);
    // Each weight and the middle are rounded by up to half a unit.
    this.#scale = widest === 0 ? 1 : (room * half - trees.length - 1) / widest;
  }

  write(target: Uint32Array, place: number, weight: number): void {
    target[place] = Math.round(weight * this.#scale);
  }

  margin(base: number, residues: Uint32Array, place: number): number {
    const middle = Math.round(this.#middles[place % this.#middles.length] * this.#scale);
    return base + (middle + ((residues[place] - middle) | 0)) / this.#scale;
  }
}

/** The least and the largest sum of one leaf of each tree, for an output. */
function sumRange(trees: readonly Tree<unknown>[], output: number, outputCount: number): readonly [number, number] {
  let [least, most] = [0, 0];
  trees.forEach((tree, t) => {
    const weights = tree.flatMap((node) => {
      if (node.kind !== "leaf") return [];
      return node.weights === undefined ? (t % outputCount === output ? [node.weight] : []) : [node.weights[output]];
    });
    least += weights.reduce((a, b) => Math.min(a, b), weights[0] ?? 0);
    most += weights.reduce((a, b) => Math.max(a, b), weights[0] ?? 0);
  });
  return [least, most];
}

/** Adds noise to each residue modulo 2^32. */
export function addScoreNoise(sums: Uint32Array, deviation: number, random: SecureRandom): void {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  const draw = (): number => {
    random.fill(bytes);
    return view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11);
  };
  for (let i = 0; i < sums.length; i++) sums[i] += discreteGaussian(deviation * half, half, draw);
}

/** @throws TandemError USAGE for a job whose scores cannot have this noise */
export function checkScoreNoise(
  { score_noise: deviation, masked_scoring: isMasked }: { score_noise: number; masked_scoring: boolean },
  hasStart: boolean,
): void {
  if (deviation === 0) return;
  if (!isMasked) throw new TandemError("USAGE", "score_noise needs masked_scoring: turn it on, or score_noise off");
  if (hasStart)
    throw new TandemError(
      "USAGE",
      "warm start: score_noise would change the margins that training continues from. Train without a start model",
    );
}
