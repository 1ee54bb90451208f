/** What both halves derive from a set-up: the parameters of the job, and the key of its public rows. */
import { TandemError } from "../../base/error.ts";
import { toNoiseScale } from "../../base/noise/noise-scale.ts";
import type { LayoutTerms } from "../../codec/agreed-layout.ts";
import { largestResolution } from "../../crypto/lattice/parameters/choose-set.ts";
import { commonKey, nonceBytes } from "../../crypto/lattice/common-key.ts";
import { type AnswerBudget, isHidden } from "../../crypto/lattice/parameters/distance.ts";
import { type JobBounds, jobBounds } from "../../crypto/lattice/parameters/job-bounds.ts";
import type { LatticeShape } from "../../crypto/lattice/kernel.ts";
import { type LatticeSet, latticeSets } from "../../crypto/lattice/parameters/sets.ts";

/** @throws TandemError PROTOCOL_STATE */
export function setNamed(name: string): LatticeSet {
  if (name !== "A" && name !== "B")
    throw new TandemError("PROTOCOL_STATE", "the set-up names an unknown parameter set");
  return latticeSets[name];
}

/** Splits nonces that are sent as one field. @throws TandemError PROTOCOL_STATE */
export function noncesFrom(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length % nonceBytes !== 0) throw new TandemError("PROTOCOL_STATE", "the list of nonces is truncated");
  return Array.from({ length: bytes.length / nonceBytes }, (_, i) =>
    bytes.subarray(i * nonceBytes, (i + 1) * nonceBytes),
  );
}

/** The terms of a job that determine its parameters. */
export interface LatticeTerms {
  readonly rowCount: number;
  readonly resolutionBits: number;
  readonly noiseMax: number;
  readonly masksSums: boolean;
}

export function latticeTerms(terms: LayoutTerms, rowCount: number): LatticeTerms {
  if (terms.resolutionBits === 0)
    throw new TandemError("USAGE", "the lattice scheme needs layout auto: the paper's layout has no room for signs");
  return {
    rowCount,
    resolutionBits: terms.resolutionBits,
    noiseMax: toNoiseScale(terms)?.max ?? 0,
    masksSums: terms.masksSums === true,
  };
}

/**
 * The parameters of a job whose answers reveal only sums.
 * @throws TandemError POLICY naming the resolution that would suffice
 */
export function hidingBounds(set: LatticeSet, terms: LatticeTerms, budget: AnswerBudget): JobBounds {
  const bounds = jobBounds(set, terms);
  if (isHidden(bounds, budget)) return bounds;
  const { nodesMax, candidateCount } = budget;
  const largest = largestResolution(set, terms, budget);
  throw new TandemError(
    "POLICY",
    `${nodesMax} nodes of ${candidateCount} candidates at resolution_bits ${terms.resolutionBits} would reveal more ` +
      `than sums. ${largest === undefined ? "Use fewer trees" : `Use --resolution-bits ${largest} or less`}`,
  );
}

export function jobShape(
  bounds: JobBounds,
  run: Uint8Array,
  activeNonce: Uint8Array,
  nonces: readonly Uint8Array[],
): LatticeShape {
  const { set, rowCount, t, slotBits } = bounds;
  return { set, rowCount, t, slotBits, crsKey: commonKey(run, activeNonce, nonces) };
}
