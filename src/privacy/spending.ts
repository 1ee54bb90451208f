/**
 * What one active party has received from a passive one over all of their jobs, per instance: the success of the
 * attacks depends on it. Jobs, folds and warm starts on the same instances add up, so it is counted per partner and not
 * per job.
 *
 * Runs in browsers too.
 */
export interface Spending {
  /**
   * Numbers in sums of all candidates of a node without noise, per candidate and instance: 0.05 reveal half of a table,
   * 0.1 all of it.
   */
  readonly sumsPerPerson: number;
  /** Numbers in sums of best candidates alone, opened where sums are hidden, per instance: see openedBitsMax. */
  readonly openedPerPerson: number;
  /** The same of sums with noise. */
  readonly noisySumsPerPerson: number;
  /** Sides of instances revealed by won splits, per instance. */
  readonly outcomesPerPerson: number;
  /** Instances that were scored, each counted every time. */
  readonly scoredPeople: number;
  /** Vettings of this party's columns. */
  readonly vettings: number;
}

export const nothingSpent: Spending = {
  sumsPerPerson: 0,
  openedPerPerson: 0,
  noisySumsPerPerson: 0,
  outcomesPerPerson: 0,
  scoredPeople: 0,
  vettings: 0,
};

export function addSpending(a: Spending, b: Spending): Spending {
  return {
    sumsPerPerson: a.sumsPerPerson + b.sumsPerPerson,
    openedPerPerson: a.openedPerPerson + b.openedPerPerson,
    noisySumsPerPerson: a.noisySumsPerPerson + b.noisySumsPerPerson,
    outcomesPerPerson: a.outcomesPerPerson + b.outcomesPerPerson,
    scoredPeople: a.scoredPeople + b.scoredPeople,
    vettings: a.vettings + b.vettings,
  };
}

/** Numbers that are opened of a best candidate: its sums of g and h. */
export const numbersOpened = 2;

/**
 * A best candidate has sums below 2^32, and that of g has a sign: what a node opens is one of 2^65 values at most,
 * whatever the active party sends. Which candidate it is, is not among them.
 */
const bitsPerOpened = 65;

/** Upper bound of what opened best candidates reveal, in bits per instance, of all columns together. */
export function openedBitsMax(openedPerPerson: number): number {
  return (openedPerPerson / numbersOpened) * bitsPerOpened;
}

/** How much of a table exact sums of all candidates reveal. */
export type Reach = "little" | "some" | "half" | "all";

export function reachOfSums(sumsPerPerson: number): Reach {
  if (sumsPerPerson < 0.02) return "little";
  if (sumsPerPerson < 0.05) return "some";
  return sumsPerPerson < 0.1 ? "half" : "all";
}
