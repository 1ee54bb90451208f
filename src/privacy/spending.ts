/**
 * What one active party has had of a passive one, over all of their jobs, per person: what the attacks' success goes
 * by. Jobs on the same people add up, and so do folds and warm starts, so it is counted per partner and not per job.
 *
 * Runs in browsers too.
 */
export interface Spending {
  /** Numbers in sums without noise, per candidate and person: half of a table is gone at 0.05, all of it at 0.1. */
  readonly sumsPerPerson: number;
  /** The same of sums with noise. */
  readonly noisySumsPerPerson: number;
  /** Splits that were won, per person that was told a side. */
  readonly outcomesPerPerson: number;
  /** People whose score was asked for, as often as it was. */
  readonly scoredPeople: number;
}

export const nothingSpent: Spending = {
  sumsPerPerson: 0,
  noisySumsPerPerson: 0,
  outcomesPerPerson: 0,
  scoredPeople: 0,
};

export function addSpending(a: Spending, b: Spending): Spending {
  return {
    sumsPerPerson: a.sumsPerPerson + b.sumsPerPerson,
    noisySumsPerPerson: a.noisySumsPerPerson + b.noisySumsPerPerson,
    outcomesPerPerson: a.outcomesPerPerson + b.outcomesPerPerson,
    scoredPeople: a.scoredPeople + b.scoredPeople,
  };
}

/** How much of a table exact sums give away. */
export type Reach = "little" | "some" | "half" | "all";

export function sumsWord(sumsPerPerson: number): Reach {
  if (sumsPerPerson < 0.02) return "little";
  if (sumsPerPerson < 0.05) return "some";
  return sumsPerPerson < 0.1 ? "half" : "all";
}
