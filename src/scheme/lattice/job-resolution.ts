/**
 * How finely a job's gradients are rounded. Passive parties hear of it at the handshake, before anybody has heard how
 * many candidates they have: the active party assumes a number that is more than most tables have.
 */
import { TandemError } from "../../base/error.ts";
import { noiseScaleOf } from "../../base/noise/noise-scale.ts";
import type { CodecParameters } from "../../base/parameters/parameters.ts";
import { enoughBits, largestResolution } from "../../crypto/lattice/parameters/choose-set.ts";
import { groupCountMax } from "../../crypto/lattice/parameters/distance.ts";
import { resolutionBitsMax, resolutionBitsMin } from "../../crypto/lattice/parameters/job-bounds.ts";
import { type LatticeSet, latticeSets } from "../../crypto/lattice/parameters/sets.ts";
import type { GridFacts } from "../scheme.ts";

/** A party with more is taken all the same where the job leaves room for it. */
export const candidatesAssumed = 4096;

/**
 * Set A's resolution where that reaches enough, otherwise set B's.
 * @throws TandemError LAYOUT_OVERFLOW where not even the coarsest grid is hidden
 */
export function latticeCodec(asked: CodecParameters, facts: GridFacts): CodecParameters {
  const wanted = Math.min(asked.resolution_bits, resolutionBitsMax);
  const inA = bitsIn(latticeSets.A, wanted, facts);
  const bits = inA !== undefined && inA >= Math.min(wanted, enoughBits) ? inA : bitsIn(latticeSets.B, wanted, facts);
  if (bits !== undefined) return { ...asked, resolution_bits: bits };
  throw new TandemError(
    "LAYOUT_OVERFLOW",
    `the lattice scheme cannot hide ${facts.nodesMax} nodes of ${facts.rows} people. ` +
      "Use fewer trees or less noise, or the paillier scheme",
  );
}

/** The most that a set reaches of what is wanted. Noise is as wide as the grid is fine: each resolution has its own. */
function bitsIn(set: LatticeSet, wanted: number, facts: GridFacts): number | undefined {
  const budget = { nodesMax: facts.nodesMax, outputs: facts.outputsPerTree, candidateCount: candidatesAssumed };
  if (set === latticeSets.A && set.groups * budget.outputs > groupCountMax) return undefined; // B has room for more
  for (let bits = wanted; bits >= resolutionBitsMin; bits--) {
    const rows = { rowCount: Math.max(1, facts.rows), noiseMax: noiseAt(bits, facts) };
    if ((largestResolution(set, rows, budget) ?? 0) >= bits) return bits;
  }
  return undefined;
}

function noiseAt(resolutionBits: number, { answerNoise, maxDepth, maxLeaves }: GridFacts): number {
  return noiseScaleOf({ answerNoise, resolutionBits, maxDepth, maxLeaves })?.max ?? 0;
}
