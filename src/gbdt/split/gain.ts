/**
 * Gain, eq. (3), and leaf weight, eq. (4), as XGBoost defines them: the gain is computed without the factor 1/2 and
 * without gamma, and gamma is then compared with it. L1 regularisation and max_delta_step follow XGBoost 1.7,
 * src/tree/param.h (ThresholdL1, CalcWeight) and src/tree/split_evaluator.h (CalcGainGivenWeight).
 *
 * Slot 2k holds g and slot 2k+1 holds h of output k; a row has one or two numbers per slot. A tree has one output, or
 * several with vector leaves; then gains are summed over outputs. With vector leaves min_child_weight rejects no split:
 * as in XGBoost 2.1 and 3.2 (src/tree/hist/evaluate_splits.h, HistMultiEvaluator) an output with less hessian than that
 * has weight 0 and adds nothing to the gain of its side.
 */
import {
  type QuantisedGradients,
  realSum,
  sentGradients,
  type SlotGrid,
  slotSum,
  slotSumOfRest,
} from "../../base/gradients/quantised-gradients.ts";
import type { NoiseScale } from "../../base/noise/noise-scale.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { IntegerRule, type NodeRule } from "./integer-rule.ts";

export interface SplitParameters {
  readonly lambda: number;
  readonly gamma: number;
  readonly minChildWeight: number;
  readonly alpha: number;
  /** 0: no limit. */
  readonly maxDeltaStep: number;
  /** How many categories are tried from either end of their order; left out: all. */
  readonly maxCatThreshold?: number;
}

/** XGBoost's kRtEps: a gain up to this is rounding noise. */
const gainNoise = 1e-6;

/**
 * How many standard deviations a gain from noisy sums must be above one from exact sums; chosen by measurement
 * (docs/decisions/0039-noise-aware-gain.md).
 */
const noiseDeviations = 1;

export function toSplitParameters(parameters: TrainingParameters): SplitParameters {
  return {
    lambda: parameters.lambda,
    gamma: parameters.gamma,
    minChildWeight: parameters.min_child_weight,
    alpha: parameters.alpha,
    maxDeltaStep: parameters.max_delta_step,
    maxCatThreshold: parameters.max_cat_threshold,
  };
}

/** Bounds of the leaf weights below a node: monotone constraints narrow them on the way down. */
export interface WeightBounds {
  readonly lower: number;
  readonly upper: number;
  /**
   * The parent's bounds: XGBoost takes the node's own term of the gain within them (evaluate_splits.h, ApplyTreeSplit).
   */
  readonly parent: WeightBounds | null;
}

export const unbounded: WeightBounds = { lower: -Infinity, upper: Infinity, parent: null };

/**
 * The side of a split that must have the lower weight under a monotone constraint. 1: the summed side's weight must not
 * be above the other side's. -1: not below. 0: no constraint. One for all candidates, or one per candidate.
 */
export type LowerSide = number | Int8Array;

/**
 * How many draws of a passive party's noise (base/noise/noise-scale.ts) a candidate's sums contain. One for all
 * candidates, or one per candidate.
 */
export type NoiseDraws = number | Float64Array;

/** The gains of a tree: from own sums, which leaf weights are computed from too, and from those of passive parties. */
export interface TreeGains {
  readonly own: TreeGain;
  readonly sent: TreeGain;
}

/**
 * @param isConstrained some party has monotone constraints
 * @param hidesSums candidates of one party are compared in integers (integer-rule.ts)
 */
export function treeGains(
  gradients: QuantisedGradients,
  parameters: SplitParameters,
  outputs: readonly number[],
  isConstrained: boolean,
  hidesSums = false,
): TreeGains {
  const gainOf = ({ grids, hidesCounts = false, noise }: QuantisedGradients): TreeGain =>
    new TreeGain(grids, parameters, { outputs, isConstrained, hidesCounts, noise, hidesSums });
  const own = gainOf(gradients);
  return { own, sent: gradients.sent === undefined ? own : gainOf(sentGradients(gradients)) };
}

/**
 * The gains and leaf weights of one tree, used by centralised and federated training alike.
 */
export class TreeGain {
  readonly #grids: readonly SlotGrid[];
  readonly #parameters: SplitParameters;
  readonly #outputs: readonly number[];
  readonly #isConstrained: boolean;
  readonly #hidesCounts: boolean;
  /** Per slot the variance of one draw. */
  readonly #noiseVariances: readonly number[];
  /** Null: candidates are compared by their gains. */
  readonly #rule: IntegerRule | null;

  /**
   * @param outputs those of the tree
   * @param isConstrained some party has monotone constraints: XGBoost then computes every gain from bounded weights
   * @param hidesCounts rows of passive parties have no counts (there is noise): then counts are not used. An empty
   * side of
   *   exact sums has H = 0, and passive parties offer none
   * @param noise of passive parties; left out: none
   * @param hidesSums the tree has one output, and its sums are below 2^32
   */
  constructor(
    grids: readonly SlotGrid[],
    parameters: SplitParameters,
    {
      outputs = [0],
      isConstrained = false,
      hidesCounts = false,
      noise,
      hidesSums = false,
    }: {
      readonly outputs?: readonly number[];
      readonly isConstrained?: boolean;
      readonly hidesCounts?: boolean;
      readonly noise?: NoiseScale | undefined;
      readonly hidesSums?: boolean;
    } = {},
  ) {
    this.#grids = grids;
    this.#parameters = parameters;
    this.#outputs = outputs;
    this.#isConstrained = isConstrained;
    this.#hidesCounts = hidesCounts;
    this.#noiseVariances = grids.map(({ resolution }) => ((noise?.sigma ?? 0) * resolution) ** 2);
    const { resolution } = grids[2 * outputs[0] + 1];
    this.#rule = hidesSums ? new IntegerRule(resolution, parameters.lambda, parameters.minChildWeight) : null;
  }

  /** The slot of g; that of h follows. Where sums are hidden a tree has one output. */
  get slot(): number {
    return 2 * this.#outputs[0];
  }

  /** The order of a node's candidates within one party; null: that of their gains. @param totals the node's row */
  ruleOf(totals: Float64Array): NodeRule | null {
    return this.#rule?.node(totals[this.slot], totals[this.slot + 1]) ?? null;
  }

  /**
   * The gains of splits, given one row (sums, count) per candidate, over either side of its split. The other side is
   * the complement, computed in integers; both sides go through the same operations, and their terms are added before
   * the parent's is subtracted, so the result is bit for bit the same for either side.
   *
   * From the gain of noisy sums, what noise adds to it in expectation is subtracted, and some standard deviations of
   * what it may add: otherwise candidates win by their noise (docs/decisions/0039-noise-aware-gain.md).
   * @param totals the node's row, without noise
   * @param lowerSide monotone constraints
   * @returns -Infinity for a candidate that is not allowed: a side that is empty, has H <= 0 or, of a tree with one
   *   output, H < min_child_weight, or the lower weight on the wrong side
   */
  gains(
    sides: Float64Array,
    totals: Float64Array,
    bounds: WeightBounds = unbounded,
    lowerSide: LowerSide = 0,
    draws: NoiseDraws = 0,
  ): Float64Array {
    const stride = totals.length;
    const limbs = this.#limbsOf(totals);
    const totalCount = totals[stride - 1];
    const totalTerm = this.#termOf(totals, bounds.parent ?? unbounded);
    const gains = new Float64Array(sides.length / stride);
    const smallest = this.#isVector ? 0 : this.#parameters.minChildWeight;
    const noise = new GainNoise(this.#parameters.lambda);
    for (let c = 0; c < gains.length; c++) {
      const row = c * stride;
      const count = sides[row + stride - 1];
      const otherCount = totalCount - count;
      gains[c] = -Infinity;
      if (!this.#hidesCounts && (count <= 0 || otherCount <= 0)) continue;
      let hA = 0;
      let hB = 0;
      let termA = 0;
      let termB = 0;
      const drawn = typeof draws === "number" ? draws : draws[c];
      noise.reset();
      for (const output of this.#outputs) {
        const slot = 2 * output;
        const gridG = this.#grids[slot];
        const gridH = this.#grids[slot + 1];
        const hOwn = realSum(gridH, slotSum(sides, row, slot + 1, limbs), count);
        const hOther = realSum(gridH, slotSumOfRest(totals, sides, row, slot + 1, limbs), otherCount);
        const gOwn = realSum(gridG, slotSum(sides, row, slot, limbs), count);
        const gOther = realSum(gridG, slotSumOfRest(totals, sides, row, slot, limbs), otherCount);
        hA += hOwn;
        hB += hOther;
        termA += this.#term(gOwn, hOwn, bounds);
        termB += this.#term(gOther, hOther, bounds);
        if (drawn === 0) continue;
        const [wOwn, wOther] = [this.#bounded(gOwn, hOwn, bounds), this.#bounded(gOther, hOther, bounds)];
        noise.add(this.#noiseVariances[slot], this.#noiseVariances[slot + 1], hOwn, wOwn, hOther, wOther);
      }
      // With lambda >= 0 this also rules out H + lambda <= 0. Quantised hessians may sum to zero or, in the paper's
      // layout, to slightly less; XGBoost rejects such a side as well.
      if (!(hA > 0 && hB > 0 && hA >= smallest && hB >= smallest)) continue;
      const wanted = typeof lowerSide === "number" ? lowerSide : lowerSide[c];
      if (wanted !== 0 && !this.#isOrdered(sides, row, totals, bounds, wanted)) continue;
      gains[c] = termA + termB - totalTerm; // eq. (3), symmetric in A and B
      if (drawn > 0) gains[c] = noise.takenOff(gains[c], drawn);
    }
    return gains;
  }

  /** How many categories are tried from either end of their order. */
  get maxCatThreshold(): number {
    return this.#parameters.maxCatThreshold ?? Infinity;
  }

  /** eq. (4) per output, before shrinking. */
  weights(totals: Float64Array, bounds: WeightBounds = unbounded): number[] {
    const sums = this.#outputs.map((output) => ({
      g: this.#real(totals, 2 * output),
      h: this.#real(totals, 2 * output + 1),
    }));
    // An output without enough hessian has weight 0 (XGBoost's CalcWeight).
    const { minChildWeight } = this.#parameters;
    return sums.map(({ g, h }) => clipped(h >= minChildWeight ? this.#weight(g, h) : 0, bounds));
  }

  /** The real sum of a node's hessians. */
  cover(totals: Float64Array): number {
    return this.#outputs.reduce((sum, output) => sum + this.#real(totals, 2 * output + 1), 0);
  }

  /** Leaves have a weight per output. */
  get #isVector(): boolean {
    return this.#outputs.length > 1;
  }

  /** Constrained trees have one output. */
  #isOrdered(sides: Float64Array, row: number, totals: Float64Array, bounds: WeightBounds, wanted: number): boolean {
    const [output] = this.#outputs;
    const [slot, last, limbs] = [2 * output, totals.length - 1, this.#limbsOf(totals)];
    const weight = (sumOf: (slot: number) => number, count: number): number =>
      this.#bounded(
        realSum(this.#grids[slot], sumOf(slot), count),
        realSum(this.#grids[slot + 1], sumOf(slot + 1), count),
        bounds,
      );
    const own = weight((at) => slotSum(sides, row, at, limbs), sides[row + last]);
    const other = weight((at) => slotSumOfRest(totals, sides, row, at, limbs), totals[last] - sides[row + last]);
    return wanted > 0 ? own <= other : own >= other;
  }

  #termOf(totals: Float64Array, bounds: WeightBounds): number {
    let term = 0;
    for (const output of this.#outputs)
      term += this.#term(this.#real(totals, 2 * output), this.#real(totals, 2 * output + 1), bounds);
    return term;
  }

  /** The real sum of a slot over a node. */
  #real(totals: Float64Array, slot: number): number {
    return realSum(this.#grids[slot], slotSum(totals, 0, slot, this.#limbsOf(totals)), totals[totals.length - 1]);
  }

  #limbsOf(totals: Float64Array): number {
    return (totals.length - 1) / this.#grids.length;
  }

  /** One term of eq. (3). */
  #term(g: number, h: number, bounds: WeightBounds): number {
    const { lambda, alpha, maxDeltaStep, minChildWeight } = this.#parameters;
    if (h <= 0 || (this.#isVector && h < minChildWeight)) return 0;
    const kept = thresholdL1(g, alpha);
    // Where sums are hidden max_delta_step limits leaf weights only: the rule has no term for it.
    if ((maxDeltaStep === 0 || this.#rule !== null) && !this.#isConstrained) return (kept * kept) / (h + lambda);
    // param.h, CalcGainGivenWeight of vectors; constrained trees have one output.
    if (this.#isVector) return -this.#weight(g, h) * kept;
    const w = this.#bounded(g, h, bounds);
    return -(2 * g * w + (h + lambda) * w * w);
  }

  #bounded(g: number, h: number, bounds: WeightBounds): number {
    return clipped(this.#weight(g, h), bounds);
  }

  #weight(g: number, h: number): number {
    if (h <= 0) return 0;
    const { lambda, alpha, maxDeltaStep } = this.#parameters;
    const weight = -thresholdL1(g, alpha) / (h + lambda);
    if (maxDeltaStep === 0 || Math.abs(weight) <= maxDeltaStep) return weight;
    return weight > 0 ? maxDeltaStep : -maxDeltaStep;
  }
}

/** What noise in the sums of a candidate does to its gain, up to second order; symmetric in its sides A and B. */
class GainNoise {
  readonly #lambda: number;
  /** Of one draw. */
  #expectation = 0;
  #variance = 0;

  constructor(lambda: number) {
    this.#lambda = lambda;
  }

  reset(): void {
    this.#expectation = 0;
    this.#variance = 0;
  }

  /** Adds one output, given the variances of its noise, and the hessian and the leaf weight of each side. */
  add(ofG: number, ofH: number, hA: number, wA: number, hB: number, wB: number): void {
    this.#expectation += this.#expected(ofG, ofH, hA, wA) + this.#expected(ofG, ofH, hB, wB);
    this.#variance += (wA - wB) ** 2 * (4 * ofG + (wA + wB) ** 2 * ofH);
  }

  takenOff(gain: number, draws: number): number {
    const corrected = gain - draws * this.#expectation - noiseDeviations * Math.sqrt(draws * this.#variance);
    return Number.isNaN(corrected) ? -Infinity : corrected; // beyond the range of doubles
  }

  /** A side without a hessian has no term in the gain. */
  #expected(ofG: number, ofH: number, h: number, w: number): number {
    return h <= 0 ? 0 : (ofG + w * w * ofH) / (h + this.#lambda);
  }
}

function clipped(weight: number, { lower, upper }: WeightBounds): number {
  return Math.min(Math.max(weight, lower), upper);
}

/** L1 regularisation takes alpha off the gradient sum, down to zero. */
function thresholdL1(g: number, alpha: number): number {
  if (g > alpha) return g - alpha;
  if (g < -alpha) return g + alpha;
  return 0;
}

/** XGBoost's rule for expanding a node: above rounding noise, and gamma itself is enough. */
export function isWorthSplitting(gain: number, gamma: number): boolean {
  return gain > gainNoise && gain >= gamma;
}

/** The stored leaf value: shrunk by eta, in float32 as in XGBoost; never -0, which JSON would lose. */
export function leafValue(weight: number, eta: number): number {
  return Math.fround(eta * weight) + 0;
}
