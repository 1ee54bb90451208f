/**
 * Gain, eq. (3), and leaf weight, eq. (4), with XGBoost's meaning: the gain is taken without the factor 1/2 and without
 * gamma, and gamma is then compared with it.
 *
 * Slot 0 holds g and slot 1 holds h of the one output. Several outputs would each have their own pair of slots.
 */
import { realSum, type SlotGrid } from "../base/quantised-gradients.ts";
import type { TrainingParameters } from "../base/parameters.ts";

export interface SplitParameters {
  readonly lambda: number;
  readonly gamma: number;
  readonly minChildWeight: number;
}

/** XGBoost's kRtEps: a gain up to this is rounding noise. */
const gainNoise = 1e-6;

export function splitParametersOf(parameters: TrainingParameters): SplitParameters {
  return { lambda: parameters.lambda, gamma: parameters.gamma, minChildWeight: parameters.min_child_weight };
}

/**
 * The gain of a split, given the integer sums of ONE of its sides, whichever. The other side is the complement, taken
 * in integers; both sides go through the same operations, and the two terms are added before the parent's is
 * subtracted, so the result is bit for bit the same for either side. The centralised trainer and the active party both
 * call this and nothing else.
 * @returns -Infinity for a candidate that is not allowed: a side that is empty, has H <= 0 or H < min_child_weight
 */
export function candidateGain(
  grids: readonly SlotGrid[],
  sideSums: ArrayLike<number>,
  sideCount: number,
  totalSums: ArrayLike<number>,
  totalCount: number,
  parameters: SplitParameters,
): number {
  return gainOf(grids, sideSums[0], sideSums[1], sideCount, totalSums[0], totalSums[1], totalCount, parameters);
}

/** candidateGain of many sides: `sides` has one row (slot sums, count) per candidate and `totals` is the node's row. */
export function candidateGains(
  grids: readonly SlotGrid[],
  sides: Float64Array,
  totals: Float64Array,
  parameters: SplitParameters,
): Float64Array {
  const stride = totals.length;
  const gains = new Float64Array(sides.length / stride);
  for (let c = 0; c < gains.length; c++) {
    const row = c * stride;
    const count = sides[row + stride - 1];
    gains[c] = gainOf(grids, sides[row], sides[row + 1], count, totals[0], totals[1], totals[stride - 1], parameters);
  }
  return gains;
}

function gainOf(
  grids: readonly SlotGrid[],
  sideG: number,
  sideH: number,
  sideCount: number,
  totalG: number,
  totalH: number,
  totalCount: number,
  { lambda, minChildWeight }: SplitParameters,
): number {
  const otherCount = totalCount - sideCount;
  if (sideCount <= 0 || otherCount <= 0) return -Infinity;
  const [gridG, gridH] = grids;
  const hA = realSum(gridH, sideH, sideCount);
  const hB = realSum(gridH, totalH - sideH, otherCount);
  // With lambda >= 0 this also rules out H + lambda <= 0. Quantised hessians may sum to zero or, in the paper's layout,
  // to slightly less; XGBoost refuses such a side as well.
  if (!(hA > 0 && hB > 0 && hA >= minChildWeight && hB >= minChildWeight)) return -Infinity;
  const termA = gainTerm(realSum(gridG, sideG, sideCount), hA, lambda);
  const termB = gainTerm(realSum(gridG, totalG - sideG, otherCount), hB, lambda);
  const termTotal = gainTerm(realSum(gridG, totalG, totalCount), realSum(gridH, totalH, totalCount), lambda);
  return termA + termB - termTotal; // eq. (3), symmetric in A and B
}

/** One term of eq. (3). */
function gainTerm(g: number, h: number, lambda: number): number {
  return (g * g) / (h + lambda);
}

/** XGBoost's rule for expanding a node: above rounding noise, and gamma itself is enough. */
export function isWorthSplitting(gain: number, gamma: number): boolean {
  return gain > gainNoise && gain >= gamma;
}

/** eq. (4), before shrinking; a node without enough hessian says nothing (XGBoost's CalcWeight). */
export function leafWeight(g: number, h: number, { lambda, minChildWeight }: SplitParameters): number {
  if (h < minChildWeight || h <= 0) return 0;
  return -g / (h + lambda);
}

/** What a leaf stores: shrunk by eta, in float32 as XGBoost keeps it; never -0, which JSON would lose. */
export function leafValue(weight: number, eta: number): number {
  return Math.fround(eta * weight) + 0;
}
