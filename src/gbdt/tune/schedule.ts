/**
 * How many rounds which trials get. Successive halving: all trials get a third of the rounds, the better third of them
 * goes on to more, and so on; only the last few get all. Random search gives all rounds to everybody.
 *
 * Fewer rounds than a third would decide by the learning rate alone: a small one needs many.
 */

export type SearchMethod = "halving" | "random";

/** Trials that take part, and the rounds that each has had at its end, per fold. */
export interface Rung {
  readonly trials: number;
  readonly rounds: number;
}

/** What is left of the trials from rung to rung. */
const reduction = 3;
/** Of the rounds, in the first rung. */
const firstShare = 1 / 3;

export function scheduleOf(method: SearchMethod, trials: number, rounds: number): Rung[] {
  const most = method === "random" ? 0 : Math.floor(Math.log(trials) / Math.log(reduction) + 1e-9);
  const steps = Array.from({ length: most + 1 }, (_, rung) => ({
    // What was given stays to the end, beside the best.
    trials: Math.min(trials, Math.max(2, Math.floor(trials / reduction ** rung))),
    rounds: Math.max(1, Math.round(most === 0 ? rounds : rounds * firstShare ** ((most - rung) / most))),
  }));
  // Where there are few rounds the first rungs would be the same.
  return steps.filter(({ rounds: had }, rung) => rung === 0 || had > steps[rung - 1].rounds);
}

/** Rounds of one fold over all trials. */
export function roundsIn(schedule: readonly Rung[]): number {
  return schedule.reduce((sum, { trials, rounds }, i) => sum + trials * (rounds - (schedule[i - 1]?.rounds ?? 0)), 0);
}
