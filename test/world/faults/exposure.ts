/**
 * How open a job is to faults, as an undisturbed one shows it. A job whose rounds take three times the calls of another
 * would meet three times the faults a round, and hardly ever get one done: so shares are for a round of usual length,
 * and smaller where rounds are longer. How often a job may be tried then follows, and is not a matter of trial.
 */

/** A stretch of a job: a round, or what is before and after the rounds. It is done within one attempt, or redone. */
export interface Stretch {
  readonly calls: number;
  /** Minus the logarithm of the chance that no fault ends an attempt here, or more. It goes with the shares. */
  readonly faults: number;
}

export interface JobExposure {
  /** What every attempt begins with. */
  readonly join: Stretch;
  readonly stretches: readonly Stretch[];
}

/** What a seed multiplies shares with, at most. Minus log(1 - x) bends upwards: up to here it lies below its chord. */
export const shareMax = 1.5;
/** Of a round of three levels and one tree, with two passive parties: shares of faults are meant for it. */
const usualCalls = 16;
/** A job that nothing is wrong with is given up as often as this. */
const wronglyGivenUp = 1e-9;

/** What shares are multiplied with, so that a round of this job meets as many faults as one of usual length. */
export function shareScale({ stretches }: JobExposure): number {
  return Math.min(1, usualCalls / Math.max(...stretches.map(({ calls }) => calls)));
}

/**
 * How many attempts may fail one after the other before one gets its stretch done. The attempt that does meets no
 * fault, which has a chance of at least c = exp(-faults): faults are independent of each other, and what was stored in
 * an attempt before need not be stored again. So n attempts fail with a chance of at most (1 - c)^n < exp(-c n). Some
 * find a party down: fewer than every other, since waits soon are longer than any party is down.
 * @param share what all shares are multiplied with, up to shareMax
 */
export function attemptsMax({ join, stretches }: JobExposure, share: number): number {
  const faults = share * (join.faults + Math.max(...stretches.map((stretch) => stretch.faults)));
  return Math.ceil(2 * -Math.log(wronglyGivenUp) * Math.exp(faults));
}
