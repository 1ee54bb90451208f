/** Noise in the sums of masked scoring: scheme/masked/score-noise.ts. */
import type { AmountDefence } from "./defence.ts";

const note = (deviation: number): string =>
  `with noise of deviation ${deviation}: at most ${scoreBits(deviation).toFixed(1)} bits per score and output`;

export const scoreNoise = {
  parameter: {
    kind: "number",
    default: 0,
    min: 0,
    max: 0.1,
    help: "standard deviation of the noise in masked scores, as a share of half the range of scores; 0: none",
  },
  stricter: "higher",
  phrase: (deviation) => `noise of deviation ${deviation} in scores`,
  lowers: "what scoring reveals",
  notes: { maskedScores: note },
  // An audit measures outcomes that are sent, and exact sums.
  audit: "none",
} as const satisfies AmountDefence;

/**
 * The most bits that one noisy number of a ring can carry, whatever is summed: log2 of the ring's size, minus the
 * entropy of a Gaussian of this deviation. The ring has twice the unit of deviations.
 */
export function scoreBits(deviation: number): number {
  return Math.max(0, Math.log2(2 / (deviation * Math.sqrt(2 * Math.PI * Math.E))));
}
