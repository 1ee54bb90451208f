/** A model whose rules are all in one place: centralised training makes one, the parties' shares together are one. */
import type { ObjectiveName } from "./objective.ts";
import type { SplitRule, Tree } from "./tree.ts";

export interface Model {
  readonly objective: ObjectiveName;
  /** The margin before the first tree. */
  readonly baseMargin: number;
  readonly trees: readonly Tree<SplitRule>[];
}
