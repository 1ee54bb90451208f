/**
 * A search over parameters by cross-validation, all trials in one job: a model per trial and fold, with interleaved
 * training. After each rung of the schedule the trials are compared by the mean of the deciding metric over the folds,
 * and the better ones continue. For passive parties it is a sequence of trees, like a cross-validation.
 */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { metricsFor } from "../boost/boosting-monitor.ts";
import type { BoostingTask } from "../boost/boosting-task.ts";
import { type CrossValidationOutcome, FoldTurns, type Turn, type Turns } from "../boost/fold-turns.ts";
import { isHigherBetter, type MetricName } from "../metric/metrics.ts";
import { requireDeciding } from "../metric/one-class.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import { type Rung, roundsIn } from "./schedule.ts";

/** A trial after some rounds. */
export interface TrialState {
  readonly trial: number;
  /** The last rung in which it took part. */
  readonly rung: number;
  readonly outcome: CrossValidationOutcome;
}

export class TrialTurns implements Turns {
  readonly whole: TrainingParameters;
  /** The metric that decides. */
  readonly metric: MetricName;
  readonly #trials: readonly FoldTurns[];
  readonly #schedule: readonly Rung[];
  /** Per trial the last finished rung. */
  readonly #ended: number[];
  #rung = 0;
  /** Trials of the rung, by index, ascending. */
  #running: readonly number[];

  /**
   * @param trials the parameters of each: they may differ in those of search-space.ts
   * @param folds the rows of each
   * @throws TandemError USAGE, LABEL_INVALID or WEIGHT_INVALID
   */
  constructor(
    trials: readonly TrainingParameters[],
    schedule: readonly Rung[],
    rows: TrainingRows,
    folds: readonly Uint32Array[],
  ) {
    if (trials[0].local_rounds > 0)
      throw new TandemError("USAGE", "a search does not support local_rounds: leave it out");
    this.#trials = trials.map((parameters) => new FoldTurns(parameters, rows, folds));
    this.#schedule = schedule;
    this.#ended = trials.map(() => -1);
    this.#running = [...trials.keys()];
    this.whole = jointLimits(trials, roundsIn(schedule) * folds.length);
    const names = metricsFor(trials[0]);
    this.metric = names[names.length - 1];
    for (const fold of folds)
      requireDeciding(names, rows.select(fold).labels, trials[0].num_class, "the search", "held-out");
  }

  get firstTask(): BoostingTask {
    return this.#trials[0].firstTask;
  }

  get treesDone(): number {
    return this.#trials.reduce((sum, { treesDone }) => sum + treesDone, 0);
  }

  get isOver(): boolean {
    return this.#rung === this.#schedule.length;
  }

  /** The next trial; null: none. */
  get current(): number | null {
    return this.#running.find((trial) => !this.#hasEndedRung(trial)) ?? null;
  }

  isRunning(trial: number): boolean {
    return this.#running.includes(trial);
  }

  /** The number of finished rungs. */
  get rungsDone(): number {
    return this.#rung;
  }

  next(): Turn & { readonly trial: number } {
    const trial = this.current ?? 0;
    const turn = this.#trials[trial].next();
    const isLastRung = this.#rung === this.#schedule.length - 1;
    const isLast = turn.isLast && isLastRung && trial === this.#running[this.#running.length - 1];
    return { ...turn, firstTree: this.treesDone, isLast, trial };
  }

  async finish(turn: Turn & { readonly trial?: number }): Promise<void> {
    const trial = turn.trial ?? this.current ?? 0;
    await this.#trials[trial].finish(turn);
    if (this.#hasEndedRung(trial)) this.#ended[trial] = this.#rung;
    if (this.current === null) this.#nextRung();
  }

  /** Trials that have finished a rung, the best first; those that reached a later rung come before others. */
  get ranking(): readonly TrialState[] {
    const states = this.#trials.flatMap((turns, trial): TrialState[] =>
      this.#ended[trial] < 0 ? [] : [{ trial, rung: this.#ended[trial], outcome: turns.outcome() }],
    );
    return states.sort((a, b) => b.rung - a.rung || this.#compare(a, b));
  }

  /** The mean of the deciding metric over the folds, after the deciding round. */
  scoreOf({ outcome }: Pick<TrialState, "outcome">): number {
    return outcome.history[outcome.bestRound].test[this.metric].mean;
  }

  #compare(a: TrialState, b: TrialState): number {
    const [first, second] = [this.scoreOf(a), this.scoreOf(b)];
    const order = isHigherBetter(this.metric) ? second - first : first - second;
    return Number.isNaN(order) || order === 0 ? a.trial - b.trial : order;
  }

  #hasEndedRung(trial: number): boolean {
    return this.#ended[trial] === this.#rung || this.#trials[trial].hasHad(this.#schedule[this.#rung]?.rounds ?? 0);
  }

  #nextRung(): void {
    const rung = this.#rung++;
    if (this.isOver) return;
    const ranked = this.ranking.filter((state) => state.rung === rung).map(({ trial }) => trial);
    const kept = withGiven(ranked, this.#schedule[this.#rung].trials);
    for (const trial of ranked) if (!kept.includes(trial)) this.#trials[trial].forgetMargins();
    this.#running = kept.sort((a, b) => a - b);
    // A trial that was stopped early needs no more rounds.
    for (const trial of this.#running) if (this.#hasEndedRung(trial)) this.#ended[trial] = this.#rung;
    if (this.current === null) this.#nextRung();
  }
}

/** The best of a rung. Trial 0, the given configuration, is always included: the winner must be better than it. */
function withGiven(ranked: readonly number[], count: number): number[] {
  const best = ranked.slice(0, count);
  return best.includes(0) ? best : [...best.slice(0, count - 1), 0];
}

/** The limits of all trials: the deepest trees, the most leaves and the fewest columns of any. */
export function jointLimits(trials: readonly TrainingParameters[], rounds: number): TrainingParameters {
  const most = (of: "max_depth" | "max_leaves"): number => {
    const limits = trials.map((trial) => trial[of]);
    return limits.includes(0) ? 0 : Math.max(...limits); // 0 is no limit
  };
  return {
    ...trials[0],
    num_round: rounds,
    max_depth: most("max_depth"),
    max_leaves: most("max_leaves"),
    colsample_bytree: Math.min(...trials.map(({ colsample_bytree: rate }) => rate)),
  };
}
