/**
 * How finely a job's gradients are rounded. Passive parties hear of it at the handshake, before anybody has heard how
 * many candidates they have: the active party assumes a number that is more than most tables have.
 */
import { TandemError } from "../../base/error.ts";
import { noiseScaleOf } from "../../base/noise/noise-scale.ts";
import type { CodecParameters } from "../../base/parameters.ts";
import { chooseSet } from "../../crypto/lattice/choose-set.ts";
import { resolutionBitsMax, resolutionBitsMin } from "../../crypto/lattice/job-bounds.ts";
import type { GridFacts } from "../scheme.ts";

/** A party with more is taken all the same where the job leaves room for it. */
export const candidatesAssumed = 4096;

/** @throws TandemError LAYOUT_OVERFLOW where not even the coarsest grid is hidden */
export function latticeCodec(asked: CodecParameters, facts: GridFacts): CodecParameters {
  const { nodesMax, outputsPerTree: outputs } = facts;
  const rowCount = Math.max(1, facts.rows);
  const budget = { nodesMax, outputs, candidateCount: candidatesAssumed };
  let refusal: unknown = null;
  // Noise is as wide as the grid is fine: every resolution is tried with its own.
  for (let bits = Math.min(asked.resolution_bits, resolutionBitsMax); bits >= resolutionBitsMin; bits--) {
    try {
      const chosen = chooseSet(bits, { rowCount, noiseMax: noiseAt(bits, facts) }, budget);
      if (chosen.resolutionBits === bits) return { ...asked, resolution_bits: bits };
    } catch (error) {
      if (!(error instanceof TandemError) || error.code !== "LAYOUT_OVERFLOW") throw error;
      refusal = error;
    }
  }
  throw refusal;
}

function noiseAt(resolutionBits: number, { answerNoise, maxDepth, maxLeaves }: GridFacts): number {
  return noiseScaleOf({ answerNoise, resolutionBits, maxDepth, maxLeaves })?.max ?? 0;
}
