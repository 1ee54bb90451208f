/** The number of margins of an instance, derived from the parameters, also before they are validated. */
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { objectiveFor } from "./objectives.ts";

export function outputsPerInstance(parameters: TrainingParameters): number {
  return objectiveFor(parameters.objective).outputCount?.(parameters) ?? 1;
}

/** Leaves have a weight per output. */
export function hasVectorLeaves(parameters: TrainingParameters): boolean {
  return parameters.multi_strategy === "multi_output_tree" && outputsPerInstance(parameters) > 1;
}

/** Sets num_class of a job whose labels have names. @throws TandemError USAGE */
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
