/**
 * Interleaved k-fold cross-validation: every fold has its own model, trained on the rows outside the fold; the models
 * grow one round each, one after the other. So early stopping can use all of them after every round, as XGBoost's cv
 * does: the mean over the folds of the last metric decides, for all folds together.
 */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { BoostingMonitor, metricsFor } from "./boosting-monitor.ts";
import { BoostingTask } from "./boosting-task.ts";
import { dartBeginning } from "./dart/begin.ts";
import { DartCourse, type DartProgress } from "./dart/course.ts";
import { checkDartSize } from "./dart/size.ts";
import { endsBoostingRound, boostingRoundOf, gradientRoundCount } from "./gradient-rounds.ts";
import { requireDeciding } from "../metric/one-class.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import { isHigherBetter } from "../metric/metrics.ts";

type Metrics = Readonly<Record<string, number>>;

/** The metrics of a fold's model after a round: on its training rows, and on the rows of its fold. */
export interface FoldMetrics {
  readonly train: Metrics;
  readonly test: Metrics;
}

export interface Spread {
  readonly mean: number;
  /** The sample standard deviation. */
  readonly deviation: number;
}

/** One round of one fold's model. */
export interface Turn {
  /** Index of the fold's gradient round. */
  readonly gradientRound: number;
  readonly fold: number;
  /** The index of its first tree among the trees of all folds. */
  readonly firstTree: number;
  /** The last turn, regardless of early stopping. */
  readonly isLast: boolean;
  /** The parameters of this model. */
  readonly training: TrainingParameters;
  readonly task: BoostingTask;
  readonly monitor: BoostingMonitor;
  /** A copy, so that a failed turn has no effect. */
  readonly margins: Float64Array;
  /** The margins at the beginning of the fold's boosting round. */
  readonly boostingRoundMargins: Float64Array;
  /** Dart state of this turn alone; null: trees are not dropped. */
  readonly dart: DartCourse | null;
}

/** Models whose training is interleaved in one job. */
export interface Turns {
  /** The parameters that the parties agree on: the rounds of all models together, and bounds of their parameters. */
  readonly whole: TrainingParameters;
  /** The first model's task, with which every attempt begins. */
  readonly firstTask: BoostingTask;
  /** Finished trees of all models. */
  readonly treesDone: number;
  readonly isOver: boolean;
  next(): Turn;
  /** Called when the turn's trees have been stored. */
  finish(turn: Turn): Promise<void>;
}

export interface CrossValidationOutcome {
  /**
   * The number of rounds, and the best of them with early stopping, otherwise the last; counted from 0.
   */
  readonly rounds: number;
  readonly bestRound: number;
  /** After the best round. */
  readonly folds: readonly FoldMetrics[];
  /** After each round, over the folds. */
  readonly history: readonly {
    readonly train: Readonly<Record<string, Spread>>;
    readonly test: Readonly<Record<string, Spread>>;
  }[];
}

export class FoldTurns implements Turns {
  readonly #parameters: TrainingParameters;
  readonly #tasks: readonly BoostingTask[];
  readonly #monitors: readonly BoostingMonitor[];
  readonly #margins: Float64Array[];
  /** Booster dart: the state of each fold. */
  readonly #dart: (DartProgress | null)[];
  /** Per round and fold. */
  readonly #history: FoldMetrics[][] = [];
  /** Rounds of the current boosting round that its fold has finished, and its margins after them. */
  #inBoostingRound: { readonly rounds: number; readonly margins: Float64Array } | null = null;

  /**
   * @param rows of all folds; `folds` defines which of them are held out
   * @param folds the rows of each, ascending and disjoint
   * @throws TandemError LABEL_INVALID, WEIGHT_INVALID or USAGE, as training without a fold's rows would
   */
  constructor(parameters: TrainingParameters, rows: TrainingRows, folds: readonly Uint32Array[]) {
    if (folds.length < 2) throw new TandemError("USAGE", "a cross-validation needs at least two folds");
    this.#parameters = parameters;
    this.#tasks = folds.map((fold) => new BoostingTask(parameters, rows.holdingOut(fold)));
    this.#monitors = this.#tasks.map((task) => new BoostingMonitor({ ...parameters, early_stopping_rounds: 0 }, task));
    if (parameters.early_stopping_rounds > 0)
      for (const fold of folds)
        requireDeciding(
          metricsFor(parameters),
          rows.select(fold).labels,
          parameters.num_class,
          "early stopping",
          "held-out",
        );
    this.#margins = this.#tasks.map((task) => task.startMargins());
    const isDart = parameters.booster === "dart";
    const rounds = gradientRoundCount(this.whole.num_round, parameters);
    checkDartSize(parameters, rows.count, rounds * this.firstTask.treeOutputs.length);
    this.#dart = this.#tasks.map((task) => (isDart ? dartBeginning(parameters, task, null) : null));
  }

  get whole(): TrainingParameters {
    return withRoundsOfAllFolds(this.#parameters, this.foldCount);
  }

  get foldCount(): number {
    return this.#tasks.length;
  }

  /** The first fold's task, with which every attempt begins. */
  get firstTask(): BoostingTask {
    return this.#tasks[0];
  }

  /** Finished trees of all folds. */
  get treesDone(): number {
    const rounds =
      gradientRoundCount(this.#boostingRoundsDone, this.#parameters) + (this.#inBoostingRound?.rounds ?? 0);
    return rounds * this.firstTask.treeOutputs.length;
  }

  get #boostingRoundsDone(): number {
    return this.#history.reduce((sum, { length }) => sum + length, 0);
  }

  /** Layers that every fold has finished: what XGBoost calls rounds. */
  get roundsDone(): number {
    return Math.floor(this.#boostingRoundsDone / this.foldCount);
  }

  get isOver(): boolean {
    if (this.#boostingRoundsDone % this.foldCount !== 0 || this.#inBoostingRound !== null) return false;
    const { num_round: rounds, early_stopping_rounds: patience } = this.#parameters;
    return (
      this.roundsDone === rounds ||
      (patience > 0 && this.roundsDone > 0 && this.roundsDone - 1 - this.#bestRound() >= patience)
    );
  }

  /** Whether every fold has finished this many rounds, or will have no more. */
  hasHad(rounds: number): boolean {
    const isBetween = this.#boostingRoundsDone % this.foldCount === 0 && this.#inBoostingRound === null;
    return this.isOver || (isBetween && this.roundsDone >= rounds);
  }

  /** Training has ended: the result is final. */
  forgetMargins(): void {
    this.#margins.fill(new Float64Array(0));
    this.#dart.fill(null);
  }

  next(): Turn {
    const fold = this.#boostingRoundsDone % this.foldCount;
    const gradientRound = gradientRoundCount(this.roundsDone, this.#parameters) + (this.#inBoostingRound?.rounds ?? 0);
    const isLastBoostingRound = this.#boostingRoundsDone + 1 === this.foldCount * this.#parameters.num_round;
    return {
      gradientRound,
      fold,
      firstTree: this.treesDone,
      isLast: isLastBoostingRound && endsBoostingRound(gradientRound, this.#parameters),
      training: this.#parameters,
      task: this.#tasks[fold],
      monitor: this.#monitors[fold],
      margins: (this.#inBoostingRound?.margins ?? this.#margins[fold]).slice(),
      boostingRoundMargins: this.#margins[fold],
      dart: this.#courseOf(fold),
    };
  }

  #courseOf(fold: number): DartCourse | null {
    const progress = this.#dart[fold];
    return progress && new DartCourse(this.#parameters, this.#tasks[fold].outputCount, progress);
  }

  /** Called when the turn's trees have been stored. */
  async finish({ gradientRound, fold, monitor, margins, dart }: Turn): Promise<void> {
    this.#dart[fold] = dart?.progress ?? null;
    if (!endsBoostingRound(gradientRound, this.#parameters)) {
      this.#inBoostingRound = { rounds: (this.#inBoostingRound?.rounds ?? 0) + 1, margins };
      return;
    }
    const metrics = { train: await monitor.onTraining(margins), test: (await monitor.onValidation(margins)) ?? {} };
    this.#inBoostingRound = null;
    this.#margins[fold] = margins;
    (this.#history[boostingRoundOf(gradientRound, this.#parameters)] ??= []).push(metrics);
  }

  /** Margins of all rows in a fold's model. */
  marginsOf(fold: number): Float64Array {
    return this.#margins[fold];
  }

  /** Over the folds, after the last round that all of them have finished; null before. */
  get latest(): CrossValidationOutcome["history"][number] | null {
    return this.roundsDone === 0 ? null : overFolds(this.#history[this.roundsDone - 1]);
  }

  outcome(): CrossValidationOutcome {
    const rounds = this.roundsDone;
    const bestRound = this.#parameters.early_stopping_rounds > 0 ? this.#bestRound() : rounds - 1;
    return {
      rounds,
      bestRound,
      folds: this.#history[bestRound],
      history: this.#history.slice(0, rounds).map(overFolds),
    };
  }

  /** The first of the rounds with the best mean. */
  #bestRound(): number {
    const names = metricsFor(this.#parameters);
    const deciding = names[names.length - 1];
    let best = 0;
    const means = this.#history
      .slice(0, this.roundsDone)
      .map((folds) => spread(folds.map(({ test }) => test[deciding])).mean);
    means.forEach((mean, round) => {
      if (isHigherBetter(deciding) ? mean > means[best] : mean < means[best]) best = round;
    });
    return best;
  }
}

/** The rounds of all folds, as passive parties count them. */
export function withRoundsOfAllFolds(training: TrainingParameters, folds: number): TrainingParameters {
  const { num_round: rounds, local_rounds: local } = training;
  return { ...training, num_round: rounds * folds, local_rounds: Math.min(local, rounds) * folds };
}

function overFolds(folds: readonly FoldMetrics[]): CrossValidationOutcome["history"][number] {
  const spreads = (of: (fold: FoldMetrics) => Metrics): Record<string, Spread> =>
    Object.fromEntries(Object.keys(of(folds[0])).map((name) => [name, spread(folds.map((fold) => of(fold)[name]))]));
  return { train: spreads(({ train }) => train), test: spreads(({ test }) => test) };
}

export function spread(values: readonly number[]): Spread {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / (values.length - 1)) };
}
