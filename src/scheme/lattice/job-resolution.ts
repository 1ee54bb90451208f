/**
 * The resolution at which a job's gradients are rounded. It is part of the handshake, before the passive parties have
 * announced their numbers of candidates: the active party assumes a number that most tables do not exceed.
 */
import { TandemError } from "../../base/error.ts";
import { toNoiseScale } from "../../base/noise/noise-scale.ts";
import type { CodecParameters } from "../../base/parameters/parameters.ts";
import { enoughBits, largestResolution } from "../../crypto/lattice/parameters/choose-set.ts";
import { groupCountMax } from "../../crypto/lattice/parameters/distance.ts";
import { resolutionBitsMax, resolutionBitsMin } from "../../crypto/lattice/parameters/job-bounds.ts";
import { type LatticeSet, latticeSets } from "../../crypto/lattice/parameters/sets.ts";
import type { GridFacts } from "../scheme.ts";

/** A party with more candidates is accepted if the job's parameters leave room for it. */
export const candidatesAssumed = 4096;

/**
 * The resolution of set A where it suffices, otherwise that of set B.
 * @throws TandemError LAYOUT_OVERFLOW if even the coarsest grid cannot be hidden
 */
export function latticeCodec(asked: CodecParameters, facts: GridFacts): CodecParameters {
  const wanted = Math.min(asked.resolution_bits, resolutionBitsMax);
  const inA = bitsIn(latticeSets.A, wanted, facts);
  const bits = inA !== undefined && inA >= Math.min(wanted, enoughBits) ? inA : bitsIn(latticeSets.B, wanted, facts);
  if (bits !== undefined) return { ...asked, resolution_bits: bits };
  throw new TandemError(
    "LAYOUT_OVERFLOW",
    `the lattice scheme cannot hide ${facts.nodesMax} nodes of ${facts.rows} rows. ` +
      "Use fewer trees or less noise, or the paillier scheme",
  );
}

/** The highest resolution that a set reaches, up to the wanted one. Noise grows with the resolution of the grid. */
function bitsIn(set: LatticeSet, wanted: number, facts: GridFacts): number | undefined {
  const budget = { nodesMax: facts.nodesMax, outputs: facts.outputsPerTree, candidateCount: candidatesAssumed };
  if (set === latticeSets.A && set.groups * budget.outputs > groupCountMax) return undefined; // B has room for more
  for (let bits = wanted; bits >= resolutionBitsMin; bits--) {
    const rows = { rowCount: Math.max(1, facts.rows), noiseMax: noiseAt(bits, facts) };
    if ((largestResolution(set, rows, budget) ?? 0) >= bits) return bits;
  }
  return undefined;
}

function noiseAt(resolutionBits: number, facts: GridFacts): number {
  return toNoiseScale({ ...facts, resolutionBits })?.max ?? 0;
}
