/**
 * Gain, eq. (3), and leaf weight, eq. (4), with XGBoost's meaning: the gain is taken without the factor 1/2 and without
 * gamma, and gamma is then compared with it. L1 regularisation and max_delta_step follow XGBoost 1.7, src/tree/param.h
 * (ThresholdL1, CalcWeight) and src/tree/split_evaluator.h (CalcGainGivenWeight).
 *
 * Slot 2k holds g and slot 2k+1 holds h of output k. A tree learns one output, or several at once with vector leaves;
 * then gains are summed over outputs.
 */
import { realSum, type SlotGrid } from "../base/quantised-gradients.ts";
import type { TrainingParameters } from "../base/parameters.ts";

export interface SplitParameters {
  readonly lambda: number;
  readonly gamma: number;
  readonly minChildWeight: number;
  readonly alpha: number;
  /** 0: no limit. */
  readonly maxDeltaStep: number;
}

/** XGBoost's kRtEps: a gain up to this is rounding noise. */
const gainNoise = 1e-6;

export function splitParametersOf(parameters: TrainingParameters): SplitParameters {
  return {
    lambda: parameters.lambda,
    gamma: parameters.gamma,
    minChildWeight: parameters.min_child_weight,
    alpha: parameters.alpha,
    maxDeltaStep: parameters.max_delta_step,
  };
}

/** The gains and leaf weights of one tree: everybody who grows it, in one place or in several, asks this and nothing else. */
export class TreeGain {
  readonly #grids: readonly SlotGrid[];
  readonly #parameters: SplitParameters;
  readonly #outputs: readonly number[];

  /** @param outputs those that the tree learns */
  constructor(grids: readonly SlotGrid[], parameters: SplitParameters, outputs: readonly number[] = [0]) {
    this.#grids = grids;
    this.#parameters = parameters;
    this.#outputs = outputs;
  }

  /**
   * The gains of splits, given one row (slot sums, count) per candidate, over ONE side of its split, whichever. The other
   * side is the complement, taken in integers; both sides go through the same operations, and their terms are added
   * before the parent's is subtracted, so the result is bit for bit the same for either side.
   * @param totals the node's row
   * @returns -Infinity for a candidate that is not allowed: a side that is empty, has H <= 0 or H < min_child_weight
   */
  gains(sides: Float64Array, totals: Float64Array): Float64Array {
    const stride = totals.length;
    const totalCount = totals[stride - 1];
    const totalTerm = this.#termOf(totals);
    const gains = new Float64Array(sides.length / stride);
    const { minChildWeight } = this.#parameters;
    for (let c = 0; c < gains.length; c++) {
      const row = c * stride;
      const count = sides[row + stride - 1];
      const otherCount = totalCount - count;
      gains[c] = -Infinity;
      if (count <= 0 || otherCount <= 0) continue;
      let hA = 0;
      let hB = 0;
      let termA = 0;
      let termB = 0;
      for (const output of this.#outputs) {
        const slot = 2 * output;
        const gridG = this.#grids[slot];
        const gridH = this.#grids[slot + 1];
        const g = sides[row + slot];
        const h = sides[row + slot + 1];
        const hOwn = realSum(gridH, h, count);
        const hOther = realSum(gridH, totals[slot + 1] - h, otherCount);
        hA += hOwn;
        hB += hOther;
        termA += this.#term(realSum(gridG, g, count), hOwn);
        termB += this.#term(realSum(gridG, totals[slot] - g, otherCount), hOther);
      }
      // With lambda >= 0 this also rules out H + lambda <= 0. Quantised hessians may sum to zero or, in the paper's
      // layout, to slightly less; XGBoost refuses such a side as well.
      if (!(hA > 0 && hB > 0 && hA >= minChildWeight && hB >= minChildWeight)) continue;
      gains[c] = termA + termB - totalTerm; // eq. (3), symmetric in A and B
    }
    return gains;
  }

  /** eq. (4) per output, before shrinking. */
  weights(totals: Float64Array): number[] {
    const count = totals[totals.length - 1];
    const sums = this.#outputs.map((output) => ({
      g: realSum(this.#grids[2 * output], totals[2 * output], count),
      h: realSum(this.#grids[2 * output + 1], totals[2 * output + 1], count),
    }));
    // A node without enough hessian says nothing (XGBoost's CalcWeight).
    const enough = sums.reduce((sum, { h }) => sum + h, 0) >= this.#parameters.minChildWeight;
    return sums.map(({ g, h }) => (enough ? this.#weight(g, h) : 0));
  }

  /** The real sum of a node's hessians. */
  cover(totals: Float64Array): number {
    return this.#outputs.reduce((sum, output) => sum + realSum(this.#grids[2 * output + 1], totals[2 * output + 1], totals[totals.length - 1]), 0);
  }

  #termOf(totals: Float64Array): number {
    const count = totals[totals.length - 1];
    let term = 0;
    for (const output of this.#outputs) {
      term += this.#term(realSum(this.#grids[2 * output], totals[2 * output], count), realSum(this.#grids[2 * output + 1], totals[2 * output + 1], count));
    }
    return term;
  }

  /** One term of eq. (3). */
  #term(g: number, h: number): number {
    if (h <= 0) return 0;
    const { lambda, alpha, maxDeltaStep } = this.#parameters;
    if (maxDeltaStep === 0) {
      const kept = thresholdL1(g, alpha);
      return (kept * kept) / (h + lambda);
    }
    const w = this.#weight(g, h);
    return -(2 * g * w + (h + lambda) * w * w);
  }

  #weight(g: number, h: number): number {
    if (h <= 0) return 0;
    const { lambda, alpha, maxDeltaStep } = this.#parameters;
    const weight = -thresholdL1(g, alpha) / (h + lambda);
    if (maxDeltaStep === 0 || Math.abs(weight) <= maxDeltaStep) return weight;
    return weight > 0 ? maxDeltaStep : -maxDeltaStep;
  }
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

/** What a leaf stores: shrunk by eta, in float32 as XGBoost keeps it; never -0, which JSON would lose. */
export function leafValue(weight: number, eta: number): number {
  return Math.fround(eta * weight) + 0;
}
