/** Dart boosting in centralised training. */
import type { TrainingParameters } from "../../parameters/training-parameters.ts";
import type { CategoryNames } from "../../split/split-test.ts";
import type { Model } from "../../tree/model.ts";
import { predictLeaves } from "../../tree/predict.ts";
import type { BoostingTask } from "../boosting-task.ts";
import { dartBeginning } from "./begin.ts";
import { DartCourse } from "./course.ts";
import type { DrawDrops } from "./drops.ts";

/** The model of a warm start, and each party's columns. */
interface PlainStart {
  readonly model: Model;
  readonly columns: readonly (readonly Float32Array[])[];
  readonly names?: readonly (readonly CategoryNames[])[];
}

/** @returns null unless the booster is dart. @throws TandemError USAGE if storing all leaves would take too much
 * memory */
export function centralisedDart(
  parameters: TrainingParameters,
  task: BoostingTask,
  start: PlainStart | null,
  drops?: DrawDrops,
): DartCourse | null {
  if (parameters.booster !== "dart") return null;
  const { count: instanceCount } = task.rows;
  const count = start?.model.trees.length ?? 0;
  const leaves = start && predictLeaves(start.model, start.columns, instanceCount, start.names);
  const leavesOf = (tree: number): Uint32Array =>
    Uint32Array.from({ length: instanceCount }, (_, row) => leaves?.[row * count + tree] ?? 0);
  const beginning = dartBeginning(parameters, task, start?.model ?? null, leavesOf);
  return new DartCourse(parameters, task.outputCount, beginning, drops);
}
