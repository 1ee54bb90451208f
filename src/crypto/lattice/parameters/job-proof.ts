/** A human-readable proof that no sum of a job can be decrypted wrongly, and what its answers reveal besides sums. */
import { largestResolution } from "./choose-set.ts";
import { type AnswerBudget, distanceLimitLog2, distanceLog2, groupCountMax, withHints } from "./distance.ts";
import type { JobBounds } from "./job-bounds.ts";
import { latticeSets } from "./sets.ts";
import { hintBytes } from "./sizes.ts";

/**
 * Lines to print before a job, one statement each.
 * @param asked with the most candidates that a party may have
 */
export function jobProof(bounds: JobBounds, asked: AnswerBudget): string[] {
  const budget = withHints(bounds.set, asked);
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
    hintLine(bounds, asked),
  ];
}

/** What hints cost, and what would make them smaller: the resolution is agreed before the candidates are known. */
function hintLine({ set, rowCount, noiseMax }: JobBounds, asked: AnswerBudget): string {
  const { A } = latticeSets;
  const most = Math.ceil(hintBytes(set, withHints(set, asked).candidateCount) / 1e6);
  const fitsA = set !== A && A.groups * asked.outputs <= groupCountMax;
  const bits = fitsA ? largestResolution(A, { rowCount, noiseMax }, withHints(A, asked)) : undefined;
  const smaller = `; with --resolution-bits ${bits} or less the job has set A, whose hints are a quarter as large`;
  return `hints of a party take up to ${most} MB, once per attempt${bits === undefined ? "" : smaller}`;
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
