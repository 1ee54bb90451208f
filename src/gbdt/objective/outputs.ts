/** How many margins an instance has, by the parameters alone: before they are checked. */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { objectiveFor } from "./objectives.ts";

export function outputCountOf(parameters: TrainingParameters): number {
  return objectiveFor(parameters.objective).outputCount?.(parameters) ?? 1;
}

/** Leaves have a weight per output. */
export function hasVectorLeaves(parameters: TrainingParameters): boolean {
  return parameters.multi_strategy === "multi_output_tree" && outputCountOf(parameters) > 1;
}

/** Parameters of a job whose labels have names: how many classes there are follows. @throws TandemError USAGE */
export function withClassCount(
  parameters: TrainingParameters,
  classes: readonly string[] | null | undefined,
): TrainingParameters {
  if (!classes || objectiveFor(parameters.objective).kind !== "classes") return parameters;
  const { num_class: given } = parameters;
  if (given !== 0 && given !== classes.length)
    throw new TandemError(
      "USAGE",
      `num_class is ${given}, but the labels have ${classes.length} classes. Leave it out`,
    );
  return { ...parameters, num_class: classes.length };
}
