/**
 * The rounds of each trial. Successive halving: all trials get a third of the rounds, the better third of them
 * continues with more, and so on; only the last few get all. Random search gives all rounds to every trial.
 *
 * Fewer rounds than a third would decide by the learning rate alone: a small one needs many rounds.
 */

export type SearchMethod = "halving" | "random";

/** Participating trials, and the rounds of each at the end of the rung, per fold. */
export interface Rung {
  readonly trials: number;
  readonly rounds: number;
}

/** The fraction of the trials that continues from rung to rung. */
const reduction = 3;
/** The fraction of the rounds in the first rung. */
const firstShare = 1 / 3;

export function searchSchedule(method: SearchMethod, trials: number, rounds: number): Rung[] {
  const most = method === "random" ? 0 : Math.floor(Math.log(trials) / Math.log(reduction) + 1e-9);
  const steps = Array.from({ length: most + 1 }, (_, rung) => ({
    // The given configuration always continues, in addition to the best.
    trials: Math.min(trials, Math.max(2, Math.floor(trials / reduction ** rung))),
    rounds: Math.max(1, Math.round(most === 0 ? rounds : rounds * firstShare ** ((most - rung) / most))),
  }));
  // With few rounds the first rungs would be equal.
  return steps.filter(({ rounds: had }, rung) => rung === 0 || had > steps[rung - 1].rounds);
}

/** Rounds of one fold over all trials. */
export function roundsIn(schedule: readonly Rung[]): number {
  return schedule.reduce((sum, { trials, rounds }, i) => sum + trials * (rounds - (schedule[i - 1]?.rounds ?? 0)), 0);
}
