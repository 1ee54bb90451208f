/** A model with all rules in one place: from centralised training, or from the parties' shares together. */
import type { ObjectiveName } from "../objective/objectives.ts";
import type { SplitRule, Tree } from "./tree.ts";

/** The terms of a model besides its trees: initial margin, outputs, and the meaning of predictions. */
export interface ModelTerms {
  readonly objective: ObjectiveName;
  /** The margin before the first tree. */
  readonly baseMargin: number;
  /** Margins per row; left out: one. Tree t adds to output t mod outputCount, or to all with a weight for each. */
  readonly outputCount?: number | undefined;
  /** Trees of an output that were grown side by side in each round; left out: one. */
  readonly parallelTrees?: number | undefined;
  /** Every row's margin starts at its own base_margin instead of the model's; left out: false. */
  readonly takesBaseMargin?: true | undefined;
  /** reg:quantileerror: the quantile of each output; left out otherwise. */
  readonly quantiles?: readonly number[] | undefined;
  /** Booster dart: the weight of each tree; left out: the booster is not dart, and all weights are 1. */
  readonly treeWeights?: readonly number[] | undefined;
}

export interface Model extends ModelTerms {
  /** Class names of the outputs, or of 0 and 1 for one output; left out: classes have no names. */
  readonly classes?: readonly string[] | undefined;
  readonly trees: readonly Tree<SplitRule>[];
}

/** The terms alone, without undefined fields. */
export function modelTerms(model: ModelTerms): ModelTerms {
  const { objective, baseMargin, outputCount, parallelTrees, takesBaseMargin, quantiles, treeWeights } = model;
  return {
    objective,
    baseMargin,
    ...(outputCount === undefined ? {} : { outputCount }),
    ...(parallelTrees === undefined ? {} : { parallelTrees }),
    ...(takesBaseMargin === undefined ? {} : { takesBaseMargin }),
    ...(quantiles === undefined ? {} : { quantiles }),
    ...(treeWeights === undefined ? {} : { treeWeights }),
  };
}
