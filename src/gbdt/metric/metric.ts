/**
 * What a metric declares of itself. Its family's file lists it, metrics.ts gathers the families; parameters, defaults,
 * early stopping and docs/objectives.md follow from there.
 */
import type { LabelKind } from "../objective/objective.ts";
import type { LearningParameters } from "../parameters/learning-parameters.ts";
import type { Evaluation } from "./evaluation.ts";

export interface Metric {
  /** XGBoost's, where XGBoost has it. */
  readonly name: string;
  /** What it is, for docs/objectives.md. */
  readonly about: string;
  /** Labels that it has a meaning for. */
  readonly fits: readonly LabelKind[];
  /** What a number after the name and an @ stands for, as in error@t; left out: there may be none. */
  readonly numbered?: string;
  readonly higherIsBetter?: true;
  /** Of how scores separate classes: it exists only where all classes do. */
  readonly separates?: true;
  /** Labels other than 0 and 1 have no meaning for it. */
  readonly needsBinaryLabels?: true;
  /** Parameters of objectives that it looks at. */
  readonly parameters?: readonly (keyof LearningParameters)[];
  /** @param at the number after the @, where there is one */
  value(evaluation: Evaluation, at: number | undefined): number;
}

/** Labels beside which one prediction stands. */
export const oneNumber = ["binary", "fraction", "number", "mean"] as const satisfies readonly LabelKind[];
