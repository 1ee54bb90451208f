/**
 * The declaration of a metric. Its family's file lists it, metrics.ts collects the families; parameters, defaults,
 * early stopping and docs/objectives.md are derived from it.
 */
import type { LabelKind } from "../objective/objective.ts";
import type { LearningParameters } from "../parameters/learning-parameters.ts";
import type { Evaluation } from "./evaluation.ts";

export interface Metric {
  /** XGBoost's, where XGBoost has it. */
  readonly name: string;
  /** Description for docs/objectives.md. */
  readonly about: string;
  /** The kinds of labels for which it is defined. */
  readonly fits: readonly LabelKind[];
  /** The meaning of a number after the name and an @, as in error@t; left out: no number is allowed. */
  readonly numbered?: string;
  readonly higherIsBetter?: true;
  /** It measures the separation of classes, and is undefined unless all classes occur. */
  readonly needsAllClasses?: true;
  /** It is defined for labels 0 and 1 only. */
  readonly needsBinaryLabels?: true;
  /** Parameters of objectives that it uses. */
  readonly parameters?: readonly (keyof LearningParameters)[];
  /** @param at the number after the @, where there is one */
  value(evaluation: Evaluation, at: number | undefined): number;
}

/** Kinds of labels with one prediction each. */
export const oneNumber = ["binary", "fraction", "number", "mean"] as const satisfies readonly LabelKind[];
