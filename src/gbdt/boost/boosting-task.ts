/**
 * What boosting learns from: objective, labels and instance weights; and the gradients that follow from margins. Both
 * trainers, in one place and federated, take their gradients here.
 */
import { TandemError } from "../../base/error.ts";
import { noColumns, type RowColumns } from "../../base/row-columns.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import type { Objective } from "../objective/objective.ts";
import { baseMarginFrom, objectiveFor } from "../objective/objectives.ts";
import { outputCountOf } from "../objective/outputs.ts";
import type { Range, RealGradients } from "../../base/gradients/real-gradients.ts";
import { checkCustom, type CustomObjective, customGradients } from "../objective/custom-objective.ts";
import { checkGroupWeights, scaledGroupWeights } from "../objective/group-weights.ts";
import { checkColumns } from "../objective/objective-columns.ts";
import { withQuantileLeaves } from "../tree/adaptive-leaves.ts";
import type { GrownTree } from "../tree/grow.ts";

export class BoostingTask {
  readonly objective: Objective;
  readonly labels: Float64Array;
  /** Of the instances as they were given; null: all are 1. */
  readonly weights: Float64Array | null;
  /** Rows that are routed and evaluated, but not learnt from; ascending. Null: none. */
  readonly validationRows: Uint32Array | null;
  readonly columns: RowColumns;
  /** The other rows; null: all. */
  readonly trainingRows: Uint32Array | null;
  /** Margins per instance. */
  readonly outputCount: number;
  /** Per tree of a round the outputs that it learns. */
  readonly treeOutputs: readonly (readonly number[])[];
  readonly #parameters: TrainingParameters;
  /** Null: every instance counts once. */
  readonly #weights: Float64Array | null;
  readonly #bounds: readonly (Range | null)[];
  /** Whose gradients they are instead of the objective's; null: the objective's. */
  readonly #custom: CustomObjective | null;

  /**
   * @param weights of the instances, null if all are 1
   * @param learnsSplits false: only leaves, for which labels that are all alike will do, as in XGBoost
   * @throws TandemError USAGE for columns that the objective does not take, or lacks
   * @throws TandemError LABEL_INVALID or WEIGHT_INVALID naming the first instance that cannot be used, never its value
   */
  constructor(
    parameters: TrainingParameters,
    labels: Float64Array,
    weights: Float64Array | null = null,
    validationRows: Uint32Array | null = null,
    columns: RowColumns = noColumns,
    custom: CustomObjective | null = null,
    learnsSplits = true,
  ) {
    this.objective = objectiveFor(parameters.objective);
    this.objective.checkParameters?.(parameters);
    this.outputCount = outputCountOf(parameters);
    this.validationRows = validationRows;
    this.trainingRows = validationRows && otherRows(validationRows, labels.length);
    const taught = this.trainingRows === null ? labels : Float64Array.from(this.trainingRows, (row) => labels[row]);
    this.objective.checkLabels(taught, parameters);
    if (learnsSplits) this.objective.checkVariety?.(taught);
    const outputs = Array.from({ length: this.outputCount }, (_, k) => k);
    this.treeOutputs =
      parameters.multi_strategy === "multi_output_tree" ? [outputs] : outputs.map((output) => [output]);
    if (weights !== null) checkWeights(weights);
    checkColumns(this.objective, columns, labels, this.outputCount);
    const { qid: groups } = columns; // given in a ranking only
    if (weights !== null && groups !== undefined) checkGroupWeights(weights, groups);
    this.columns = columns;
    if (custom !== null) checkCustom(custom, this.objective, this.outputCount);
    this.#custom = custom;
    this.labels = labels;
    this.weights = weights;
    this.#parameters = parameters;
    this.#weights =
      weights === null || groups === undefined
        ? effectiveWeights(parameters, labels, weights)
        : scaledGroupWeights(weights, groups, this.trainingRows);
    const { g, h } = this.objective.bounds(parameters);
    const factor = this.#weights === null ? 1 : powerAbove(this.#weights);
    this.#bounds = outputs.flatMap(() => [scaled(g, factor), scaled(h, factor)]);
  }

  /** What each output predicts, where that is a quantile; otherwise null. */
  get quantiles(): readonly number[] | null {
    return this.objective.kind === "quantile" ? (this.objective.leafQuantiles?.(this.#parameters) ?? null) : null;
  }

  /**
   * Where the margins of all instances start: each at its own base_margin, or all at base_score.
   * @param base of a model that there is already
   */
  startMargins(base?: number): Float64Array {
    const { base_margin: own } = this.columns;
    return own?.slice() ?? new Float64Array(this.labels.length * this.outputCount).fill(base ?? this.baseMargin());
  }

  /** Where boosting starts. @throws TandemError USAGE if the objective cannot start from this base_score */
  baseMargin(): number {
    const { base_score: baseScore } = this.#parameters;
    if (baseScore !== "auto") return baseMarginFrom(this.objective, baseScore);
    const { estimate } = this.objective;
    // Not rounded: whose label it is must have no residual, as in XGBoost, where labels are float32 as well.
    if (estimate !== undefined) return estimate(...this.#taught(), this.#parameters) + 0;
    if (this.outputCount > 1) return baseMarginFrom(this.objective, 0.5); // what all classes start from cancels out
    // One Newton step from zero, as XGBoost's own estimate does it (2.0, InitEstimation).
    const [g, h] = this.gradients(new Float64Array(this.labels.length)).values;
    const step = -sum(g, this.trainingRows) / sum(h, this.trainingRows);
    return Math.fround(step) + 0;
  }

  /**
   * The tree with the leaves that the objective wants.
   * @param outputs those that the tree learns
   * @param margins before this tree
   * @param sample the rows that the tree has learnt from; null: all
   */
  withOwnLeaves<R>(
    grown: GrownTree<R>,
    outputs: readonly number[],
    margins: Float64Array,
    sample: Uint32Array | null,
  ): GrownTree<R> {
    const alphas = this.objective.leafQuantiles?.(this.#parameters);
    if (alphas === undefined) return grown;
    const [output] = outputs; // several quantiles have a tree each
    const residuals = this.labels.map((label, row) => label - margins[row * this.outputCount + output]);
    return withQuantileLeaves(grown, sample, {
      residuals,
      weights: this.weights,
      alpha: alphas[output],
      eta: this.#parameters.eta,
    });
  }

  /** Labels and weights of the rows that are learnt from. */
  #taught(): [labels: Float64Array, weights: Float64Array | null] {
    const { labels, weights, trainingRows: rows } = this;
    if (rows === null) return [labels, weights];
    return [Float64Array.from(rows, (row) => labels[row]), weights && Float64Array.from(rows, (row) => weights[row])];
  }

  /** @throws TandemError LAYOUT_RANGE for a custom objective that leaves its bounds */
  gradients(margins: Float64Array): RealGradients {
    if (this.#custom !== null)
      return customGradients(this.#custom, margins, this.labels, this.weights, this.trainingRows);
    const values = this.objective.gradients(margins, this.labels, this.#parameters, this);
    const weights = this.#weights;
    if (weights !== null) for (const column of values) for (let i = 0; i < column.length; i++) column[i] *= weights[i];
    return { values, bounds: this.#bounds };
  }
}

function checkWeights(weights: Float64Array): void {
  const bad = weights.findIndex((weight) => !(weight >= 0 && Number.isFinite(weight)));
  if (bad >= 0)
    throw new TandemError("WEIGHT_INVALID", `the weight of instance ${bad} is negative or not a finite number`);
  if (weights.every((weight) => weight === 0))
    throw new TandemError("WEIGHT_INVALID", "all weights are 0; there is nothing to learn from");
}

function effectiveWeights(
  { objective, scale_pos_weight: positive }: TrainingParameters,
  labels: Float64Array,
  weights: Float64Array | null,
): Float64Array | null {
  const isUsed = objectiveFor(objective).parameters?.includes("scale_pos_weight") === true;
  if (!isUsed || positive === 1) return weights;
  return labels.map((label, i) => (label === 1 ? positive : 1) * (weights?.[i] ?? 1));
}

/** The power of two at or above the largest: a bound that grows by it does not change a slot's width. */
function powerAbove(weights: Float64Array): number {
  const largest = weights.reduce((a, b) => Math.max(a, b), 0);
  let power = 2 ** Math.floor(Math.log2(largest));
  while (power < largest) power *= 2;
  return power;
}

function scaled(range: Range | null, factor: number): Range | null {
  return range && { min: Math.min(0, range.min * factor), max: range.max * factor }; // a weight may be zero
}

function sum(values: Float64Array, rows: Uint32Array | null): number {
  if (rows === null) return values.reduce((a, b) => a + b, 0);
  return rows.reduce((total, row) => total + values[row], 0);
}

/** All rows that are not among the given ones, ascending. */
export function otherRows(rows: Uint32Array, count: number): Uint32Array {
  const isGiven = new Uint8Array(count);
  for (const row of rows) isGiven[row] = 1;
  return Uint32Array.from({ length: count }, (_, row) => row).filter((row) => isGiven[row] === 0);
}
