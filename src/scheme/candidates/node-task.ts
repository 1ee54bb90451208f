/** What a scheme sums at one node: positions in the tree's sample, their bins, and chains of bins per candidate. */
import type { CandidatePlan } from "./candidate-plan.ts";
import type { CategoryGroup } from "./category-group.ts";

/** The sums that are asked for a node. */
export interface NodeTask {
  readonly node: number;
  /** Whose gradients are summed: places in the tree's sample. */
  readonly positions: Uint32Array;
  /** Which of the party's features the plan's are. */
  readonly features: Uint32Array;
  /** Per feature of the plan the bin at each place of the sample. */
  readonly bins: readonly Uint16Array[];
  readonly plan: CandidatePlan;
  /** Positions per bin, over the concatenated bins of the plan's features. */
  readonly binCounts: Uint32Array;
  /**
   * Per candidate, in the node's order, how many are on the side that is summed; 0 where it is withheld. In a job with
   * noise they are for the scheme only, and not told.
   */
  readonly counts: Uint32Array;
  /** Per candidate 1 if it is withheld: a sum over nobody takes its place. */
  readonly withheld: Uint8Array;
  /** From the first candidate on: those that are no splits, but categories. */
  readonly groups: readonly CategoryGroup[];
  /** Where members are hidden: per candidate its place among all of the job. Null where they are told. */
  readonly inJob: Uint32Array | null;
  /** Per candidate and slot what a scheme adds to the sum, 0 where it is withheld; null: a job without noise. */
  readonly noise: Float64Array | null;
}
