/** What a scheme sums at one node, and what its answer says besides sums. */
import type { CandidatePlan } from "./candidate-plan.ts";
import type { CategoryGroup } from "./category-group.ts";

/** The candidates of a node, in the node's order. */
export interface NodeTask {
  readonly node: number;
  readonly plan: CandidatePlan;
  /**
   * Per candidate how many instances are on the side that is summed; 0 where it is withheld, and where members are
   * hidden. In a job with noise they are for the scheme only, and not sent.
   */
  readonly counts: Uint32Array;
  /** Per candidate 1 if it is withheld: a sum over no instance takes its place. */
  readonly withheld: Uint8Array;
  /** From the first candidate on: those that are no splits, but categories. */
  readonly groups: readonly CategoryGroup[];
  /** Per candidate and slot what a scheme adds to the sum, 0 where it is withheld; null: a job without noise. */
  readonly noise: Float64Array | null;
}

/** Members are known: positions in the tree's sample, their bins, and chains of bins per candidate. */
export interface SentTask extends NodeTask {
  /** Whose gradients are summed: places in the tree's sample. */
  readonly positions: Uint32Array;
  /** Which of the party's features the plan's are. */
  readonly features: Uint32Array;
  /** Per feature of the plan the bin at each place of the sample. */
  readonly bins: readonly Uint16Array[];
  /** Positions per bin, over the concatenated bins of the plan's features. */
  readonly binCounts: Uint32Array;
}

/** Members are hidden: all instances are summed. */
export interface HiddenTask extends NodeTask {
  /** Per candidate its place among all candidates of the job. */
  readonly inJob: Uint32Array;
}
