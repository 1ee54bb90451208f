/**
 * Split candidates of a feature, in tie order: lowest threshold first, missing-right before missing-left; for
 * categorical features see gbdt/split/category-candidate.ts. With `bin_cuts: xgboost` it is XGBoost's order: all that
 * send missing values right, lowest threshold first, then those that send them left, highest first. A passive party
 * numbers its candidates in this order before it shuffles them.
 */
import { rowLoops } from "../../base/rows/row-loops.ts";
import { binIndexCount, type BinnedFeature } from "./binning.ts";
import {
  categoryCandidateCount,
  categoryCandidateIndex,
  categoryCandidates,
  isCategorical,
} from "./category-candidate.ts";

export interface ThresholdCandidate {
  /** Present values in bins 0..bin go left: x < thresholds[bin]; -1: none of them. */
  readonly bin: number;
  /** Missing values go left too. */
  readonly missingLeft: boolean;
}

export interface CategoryCandidate {
  /** The codes of the categories that go right, ascending; all others go left, also unknown ones. */
  readonly categories: readonly number[];
  readonly missingLeft: boolean;
}

export type Candidate = ThresholdCandidate | CategoryCandidate;

/**
 * Without missing values: bins 0..binCount-2. With: both directions of each of those, then "present left, missing
 * right". Its mirror image, "missing left, present right", is the same split except under a monotone constraint: only
 * then it is a separate candidate.
 */
export function candidatesOf(feature: BinnedFeature): Candidate[] {
  if (isCategorical(feature)) return categoryCandidates(feature);
  return Array.from({ length: candidateCount(feature) }, (_, index) => candidateAt(feature, index));
}

/** candidatesOf(feature)[index], without creating the others for numeric features. */
export function candidateAt(feature: BinnedFeature, index: number): Candidate {
  if (isCategorical(feature)) return categoryCandidates(feature)[index];
  const { binCount, hasMissing, missingLeftLast = false } = feature;
  if (!hasMissing) return { bin: index, missingLeft: false };
  if (index === 2 * binCount - 1) return { bin: -1, missingLeft: true };
  if (missingLeftLast)
    return index < binCount ? { bin: index, missingLeft: false } : { bin: 2 * binCount - 2 - index, missingLeft: true };
  return { bin: index >>> 1, missingLeft: (index & 1) === 1 };
}

/** The length of candidatesOf, without creating it. */
export function candidateCount(feature: BinnedFeature): number {
  if (isCategorical(feature)) return categoryCandidateCount(feature);
  return feature.hasMissing ? 2 * feature.binCount - 1 + (hasMirrored(feature) ? 1 : 0) : feature.binCount - 1;
}

/** A candidate's index in candidatesOf. */
export function candidateIndex(feature: BinnedFeature, candidate: Candidate): number {
  if ("categories" in candidate) return isCategorical(feature) ? categoryCandidateIndex(feature, candidate) : -1;
  return thresholdIndex(feature, candidate.bin, candidate.missingLeft);
}

/** candidateIndex of a numeric feature. */
export function thresholdIndex(feature: BinnedFeature, bin: number, missingLeft: boolean): number {
  const { binCount, hasMissing, missingLeftLast = false } = feature;
  if (bin < 0) return candidateCount(feature) - 1;
  if (missingLeftLast) return missingLeft ? 2 * binCount - 2 - bin : bin;
  return hasMissing ? 2 * bin + (missingLeft ? 1 : 0) : bin;
}

/** Whether "missing left, present right" is a candidate. */
export function hasMirrored({ hasMissing, monotone = 0 }: BinnedFeature): boolean {
  return hasMissing && monotone !== 0;
}

/** Values below it go left. */
export function candidateThreshold(feature: BinnedFeature, { bin }: ThresholdCandidate): number {
  return bin < 0 ? feature.lowest : feature.thresholds[bin];
}

/** Whether a bin index (a training instance's) goes left. */
export function binGoesLeft(feature: BinnedFeature, candidate: Candidate, bin: number): boolean {
  if (bin === feature.binCount) return candidate.missingLeft;
  return "categories" in candidate ? !candidate.categories.includes(bin) : bin <= candidate.bin;
}

/** Per bin index 1 if it goes left; the last two are missing values and values beyond all bins. */
export function leftBins(feature: BinnedFeature, candidate: Candidate): Uint8Array {
  return Uint8Array.from({ length: binIndexCount(feature) }, (_, bin) =>
    binGoesLeft(feature, candidate, bin) ? 1 : 0,
  );
}

/** Splits a node's instances, keeping their order. */
export function partition(
  feature: BinnedFeature,
  candidate: Candidate,
  instances: Uint32Array,
): { left: Uint32Array; right: Uint32Array } {
  const loops = rowLoops();
  const { inside, outside } = loops.divided(
    instances,
    loops.lookedUp(leftBins(feature, candidate), feature.bins, instances),
  );
  return { left: inside, right: outside };
}
