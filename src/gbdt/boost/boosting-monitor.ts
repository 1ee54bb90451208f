/**
 * Watches a validation set round by round: metrics, the best round so far, and when to stop. Both trainers use it, so
 * both stop after the same round. As in XGBoost the last of several metrics decides; the best round's model is kept.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import type { BoostingTask } from "./boosting-task.ts";
import { Evaluation } from "../metric/evaluation.ts";
import { fitsObjective, isHigherBetter, metricFor, type MetricName } from "../metric/metrics.ts";
import { requireDeciding } from "../metric/one-class.ts";
import { objectiveFor } from "../objective/objectives.ts";

/** The best round so far, by the deciding metric. */
export interface BestRound {
  readonly round: number;
  readonly value: number;
  /**
   * All metrics of the training rows, then all of the validation rows, if early stopping may choose this round. Missing
   * in jobs begun by an earlier version.
   */
  readonly metrics?: Float64Array;
  /** Booster dart: the tree weights of this round, if early stopping may choose it. */
  readonly treeWeights?: readonly number[];
}

export class BoostingMonitor {
  readonly #task: BoostingTask;
  readonly #parameters: TrainingParameters;
  readonly #metrics: readonly MetricName[];
  #best: BestRound | null;
  #rounds: number;

  /**
   * @param before earlier rounds of a resumed training
   * @throws TandemError USAGE for early stopping without a validation set, or a metric that does not fit;
   * LABEL_INVALID if the deciding metric is undefined for these labels
   */
  constructor(
    parameters: TrainingParameters,
    task: BoostingTask,
    before: { readonly rounds: number; readonly best: BestRound | null } = { rounds: 0, best: null },
  ) {
    if (parameters.early_stopping_rounds > 0 && task.rows.validation === null) {
      throw new TandemError(
        "USAGE",
        "early_stopping_rounds needs a validation set: name a validation fraction or file",
      );
    }
    this.#task = task;
    this.#rounds = before.rounds;
    this.#best = before.best;
    this.#parameters = parameters;
    this.#metrics = metricsFor(parameters);
    const { rows } = task;
    if (parameters.early_stopping_rounds > 0 && rows.validation !== null)
      requireDeciding(this.#metrics, rows.select(rows.validation).labels, parameters.num_class);
    const counting = this.#metrics.find((metric) => metricFor(metric).needsBinaryLabels === true);
    if (counting !== undefined && rows.labels.some((label) => label !== 0 && label !== 1))
      throw new TandemError("USAGE", `eval_metric ${counting} needs labels 0 and 1`);
  }

  /**
   * Records the end of a round.
   * @param treeWeights booster dart: of all trees so far
   * @returns metrics of the validation rows, null without them
   */
  async afterRound(
    margins: Float64Array,
    treeWeights?: readonly number[],
  ): Promise<Readonly<Record<string, number>> | null> {
    const round = this.#rounds++;
    const values = await this.onValidation(margins);
    if (values === null) return null;
    const deciding = this.#metrics[this.#metrics.length - 1];
    const value = values[deciding];
    const isBetter =
      this.#best === null || (isHigherBetter(deciding) ? value > this.#best.value : value < this.#best.value);
    if (isBetter) this.#best = { round, value, ...(await this.#kept(margins, values, treeWeights)) };
    return values;
  }

  async #kept(
    margins: Float64Array,
    validation: Readonly<Record<string, number>>,
    treeWeights: readonly number[] | undefined,
  ): Promise<Pick<BestRound, "metrics" | "treeWeights">> {
    if (this.#parameters.early_stopping_rounds === 0) return {};
    const train = await this.onTraining(margins);
    const metrics = Float64Array.from([train, validation].flatMap((of) => this.#metrics.map((name) => of[name])));
    return { metrics, ...(treeWeights === undefined ? {} : { treeWeights }) };
  }

  /** Metrics of the model that early stopping keeps, if later rounds are dropped and they are known; otherwise null.
   * */
  get metricsKept(): Readonly<Record<"train" | "validation", Readonly<Record<string, number>>>> | null {
    const values = this.#best?.metrics;
    if (values === undefined || this.roundsKept === this.#rounds) return null;
    const from = (first: number): Record<string, number> =>
      Object.fromEntries(this.#metrics.map((name, i) => [name, values[first + i]]));
    return { train: from(0), validation: from(this.#metrics.length) };
  }

  /** The tree weights of the kept model: later rounds have changed them. @param last after the last round */
  weightsKept(last: readonly number[]): readonly number[] {
    if (this.roundsKept === this.#rounds) return last;
    assert(this.#best?.treeWeights !== undefined, "the best round's weights are known");
    return this.#best.treeWeights;
  }

  /** Null before the first round, and without a validation set. */
  get best(): BestRound | null {
    return this.#best;
  }

  /** Metrics of the validation rows, null without them. */
  async onValidation(margins: Float64Array): Promise<Readonly<Record<string, number>> | null> {
    const { validation } = this.#task.rows;
    return validation === null ? null : this.#evaluate(margins, validation);
  }

  /** Metrics of the rows that are trained on. */
  onTraining(margins: Float64Array): Promise<Readonly<Record<string, number>>> {
    return this.#evaluate(margins, this.#task.rows.training);
  }

  /** Whether the last `early_stopping_rounds` rounds brought no improvement. */
  get isOver(): boolean {
    const patience = this.#parameters.early_stopping_rounds;
    return patience > 0 && this.#best !== null && this.#rounds - 1 - this.#best.round >= patience;
  }

  /** Rounds that the model keeps: up to the best one with early stopping, otherwise all. */
  get roundsKept(): number {
    return this.#parameters.early_stopping_rounds > 0 && this.#best !== null ? this.#best.round + 1 : this.#rounds;
  }

  async #evaluate(margins: Float64Array, which: Uint32Array | null): Promise<Record<string, number>> {
    const { rows, outputCount } = this.#task;
    const evaluation = new Evaluation(
      this.#parameters,
      which === null ? margins : selectMargins(margins, which, outputCount),
      rows.select(which),
    );
    await evaluation.prepare(this.#metrics);
    const values: Record<string, number> = {};
    for (const metric of this.#metrics) {
      if (isSliceOver()) await nextSlice();
      values[metric] = evaluation.value(metric);
    }
    return values;
  }
}

/** @throws TandemError USAGE for a metric that is undefined for the objective's predictions */
export function metricsFor(parameters: TrainingParameters): readonly MetricName[] {
  const { objective, eval_metric: wanted } = parameters;
  if (wanted.length === 0) return objectiveFor(objective).metrics;
  const wrong = wanted.find((metric) => !fitsObjective(metricFor(metric), parameters));
  if (wrong !== undefined)
    throw new TandemError("USAGE", `eval_metric ${wrong} does not fit the objective ${objective}`);
  return wanted;
}

/** The margins of some rows. */
export function selectMargins(margins: Float64Array, rows: Uint32Array, outputCount: number): Float64Array {
  const picked = new Float64Array(rows.length * outputCount);
  rows.forEach((row, i) => picked.set(margins.subarray(row * outputCount, (row + 1) * outputCount), i * outputCount));
  return picked;
}
