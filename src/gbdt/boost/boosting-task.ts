/**
 * The training task: an objective, the rows, and the gradients for given margins. Both trainers, centralised and
 * federated, get their gradients here.
 */
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import type { Objective } from "../objective/objective.ts";
import { baseMarginFrom, objectiveFor } from "../objective/objectives.ts";
import { outputsPerInstance } from "../objective/outputs.ts";
import type { Range, RealGradients } from "../../base/gradients/real-gradients.ts";
import { checkCustom, customGradients } from "../objective/custom-objective.ts";
import { checkGroupWeights, scaledGroupWeights } from "../objective/group-weights.ts";
import { checkColumns } from "../objective/objective-columns.ts";
import type { TrainingRows } from "../rows/training-rows.ts";
import { withQuantileLeaves } from "../tree/adaptive-leaves.ts";
import type { GrownTree } from "../tree/grow.ts";

export class BoostingTask {
  readonly objective: Objective;
  readonly rows: TrainingRows;
  /** Margins per instance. */
  readonly outputCount: number;
  /** Per tree of a round its outputs. */
  readonly treeOutputs: readonly (readonly number[])[];
  readonly #parameters: TrainingParameters;
  /** The factors of gradients; null: every instance counts once. */
  readonly #weights: Float64Array | null;
  readonly #bounds: readonly (Range | null)[];

  /**
   * @param learnsSplits false: only leaves are computed, for which equal labels suffice, as in XGBoost
   * @throws TandemError USAGE for columns that the objective does not take, or lacks
   * @throws TandemError LABEL_INVALID or WEIGHT_INVALID naming the first invalid instance, never its value
   */
  constructor(parameters: TrainingParameters, rows: TrainingRows, learnsSplits = true) {
    this.objective = objectiveFor(parameters.objective);
    this.objective.checkParameters?.(parameters);
    this.outputCount = outputsPerInstance(parameters);
    this.rows = rows;
    const { labels: trained } = rows.select(rows.training);
    this.objective.checkLabels(trained, parameters);
    if (learnsSplits) this.objective.checkVariety?.(trained);
    const outputs = Array.from({ length: this.outputCount }, (_, k) => k);
    this.treeOutputs =
      parameters.multi_strategy === "multi_output_tree" ? [outputs] : outputs.map((output) => [output]);
    checkColumns(this.objective, rows, this.outputCount);
    if (rows.custom !== null) checkCustom(rows.custom, this.objective, this.outputCount);
    this.#parameters = parameters;
    this.#weights = effectiveWeights(parameters, rows);
    const { g, h } = this.objective.bounds(parameters);
    const factor = this.#weights === null ? 1 : powerAbove(this.#weights);
    this.#bounds = outputs.flatMap(() => [scaled(g, factor), scaled(h, factor)]);
  }

  /** The quantile of each output for quantile objectives; otherwise null. */
  get quantiles(): readonly number[] | null {
    return this.objective.kind === "quantile" ? (this.objective.leafQuantiles?.(this.#parameters) ?? null) : null;
  }

  /**
   * The initial margins of all instances: each its own base_margin, or all base_score.
   * @param base that of an existing model
   */
  startMargins(base?: number): Float64Array {
    const { baseMargins, count } = this.rows;
    return baseMargins?.slice() ?? new Float64Array(count * this.outputCount).fill(base ?? this.baseMargin());
  }

  /** The initial margin. @throws TandemError USAGE if the objective cannot start from this base_score */
  baseMargin(): number {
    const { base_score: baseScore } = this.#parameters;
    if (baseScore !== "auto") return baseMarginFrom(this.objective, baseScore);
    const { estimate } = this.objective;
    // Not rounded: an instance with this label must have no residual, as in XGBoost, where labels are float32 as
    // well.
    const { training } = this.rows;
    if (estimate !== undefined) {
      const { labels, weights } = this.rows.select(training);
      return estimate(labels, weights, this.#parameters) + 0;
    }
    if (this.outputCount > 1) return baseMarginFrom(this.objective, 0.5); // a start common to all classes cancels out
    // One Newton step from zero, as XGBoost's own estimate does it (2.0, InitEstimation).
    const [g, h] = this.gradients(new Float64Array(this.rows.count)).values;
    const step = -sum(g, training) / sum(h, training);
    return Math.fround(step) + 0;
  }

  /**
   * The tree with leaf values as the objective defines them.
   * @param outputs those of the tree
   * @param margins before this tree
   * @param sample the rows that the tree was trained on; null: all
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
    const residuals = this.rows.labels.map((label, row) => label - margins[row * this.outputCount + output]);
    return withQuantileLeaves(grown, sample, {
      residuals,
      weights: this.rows.weights,
      alpha: alphas[output],
      eta: this.#parameters.eta,
    });
  }

  /** @throws TandemError LAYOUT_RANGE for a custom objective that leaves its bounds */
  gradients(margins: Float64Array): RealGradients {
    const { custom, labels } = this.rows;
    if (custom !== null) return customGradients(custom, margins, this.rows);
    const values = this.objective.gradients(margins, labels, this.#parameters, this.rows);
    const weights = this.#weights;
    if (weights !== null) for (const column of values) for (let i = 0; i < column.length; i++) column[i] *= weights[i];
    return { values, bounds: this.#bounds };
  }
}

function effectiveWeights(
  { objective, scale_pos_weight: positive }: TrainingParameters,
  { labels, weights, columns, training }: TrainingRows,
): Float64Array | null {
  if (weights !== null && columns.qid !== undefined) {
    checkGroupWeights(weights, columns.qid); // given in a ranking only
    return scaledGroupWeights(weights, columns.qid, training);
  }
  const isUsed = objectiveFor(objective).parameters?.includes("scale_pos_weight") === true;
  if (!isUsed || positive === 1) return weights;
  return labels.map((label, i) => (label === 1 ? positive : 1) * (weights?.[i] ?? 1));
}

/** The power of two at or above the largest weight: scaling a bound by it does not change a slot's width. */
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
