/**
 * Split candidates of a feature, in the order that breaks ties: lowest threshold first, missing-right before
 * missing-left. A passive party numbers its candidates by this order before it shuffles them.
 */
import type { BinnedFeature } from "./binning.ts";

export interface Candidate {
  /** Present values in bins 0..bin go left: x < thresholds[bin]; -1: none of them. */
  readonly bin: number;
  /** Missing values go left too. */
  readonly missingLeft: boolean;
}

/**
 * Without missing values: bins 0..binCount-2. With: both directions of each of those, then "present left, missing
 * right". Its mirror image, "missing left, present right", is the same split, but for a monotone constraint, which asks
 * something else of it: only then it is a candidate of its own.
 */
export function candidatesOf(feature: BinnedFeature): Candidate[] {
  const candidates: Candidate[] = [];
  for (let bin = 0; bin < feature.binCount - 1; bin++) {
    candidates.push({ bin, missingLeft: false });
    if (feature.hasMissing) candidates.push({ bin, missingLeft: true });
  }
  if (feature.hasMissing) candidates.push({ bin: feature.binCount - 1, missingLeft: false });
  if (hasMirrored(feature)) candidates.push({ bin: -1, missingLeft: true });
  return candidates;
}

/** The length of candidatesOf, without making it. */
export function candidateCount(feature: BinnedFeature): number {
  return feature.hasMissing ? 2 * feature.binCount - 1 + (hasMirrored(feature) ? 1 : 0) : feature.binCount - 1;
}

/** A candidate's place in candidatesOf. */
export function candidateIndex(feature: BinnedFeature, { bin, missingLeft }: Candidate): number {
  if (bin < 0) return candidateCount(feature) - 1;
  return feature.hasMissing ? 2 * bin + (missingLeft ? 1 : 0) : bin;
}

/** Whether "missing left, present right" is a candidate. */
export function hasMirrored({ hasMissing, monotone = 0 }: BinnedFeature): boolean {
  return hasMissing && monotone !== 0;
}

/** Values below it go left. */
export function thresholdOf(feature: BinnedFeature, { bin }: Candidate): number {
  return bin < 0 ? feature.lowest : feature.thresholds[bin];
}

/** Whether a bin index (a training instance's) goes left. */
export function binGoesLeft(feature: BinnedFeature, candidate: Candidate, bin: number): boolean {
  return bin === feature.binCount ? candidate.missingLeft : bin <= candidate.bin;
}

/** Splits a node's instances, keeping their order. */
export function partition(
  feature: BinnedFeature,
  candidate: Candidate,
  instances: Uint32Array,
): { left: Uint32Array; right: Uint32Array } {
  const left = new Uint32Array(instances.length);
  const right = new Uint32Array(instances.length);
  let leftCount = 0;
  let rightCount = 0;
  for (const instance of instances) {
    if (binGoesLeft(feature, candidate, feature.bins[instance])) left[leftCount++] = instance;
    else right[rightCount++] = instance;
  }
  return { left: left.slice(0, leftCount), right: right.slice(0, rightCount) };
}
