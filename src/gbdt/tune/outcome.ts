/** The result of a search: its trials, the best first, and the importance of each parameter. */
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { type Spread, spread } from "../boost/fold-turns.ts";
import { isHigherBetter } from "../metric/metrics.ts";
import type { Rung } from "./schedule.ts";
import { searchable, type Searched, type SearchSpace } from "./search-space.ts";
import type { TrialTurns } from "./trial-turns.ts";

export interface TrialOutcome {
  /** Its index; 0 is the baseline: the given parameters. */
  readonly trial: number;
  /** The values of the searched parameters. */
  readonly parameters: Readonly<Partial<Record<Searched, number>>>;
  /** Rungs in which it took part, and the rounds that it was given. */
  readonly rungs: number;
  readonly rounds: number;
  /** The round with the best score, from 1. */
  readonly bestRound: number;
  /** The deciding metric over the folds, held out, after that round. */
  readonly score: Spread;
  /** All metrics likewise. */
  readonly metrics: Readonly<Record<string, number>>;
  /** The deciding metric after the first rung, which all trials have had. */
  readonly early: number;
}

export interface TuneOutcome {
  readonly metric: string;
  readonly isHigherBetter: boolean;
  readonly folds: number;
  readonly schedule: readonly Rung[];
  readonly searched: readonly Searched[];
  /** The best first. */
  readonly trials: readonly TrialOutcome[];
  /** Per parameter its share of the variance between trials after the first rung; the largest first. Null: there are
   * fewer than `importanceTrialsMin` trials. */
  readonly importance: readonly { readonly parameter: Searched; readonly share: number }[] | null;
  /** The best trial's parameters that differ from what was given, and its rounds. */
  readonly best: Readonly<Partial<Record<Searched | "num_round", number>>>;
}

/** With fewer, a third of the trials is two or three, and shares are mostly chance. */
export const importanceTrialsMin = 10;

export function tuneOutcome(
  turns: TrialTurns,
  trials: readonly TrainingParameters[],
  space: SearchSpace,
  schedule: readonly Rung[],
  folds: number,
): TuneOutcome {
  const searched = searchable.filter((name) => space[name] !== undefined);
  const isHigher = isHigherBetter(turns.metric);
  const outcomes = turns.ranking.map(({ trial, rung, outcome }): TrialOutcome => {
    const { history, rounds } = outcome;
    // Without early stopping too: num_round of the winner is recommended, and later rounds made it worse.
    const bestRound = bestOf(
      history.map(({ test }) => test[turns.metric].mean),
      isHigher,
    );
    const held = history[bestRound].test;
    return {
      trial,
      parameters: Object.fromEntries(searched.map((name) => [name, trials[trial][name]])),
      rungs: rung + 1,
      rounds,
      bestRound: bestRound + 1,
      score: held[turns.metric],
      metrics: Object.fromEntries(Object.entries(held).map(([name, { mean }]) => [name, mean])),
      early: history[Math.min(schedule[0].rounds, rounds) - 1].test[turns.metric].mean,
    };
  });
  // A trial of an early rung may have a better score than one that got more rounds.
  const ranked = outcomes.toSorted((a, b) => betterFirst(a.score.mean, b.score.mean, isHigher) || a.trial - b.trial);
  const [first] = ranked;
  const changed = searched.filter((name) => first.parameters[name] !== trials[0][name]);
  return {
    metric: turns.metric,
    isHigherBetter: isHigher,
    folds,
    schedule,
    searched,
    trials: ranked,
    importance:
      ranked.length < importanceTrialsMin
        ? null
        : searched
            .map((parameter) => ({ parameter, share: varianceShare(ranked, parameter) }))
            .sort((a, b) => b.share - a.share),
    best: {
      ...Object.fromEntries(changed.map((name) => [name, first.parameters[name]])),
      num_round: first.bestRound,
    },
  };
}

/** The index of the best value, the first of equal ones. */
function bestOf(values: readonly number[], isHigher: boolean): number {
  return values.reduce((best, value, i) => (betterFirst(value, values[best], isHigher) < 0 ? i : best), 0);
}

/** For sorting; a value that is not a number comes last. */
function betterFirst(a: number, b: number, isHigher: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return isHigher ? b - a : a - b;
}

/**
 * The fraction of the variance of early scores that lies between the lower, the middle and the upper third of a
 * parameter's values, corrected for chance (epsilon squared). 0 to 1.
 */
export function varianceShare(trials: readonly Pick<TrialOutcome, "parameters" | "early">[], name: Searched): number {
  const known = trials.flatMap(({ parameters, early }) => {
    const value = parameters[name];
    return value === undefined || !Number.isFinite(early) ? [] : [{ value, early }];
  });
  const sorted = known.sort((a, b) => a.value - b.value);
  const thirds = new Map<number, number[]>();
  // Equal values stay together.
  const third = (value: number): number =>
    Math.floor((3 * sorted.findIndex((other) => other.value === value)) / sorted.length);
  for (const { value, early } of sorted) thirds.set(third(value), [...(thirds.get(third(value)) ?? []), early]);
  const groups = [...thirds.values()];
  const within = sorted.length - groups.length;
  if (groups.length < 2 || within < 1) return 0;
  const mean = spread(sorted.map(({ early }) => early)).mean;
  const total = sorted.reduce((sum, { early }) => sum + (early - mean) ** 2, 0);
  const between = groups.reduce((sum, group) => sum + group.length * (spread(group).mean - mean) ** 2, 0);
  if (total === 0) return 0;
  return Math.max(0, (between - ((groups.length - 1) * (total - between)) / within) / total);
}
