/** How many margins an instance has, by the parameters alone: before anybody has checked them. */
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { objectiveFor } from "./objective.ts";

export type OutputParameters = Pick<TrainingParameters, "objective" | "num_class" | "quantile_alpha">;

export function outputCountOf({ objective, num_class: classes, quantile_alpha: alphas }: OutputParameters): number {
  if (isOfClasses(objective)) return classes;
  return objectiveFor(objective).kind === "quantile" ? alphas.length : 1;
}

export function isOfClasses(objective: TrainingParameters["objective"]): boolean {
  return objectiveFor(objective).kind === "classes";
}

/** Leaves have a weight per output. */
export function hasVectorLeaves(parameters: OutputParameters & Pick<TrainingParameters, "multi_strategy">): boolean {
  return parameters.multi_strategy === "multi_output_tree" && outputCountOf(parameters) > 1;
}
