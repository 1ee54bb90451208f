/**
 * Warm start: continues a model that was trained before (XGBoost's xgb_model). Its trees come first and rounds are
 * counted on from them, so that samples and columns are drawn as in one uninterrupted training. Both trainers check
 * here whether the model fits.
 */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import type { BoostingTask } from "./boosting-task.ts";
import { gradientRoundCount } from "./gradient-rounds.ts";
import type { ModelTerms } from "../tree/model.ts";
import type { Tree } from "../tree/tree.ts";

/** The part of a model that both trainers need, whatever they know of its rules. */
export interface StartModel<R> extends ModelTerms {
  readonly trees: readonly Tree<R>[];
}

/**
 * @returns the number of rounds before the first new one; 0 without a model
 * @throws TandemError USAGE naming the parameter that differs from the model's
 */
export function roundsBefore<R>(
  start: StartModel<R> | null,
  task: BoostingTask,
  parameters: TrainingParameters,
): number {
  if (start === null) return 0;
  const { trees, outputCount = 1, parallelTrees = 1 } = start;
  if (start.objective !== parameters.objective)
    throw refusal(`objective is ${parameters.objective}, but the model was trained for ${start.objective}`);
  const takesBaseMargin = start.takesBaseMargin === true;
  if (takesBaseMargin !== (task.rows.baseMargins !== undefined))
    throw refusal(`the model was trained ${takesBaseMargin ? "with" : "without"} base_margin, and this job is not`);
  if (task.quantiles?.join(", ") !== start.quantiles?.join(", "))
    throw refusal(
      `quantile_alpha is ${task.quantiles?.join(", ")}, but the model was trained for ${start.quantiles?.join(", ")}`,
    );
  if (outputCount !== task.outputCount)
    throw refusal(`num_class is ${task.outputCount}, but the model was trained for ${outputCount} classes`);
  if (parallelTrees !== parameters.num_parallel_tree)
    throw refusal(
      `num_parallel_tree is ${parameters.num_parallel_tree}, but the model was trained with ${parallelTrees}`,
    );
  const booster = start.treeWeights === undefined ? "gbtree" : "dart";
  if (booster !== parameters.booster)
    throw refusal(`booster is ${parameters.booster}, but the model was trained with ${booster}`);
  const isVector = outputCount > 1 && task.treeOutputs.length === 1;
  const perRound = gradientRoundCount(1, parameters) * task.treeOutputs.length;
  const isOther = trees.flat().some((node) => node.kind === "leaf" && (node.weights !== undefined) !== isVector);
  if (isOther || trees.length % perRound !== 0)
    throw refusal(`multi_strategy is ${parameters.multi_strategy}, but the model was trained with the other one`);
  // An estimate is made once, before the first tree.
  if (parameters.base_score !== "auto" && !Object.is(task.baseMargin(), start.baseMargin)) {
    throw refusal(
      `base_score is ${parameters.base_score}, but the model was trained with another one. 'auto' uses the model's`,
    );
  }
  return trees.length / perRound;
}

function refusal(what: string): TandemError {
  return new TandemError("USAGE", `warm start: ${what}`);
}
