/**
 * k-fold cross-validation by turns: every fold has a model of its own, which learns from the rows outside the fold; the
 * models grow one round each, one after the other. So early stopping can look at all of them after every round, as
 * XGBoost's cv does: the mean over the folds of the last metric decides, for all folds together.
 */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { BoostingMonitor, metricsFor } from "./boosting-monitor.ts";
import { BoostingTask } from "./boosting-task.ts";
import { dartBeginning } from "./dart/begin.ts";
import { DartCourse, type DartProgress } from "./dart/course.ts";
import { checkDartSize } from "./dart/size.ts";
import { endsLayer, layerOf, roundsOf } from "./layers.ts";
import { requireDeciding } from "../metric/one-class.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import { isHigherBetter } from "../metric/metrics.ts";

type Metrics = Readonly<Record<string, number>>;

/** A fold's model after a round: on the rows that it learns from, and on those of its fold. */
export interface FoldMetrics {
  readonly train: Metrics;
  readonly test: Metrics;
}

export interface Spread {
  readonly mean: number;
  /** That of the sample. */
  readonly deviation: number;
}

/** One round of one fold's model. */
export interface Turn {
  /** Of the fold's, counted over its layers. */
  readonly round: number;
  readonly fold: number;
  /** The number of its first tree among those of all folds. */
  readonly firstTree: number;
  /** Nothing follows, whatever early stopping thinks. */
  readonly isLast: boolean;
  /** What this model is trained with. */
  readonly training: TrainingParameters;
  readonly task: BoostingTask;
  readonly monitor: BoostingMonitor;
  /** A copy: a turn that fails has not happened. */
  readonly margins: Float64Array;
  /** Those that the fold's layer began with. */
  readonly layerMargins: Float64Array;
  /** Where trees are dropped between rounds, of this turn alone; null: all margins just add up. */
  readonly dart: DartCourse | null;
}

/** Models that grow by turns in one job. */
export interface Turns {
  /** What the job is agreed on with: rounds of all models together, and within its limits what each is trained with. */
  readonly whole: TrainingParameters;
  /** The first model's task: where every attempt begins. */
  readonly firstTask: BoostingTask;
  /** Trees of all models that are finished. */
  readonly treesDone: number;
  readonly isOver: boolean;
  next(): Turn;
  /** The turn's trees are stored wherever they must be. */
  finish(turn: Turn): Promise<void>;
}

export interface CrossValidationOutcome {
  /**
   * Rounds that were grown, and the best of them where early stopping was asked for, otherwise the last; counted from
   * 0.
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
  /** Of booster dart: what each fold's margins follow from. */
  readonly #dart: (DartProgress | null)[];
  /** Per round and fold. */
  readonly #history: FoldMetrics[][] = [];
  /** Rounds of the layer under way that its fold has had, and its margins after them. */
  #ofLayer: { readonly rounds: number; readonly margins: Float64Array } | null = null;

  /**
   * @param rows of all folds; which of them are held out follows from `folds`
   * @param folds the rows of each, ascending; no row is in two of them
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
    const rounds = roundsOf(this.whole.num_round, parameters);
    checkDartSize(parameters, rows.count, rounds * this.firstTask.treeOutputs.length);
    this.#dart = this.#tasks.map((task) => (isDart ? dartBeginning(parameters, task, null) : null));
  }

  get whole(): TrainingParameters {
    return roundsOfAll(this.#parameters, this.foldCount);
  }

  get foldCount(): number {
    return this.#tasks.length;
  }

  /** The first fold's task: where every attempt begins. */
  get firstTask(): BoostingTask {
    return this.#tasks[0];
  }

  /** Trees of all folds that are finished. */
  get treesDone(): number {
    const rounds = roundsOf(this.#layersDone, this.#parameters) + (this.#ofLayer?.rounds ?? 0);
    return rounds * this.firstTask.treeOutputs.length;
  }

  get #layersDone(): number {
    return this.#history.reduce((sum, { length }) => sum + length, 0);
  }

  /** Layers that every fold has had: what XGBoost calls rounds. */
  get roundsDone(): number {
    return Math.floor(this.#layersDone / this.foldCount);
  }

  get isOver(): boolean {
    if (this.#layersDone % this.foldCount !== 0 || this.#ofLayer !== null) return false;
    const { num_round: rounds, early_stopping_rounds: patience } = this.#parameters;
    return (
      this.roundsDone === rounds ||
      (patience > 0 && this.roundsDone > 0 && this.roundsDone - 1 - this.#bestRound() >= patience)
    );
  }

  /** Whether every fold has had so many rounds, or will have no more. */
  hasHad(rounds: number): boolean {
    const isBetween = this.#layersDone % this.foldCount === 0 && this.#ofLayer === null;
    return this.isOver || (isBetween && this.roundsDone >= rounds);
  }

  /** Nothing more will be grown: what it has come to stays. */
  forgetMargins(): void {
    this.#margins.fill(new Float64Array(0));
    this.#dart.fill(null);
  }

  next(): Turn {
    const fold = this.#layersDone % this.foldCount;
    const round = roundsOf(this.roundsDone, this.#parameters) + (this.#ofLayer?.rounds ?? 0);
    const isLastLayer = this.#layersDone + 1 === this.foldCount * this.#parameters.num_round;
    return {
      round,
      fold,
      firstTree: this.treesDone,
      isLast: isLastLayer && endsLayer(round, this.#parameters),
      training: this.#parameters,
      task: this.#tasks[fold],
      monitor: this.#monitors[fold],
      margins: (this.#ofLayer?.margins ?? this.#margins[fold]).slice(),
      layerMargins: this.#margins[fold],
      dart: this.#courseOf(fold),
    };
  }

  #courseOf(fold: number): DartCourse | null {
    const progress = this.#dart[fold];
    return progress && new DartCourse(this.#parameters, this.#tasks[fold].outputCount, progress);
  }

  /** The turn's trees are stored wherever they must be. */
  async finish({ round, fold, monitor, margins, dart }: Turn): Promise<void> {
    this.#dart[fold] = dart?.progress ?? null;
    if (!endsLayer(round, this.#parameters)) {
      this.#ofLayer = { rounds: (this.#ofLayer?.rounds ?? 0) + 1, margins };
      return;
    }
    const metrics = { train: await monitor.onTraining(margins), test: (await monitor.onValidation(margins)) ?? {} };
    this.#ofLayer = null;
    this.#margins[fold] = margins;
    (this.#history[layerOf(round, this.#parameters)] ??= []).push(metrics);
  }

  /** Margins of all rows in a fold's model. */
  marginsOf(fold: number): Float64Array {
    return this.#margins[fold];
  }

  /** Over the folds, after the last round that all of them have had; null before. */
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

  /** The first of the rounds that are best on average. */
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

/** All folds' rounds, as passive parties count them. */
export function roundsOfAll(training: TrainingParameters, folds: number): TrainingParameters {
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
