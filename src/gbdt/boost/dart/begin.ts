/** The initial state of dart boosting: empty, or after the trees of a model. */
import { assert } from "../../../base/assert.ts";
import type { TrainingParameters } from "../../parameters/training-parameters.ts";
import type { Tree } from "../../tree/tree.ts";
import { gradientRoundCount } from "../gradient-rounds.ts";
import type { BoostingTask } from "../boosting-task.ts";
import type { DartProgress } from "./course.ts";
import { placed } from "./placed-tree.ts";
import { checkDartSize } from "./size.ts";

/** The model of a warm start. */
interface DartStart<R> {
  readonly baseMargin: number;
  readonly treeWeights?: readonly number[] | undefined;
  readonly trees: readonly Tree<R>[];
}

/**
 * @param start null: no warm start
 * @param leavesOf per tree of the model the leaf of each instance
 * @throws TandemError USAGE if storing all leaves would take too much memory
 */
export function dartBeginning<R>(
  parameters: TrainingParameters,
  task: BoostingTask,
  start: DartStart<R> | null = null,
  leavesOf: (tree: number) => Uint32Array = () => new Uint32Array(0),
): DartProgress {
  const { trees = [], treeWeights = [], baseMargin } = start ?? {};
  assert(treeWeights.length === trees.length, "every tree has a weight");
  checkDartSize(parameters, task.rows.count, trees.length + treesToGrow(parameters, task));
  return {
    start: task.startMargins(baseMargin),
    placed: trees.map((tree, t) => placed(tree, leavesOf(t))),
    weights: treeWeights,
  };
}

function treesToGrow(parameters: TrainingParameters, task: BoostingTask): number {
  return gradientRoundCount(parameters.num_round, parameters) * task.treeOutputs.length;
}
