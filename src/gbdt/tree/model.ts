/** A model whose rules are all in one place: centralised training makes one, the parties' shares together are one. */
import type { ObjectiveName } from "../objective/objectives.ts";
import type { SplitRule, Tree } from "./tree.ts";

/** What a model says besides its trees: where margins begin, how they add up, and what they stand for. */
export interface ModelTerms {
  readonly objective: ObjectiveName;
  /** The margin before the first tree. */
  readonly baseMargin: number;
  /** Margins per row; left out: one. Tree t adds to output t mod outputCount, or to all with a weight for each. */
  readonly outputCount?: number | undefined;
  /** Trees of an output that were grown side by side in each round; left out: one. */
  readonly parallelTrees?: number | undefined;
  /** Every row's margin starts at a base_margin of its own, in place of the model's; left out: it does not. */
  readonly takesBaseMargin?: true | undefined;
  /** Of reg:quantileerror: what each output is; left out of others. */
  readonly quantiles?: readonly number[] | undefined;
  /** Of booster dart: what each tree's leaves are multiplied with; left out: nothing is dart's, and all weigh 1. */
  readonly treeWeights?: readonly number[] | undefined;
}

export interface Model extends ModelTerms {
  /** What the outputs stand for, or of one output what 0 and 1 do; left out: classes have no names. */
  readonly classes?: readonly string[] | undefined;
  readonly trees: readonly Tree<SplitRule>[];
}

/** The terms alone, without those that are left out. */
export function termsOf(model: ModelTerms): ModelTerms {
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
