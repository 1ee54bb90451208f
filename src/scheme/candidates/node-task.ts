/** What a scheme sums at one node, and the fields of its answer besides sums. */
import type { CandidatePlan } from "./candidate-plan.ts";
import type { CategoryGroup } from "./category-group.ts";
import type { NodeMasks } from "./node-masks.ts";

/** The candidates of a node, in the node's order. */
export interface NodeTask {
  readonly node: number;
  readonly plan: CandidatePlan;
  /**
   * Per candidate the number of instances on the summed side; 0 where it is suppressed or members are hidden. In a job
   * with noise the counts are for the scheme only, and not sent.
   */
  readonly counts: Uint32Array;
  /** Per candidate 1 if it is suppressed: its sum is replaced by an empty sum. */
  readonly suppressed: Uint8Array;
  /** The first candidates, which are categories rather than splits, grouped by feature. */
  readonly groups: readonly CategoryGroup[];
  /** Per candidate and slot the noise that a scheme adds to the sum, 0 where it is suppressed; null: no noise. */
  readonly noise: Float64Array | null;
  /** The masks that a scheme adds to the sums, to those of suppressed candidates too; left out: sums are not hidden. */
  readonly masks?: NodeMasks;
}

/** Members are known: positions in the tree's sample, their bins, and chains of bins per candidate. */
export interface SentTask extends NodeTask {
  /** The instances whose gradients are summed, as positions in the tree's sample. */
  readonly positions: Uint32Array;
  /** The plan's features, as indices of the party's features. */
  readonly features: Uint32Array;
  /** Per feature of the plan the bin at each position of the sample. */
  readonly bins: readonly Uint16Array[];
  /** Instances per bin, over the concatenated bins of the plan's features. */
  readonly binCounts: Uint32Array;
}

/** Members are hidden: all instances are summed. */
export interface HiddenTask extends NodeTask {
  /** Per candidate its index among all candidates of the job. */
  readonly inJob: Uint32Array;
}
