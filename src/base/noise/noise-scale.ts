/**
 * The noise that passive parties add to their sums, in the integers of the grid. Both parties compute its scale from
 * the agreed parameters, so that neither can claim another.
 */
import { TandemError } from "../error.ts";

export interface NoiseScale {
  /** The largest gradient of one instance on the grid, in every slot: 2^resolution_bits. */
  readonly unit: number;
  /** The standard deviation of a draw for a node: answer_noise units, times the root of the number of outputs. */
  readonly sigma: number;
  /** The largest magnitude of a draw: larger ones are rejected. */
  readonly drawnMax: number;
  /**
   * The largest magnitude of a node's noise. The noise of the larger child of a split is its parent's minus its
   * sibling's, so it is a sum of up to as many draws as there are levels.
   */
  readonly max: number;
}

/** In standard deviations: an honest draw exceeds it with probability 10^-57. */
const deviationsMax = 16;

/** The terms of a job that determine its noise. */
export interface NoiseTerms {
  readonly answerNoise: number;
  /** 0: the paper's layout. */
  readonly resolutionBits: number;
  /** 0: no limit but maxLeaves. */
  readonly maxDepth: number;
  /** 0: no limit but maxDepth. */
  readonly maxLeaves: number;
  /**
   * Pairs of g and h of an instance. It is in a sum of each output: independent noise in K of them hides it as well as
   * one does if each has sqrt(K) times the deviation.
   */
  readonly outputs: number;
}

/** @returns null in a job without noise. @throws TandemError USAGE for noise that the grid cannot hold */
export function toNoiseScale({
  answerNoise,
  resolutionBits,
  maxDepth,
  maxLeaves,
  outputs,
}: NoiseTerms): NoiseScale | null {
  if (answerNoise === 0) return null;
  if (resolutionBits === 0)
    throw new TandemError("USAGE", "answer_noise needs layout auto: the paper's layout has no room for noise");
  const unit = 2 ** resolutionBits;
  const sigma = answerNoise * unit * Math.sqrt(outputs);
  const drawnMax = Math.ceil(deviationsMax * sigma);
  // Requested nodes are one level above the deepest leaves.
  const levels = Math.min(maxDepth === 0 ? Infinity : maxDepth, maxLeaves === 0 ? Infinity : maxLeaves);
  const max = drawnMax * levels;
  if (!(max <= Number.MAX_SAFE_INTEGER))
    throw new TandemError(
      "USAGE",
      `noise of ${answerNoise} at resolution_bits ${resolutionBits} does not fit a double. ` +
        `Use --resolution-bits ${resolutionBits - Math.ceil(Math.log2(max / Number.MAX_SAFE_INTEGER))} or less`,
    );
  return { unit, sigma, drawnMax, max };
}
