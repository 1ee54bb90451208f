/**
 * Probabilities as points of a scorecard: a fixed number of points doubles the odds of label 0 ("good") to label 1
 * ("bad"), so that more points mean less risk.
 *
 * Runs in browsers too.
 */

export interface ScorecardScale {
  /** Points that double the odds. */
  readonly pointsToDouble: number;
  /** The points at these odds, of good to bad. */
  readonly basePoints: number;
  readonly baseOdds: number;
}

/** A customary scale: 600 points are odds of 50 to 1, and 20 points double them. */
export const usualScale: ScorecardScale = { pointsToDouble: 20, basePoints: 600, baseOdds: 50 };

/** Points = offset + factor ln(odds). */
export function factorAndOffset({ pointsToDouble, basePoints, baseOdds }: ScorecardScale) {
  const factor = pointsToDouble / Math.LN2;
  return { factor, offset: basePoints - factor * Math.log(baseOdds) };
}

/** @param probability of label 1 */
export function pointsOf(probability: number, scale: ScorecardScale): number {
  const { factor, offset } = factorAndOffset(scale);
  return offset + factor * Math.log((1 - probability) / probability);
}
