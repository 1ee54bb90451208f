/**
 * Which bins a passive party adds up for each of its split candidates, and in which order the sums are sent.
 *
 * A candidate is sent as the sum over ONE side of its split; the active party knows the node's total and the gain is
 * symmetric, so it never needs to know which side it was. The side sent is the one that leaves out the feature's most
 * frequent bin (at the root), which therefore is never summed at all. The choice is fixed per tree and feature:
 * siblings are obtained by subtraction, which must not mix sides.
 *
 * With bins 0..B-1, missing bin M and skipped bin m, a candidate (k, missing right) is one of
 *   prefix(k) = 0..k                    if m is not in it,
 *   M + suffix(k) = M, k+1..B-1         otherwise,
 * and (k, missing left) one of suffix(k) = k+1..B-1 or M + prefix(k). All of them are partial sums of four chains per
 * feature: prefix, M + prefix, suffix, M + suffix.
 *
 * For a categorical feature a candidate is the sum over the categories that it splits off, or over all other bins if
 * the skipped bin is among them.
 */
import { type BinnedFeature, totalBinCount } from "../../gbdt/split/binning.ts";
import { type Candidate, candidatesOf, type CategoryCandidate, hasMirrored } from "../../gbdt/split/candidate.ts";
import {
  type CategoricalFeature,
  categoryCandidates,
  isCategorical,
  rightBins,
} from "../../gbdt/split/category-candidate.ts";

/** One of this party's candidates: its feature and its threshold or categories. */
export type PlannedCandidate = Candidate & {
  readonly feature: number;
};

/** In place of a skipped bin: the left side of every candidate is summed, as where sums are hidden. */
export const leftSidesOnly = -2;

export interface CandidatePlan {
  /** Per feature the skipped bin, or -1. */
  readonly skippedBins: Int32Array;
  readonly binCounts: Uint32Array;
  /** Candidates in tie order: feature, threshold, missing right before left. */
  readonly candidates: readonly PlannedCandidate[];
  /** positions[candidate]: its position in the tree's secret order. */
  readonly positions: Uint32Array;
  /** Chains of additions over the concatenated bins of all features; targets are positions. */
  readonly chainOffsets: Uint32Array;
  readonly sources: Uint32Array;
  readonly targets: Int32Array;
  /** Per position the monotone constraint of the side that is sent (LowerSide). */
  readonly lowerSides: Int8Array;
  /** Per position which side is sent: 1 the left one, -1 the right one. */
  readonly sides: Int8Array;
}

/** All candidates of a party, in tie order. */
export function listCandidates(features: readonly BinnedFeature[]): PlannedCandidate[] {
  return features.flatMap((feature, index) =>
    candidatesOf(feature).map((candidate) => ({ feature: index, ...candidate })),
  );
}

/** The most frequent bin of each feature over the given instances, lowest index on ties. */
export function mostFrequentBins(features: readonly BinnedFeature[], instances: Uint32Array): Int32Array {
  return Int32Array.from(features, (feature) => {
    const counts = new Uint32Array(totalBinCount(feature));
    for (const instance of instances) counts[feature.bins[instance]]++;
    return counts.indexOf(counts.reduce((a, b) => Math.max(a, b), 0));
  });
}

/** Per feature the bin of the median of the given instances; for categorical features the most frequent bin. */
export function middleBins(features: readonly BinnedFeature[], instances: Uint32Array): Int32Array {
  const frequent = mostFrequentBins(features, instances);
  return Int32Array.from(features, (feature, index) => {
    if (isCategorical(feature)) return frequent[index];
    const counts = new Uint32Array(feature.binCount);
    for (const instance of instances) if (feature.bins[instance] < feature.binCount) counts[feature.bins[instance]]++;
    const present = counts.reduce((a, b) => a + b, 0);
    let below = 0;
    return Math.max(
      0,
      counts.findIndex((count) => 2 * (below += count) >= present),
    );
  });
}

/**
 * @param skippedBins per feature the skipped bin, or -1, or leftSidesOnly
 * @param positions a permutation of the candidates
 */
export function planCandidates(
  features: readonly BinnedFeature[],
  candidates: readonly PlannedCandidate[],
  skippedBins: Int32Array,
  positions: Uint32Array,
): CandidatePlan {
  const chains = new ChainList();
  const lowerSides = new Int8Array(candidates.length);
  const sides = new Int8Array(candidates.length);
  let firstBin = 0;
  let firstCandidate = 0;
  features.forEach((feature, index) => {
    const own = candidatesOf(feature);
    const ownPositions = positions.subarray(firstCandidate, firstCandidate + own.length);
    if (isCategorical(feature)) {
      addCategoryChains(chains, feature, firstBin, skippedBins[index], ownPositions, sides);
    } else {
      const target = new Map(own.map((candidate, i) => [sideKey(candidate), ownPositions[i]]));
      addChains(chains, feature, firstBin, skippedBins[index], (bin, missingLeft, isLeftSide) => {
        const position = target.get(sideKey({ bin, missingLeft })) ?? -1;
        if (position < 0) return -1;
        sides[position] = isLeftSide ? 1 : -1;
        lowerSides[position] = (feature.monotone ?? 0) * sides[position];
        return position;
      });
    }
    firstBin += totalBinCount(feature);
    firstCandidate += own.length;
  });
  const binCounts = Uint32Array.from(features, totalBinCount);
  return {
    skippedBins: skippedBins.map((bin) => Math.max(-1, bin)),
    binCounts,
    candidates,
    positions,
    lowerSides,
    sides,
    ...chains.arrays(),
  };
}

function sideKey(candidate: Candidate): number {
  return "bin" in candidate ? candidate.bin * 2 + (candidate.missingLeft ? 1 : 0) : Number.NaN;
}

type TargetOf = (bin: number, missingLeft: boolean, isLeftSide: boolean) => number;

function addChains(
  chains: ChainList,
  feature: BinnedFeature,
  firstBin: number,
  skipped: number,
  targetOf: TargetOf,
): void {
  const last = feature.binCount - 1;
  const missing = feature.hasMissing ? firstBin + feature.binCount : -1;
  const presentSkipped = skipped >= 0 && skipped <= last;
  const isLeftOnly = skipped === leftSidesOnly;
  // Cuts below `turn` are summed from the left, the others from the right; if no present bin is skipped,
  // every (k, missing right) is a prefix and every (k, missing left) a suffix.
  const turn = presentSkipped ? skipped : last + 1;

  // prefix: 0..k stands for (k, missing right).
  chains.begin();
  for (let k = 0; k < Math.min(turn, last + 1); k++) chains.step(firstBin + k, targetOf(k, false, true));

  // M + prefix: the complement of suffix(k), stands for (k, missing left).
  if (missing >= 0 && (presentSkipped || isLeftOnly)) {
    chains.begin();
    chains.step(missing, -1);
    for (let k = 0; k < Math.min(turn, last); k++) chains.step(firstBin + k, targetOf(k, true, true));
  }

  // suffix: k+1..B-1 stands for (k, missing left), or without missing values for (k, missing right).
  const suffixFrom = presentSkipped ? turn : 0;
  if ((missing >= 0 || presentSkipped) && !isLeftOnly) {
    chains.begin();
    for (let k = last - 1; k >= suffixFrom; k--) chains.step(firstBin + k + 1, targetOf(k, missing >= 0, false));
  }

  // M + suffix: the complement of prefix(k); M alone is the complement of "all present left".
  if (missing >= 0 && presentSkipped) {
    chains.begin();
    chains.step(missing, targetOf(last, false, false));
    for (let k = last - 1; k >= turn; k--) chains.step(firstBin + k + 1, targetOf(k, false, false));
  }

  // "Missing left, present right", where it is a candidate: M, or all the others if M is skipped.
  if (!hasMirrored(feature)) return;
  chains.begin();
  if (skipped !== feature.binCount) chains.step(missing, targetOf(-1, true, true));
  else for (let k = 0; k <= last; k++) chains.step(firstBin + k, k < last ? -1 : targetOf(-1, true, false));
}

/** Whether a candidate is summed over the complement of its categories, because the skipped bin is among these. */
export function isFlipped(feature: BinnedFeature, candidate: CategoryCandidate, skipped: number): boolean {
  return skipped === leftSidesOnly || rightBins(feature, candidate).includes(skipped);
}

/** One chain per candidate: short, except for the one that is flipped. */
function addCategoryChains(
  chains: ChainList,
  feature: CategoricalFeature,
  firstBin: number,
  skipped: number,
  positions: Uint32Array,
  sides: Int8Array,
): void {
  const all = Array.from({ length: totalBinCount(feature) }, (_, bin) => bin);
  categoryCandidates(feature).forEach((candidate, i) => {
    const right = rightBins(feature, candidate);
    const summed = isFlipped(feature, candidate, skipped) ? all.filter((bin) => !right.includes(bin)) : right;
    sides[positions[i]] = summed === right ? -1 : 1;
    chains.begin();
    summed.forEach((bin, step) => chains.step(firstBin + bin, step === summed.length - 1 ? positions[i] : -1));
  });
}

class ChainList {
  readonly #offsets: number[] = [];
  readonly #sources: number[] = [];
  readonly #targets: number[] = [];

  begin(): void {
    this.#offsets.push(this.#sources.length);
  }

  step(source: number, target: number): void {
    this.#sources.push(source);
    this.#targets.push(target);
  }

  arrays(): Pick<CandidatePlan, "chainOffsets" | "sources" | "targets"> {
    return {
      chainOffsets: Uint32Array.from([...this.#offsets, this.#sources.length]),
      sources: Uint32Array.from(this.#sources),
      targets: Int32Array.from(this.#targets),
    };
  }
}

/**
 * Instances per bin, over the concatenated bins of all features of a plan.
 * @param bins per feature the bin at each position
 */
export function countBins(bins: readonly Uint16Array[], plan: CandidatePlan, positions: Uint32Array): Uint32Array {
  const counts = new Uint32Array(plan.binCounts.reduce((a, b) => a + b, 0));
  let first = 0;
  bins.forEach((column, index) => {
    for (let i = 0; i < positions.length; i++) counts[first + column[positions[i]]]++;
    first += plan.binCounts[index];
  });
  return counts;
}

/** Per position the number of instances on the side that is sent. */
export function sideCounts(plan: CandidatePlan, binCounts: Uint32Array): Uint32Array {
  const counts = new Uint32Array(plan.candidates.length);
  for (let chain = 0; chain + 1 < plan.chainOffsets.length; chain++) {
    let sum = 0;
    for (let step = plan.chainOffsets[chain]; step < plan.chainOffsets[chain + 1]; step++) {
      sum += binCounts[plan.sources[step]];
      if (plan.targets[step] >= 0) counts[plan.targets[step]] = sum;
    }
  }
  return counts;
}

/**
 * Homomorphic additions of a node: the first value of a bin is a copy; along the chains empty bins are added like
 * others.
 */
export function planAdditions(plan: CandidatePlan, binCounts: Uint32Array): number {
  let additions = 0;
  let first = 0;
  plan.binCounts.forEach((count, feature) => {
    for (let bin = 0; bin < count; bin++) {
      if (bin !== plan.skippedBins[feature]) additions += Math.max(0, binCounts[first + bin] - 1);
    }
    first += count;
  });
  for (let chain = 0; chain + 1 < plan.chainOffsets.length; chain++)
    additions += Math.max(0, plan.chainOffsets[chain + 1] - plan.chainOffsets[chain] - 1);
  return additions;
}

/** The plan's chains, repeated for each ciphertext of an instance. */
export function widened(
  plan: CandidatePlan,
  width: number,
): Pick<CandidatePlan, "chainOffsets" | "sources" | "targets"> {
  if (width === 1) return plan;
  const chainCount = plan.chainOffsets.length - 1;
  const stepCount = plan.sources.length;
  const chainOffsets = new Uint32Array(chainCount * width + 1);
  const sources = new Uint32Array(stepCount * width);
  const targets = new Int32Array(stepCount * width);
  for (let j = 0; j < width; j++) {
    for (let chain = 0; chain < chainCount; chain++)
      chainOffsets[j * chainCount + chain] = j * stepCount + plan.chainOffsets[chain];
    for (let step = 0; step < stepCount; step++) {
      sources[j * stepCount + step] = plan.sources[step] * width + j;
      targets[j * stepCount + step] = plan.targets[step] < 0 ? -1 : plan.targets[step] * width + j;
    }
  }
  chainOffsets[chainCount * width] = stepCount * width;
  return { chainOffsets, sources, targets };
}
