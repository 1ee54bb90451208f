/** A human-readable proof that no sum of a job can be decrypted wrongly, and what its answers reveal besides sums. */
import { type AnswerBudget, distanceLimitLog2, distanceLog2 } from "./distance.ts";
import type { JobBounds } from "./job-bounds.ts";

/** Lines to print before a job, one statement each. */
export function jobProof(bounds: JobBounds, budget: AnswerBudget): string[] {
  const { set, rowCount, resolutionBits, smudgingWidth, errorMax, roundingMax, scale } = bounds;
  const largest = 4n * smudgingWidth + errorMax + roundingMax;
  return [
    `set ${set.name}: ring of degree ${set.degree}, modulus of ${50 * set.primes.length} bits, ` +
      `${set.security} bits of security by the lattice-estimator`,
    ...slotLines(bounds),
    `smudging noise 4 x ${smudgingWidth} + errors of at most ${errorMax} (${rowCount} rows) + roundings of at most ` +
      `${roundingMax} = ${largest} <= ${scale / 2n} = D/2: every sum is decrypted exactly`,
    `besides sums, ${budget.nodesMax} nodes x ${budget.candidateCount} candidates reveal at most ` +
      `delta = 2^${distanceLog2(bounds, budget)} <= 2^${distanceLimitLog2} at resolution_bits ${resolutionBits}`,
  ];
}

function slotLines({ set, rowCount, resolutionBits, noiseMax, slotBits, t }: JobBounds): string[] {
  const sum = BigInt(rowCount) << BigInt(resolutionBits);
  const noise = BigInt(noiseMax);
  const range = `${rowCount} values of at most 2^${resolutionBits}` + (noiseMax > 0 ? ` with noise ${noiseMax}` : "");
  if (set.groups === 2) {
    return [`g and h, a ciphertext each: ${range} sum to at most ${sum + noise} = (t - 1)/2, t = ${t}`];
  }
  return [
    `h, the lower slot: ${range} sum to at most ${sum + 2n * noise} < 2^${slotBits}`,
    `g, the upper slot: at most ${sum + noise} < 2^${slotBits}; with h below 2^${2 * slotBits} = t/2`,
  ];
}
