/**
 * What the active party has received from one passive party after a job: the data that every attack starts from,
 * without names and thresholds. It is made from a centralised training (recorder.ts) or from the messages of a real job
 * (observed.ts); both give the same transcript.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { CategoryGroup, CategorySet } from "../../scheme/candidates/category-group.ts";

/** A split that the party won: the candidate that was named to it, and the instances it sent left. */
export interface WonSplit {
  /** The position in the tree's secret order that was named, or the category set; empty where not known. */
  readonly candidates: readonly number[];
  readonly sets: readonly CategorySet[];
  /** Instances of the node that go left. */
  readonly left: Uint32Array;
  /** Instances of the job that go left, where members are hidden; null: only those of the node are sent. */
  readonly leftOfAll: Uint32Array | null;
}

export interface SeenNode {
  readonly id: number;
  /** -1 for the root. */
  readonly parent: number;
  /** All members, ascending. */
  readonly instances: Uint32Array;
  /** The members that are summed; the same array where all are. */
  readonly summed: Uint32Array;
  /** Per position the sums of one side and its count, as in gbdt/split/histogram.ts. */
  readonly rows: Float64Array;
  /** Per position 1 if its row was suppressed. */
  readonly suppressed: Uint8Array;
  /** Category groups, which come first in the positions. */
  readonly groups: readonly CategoryGroup[];
  readonly won: WonSplit | null;
}

export interface SeenTree {
  readonly tree: number;
  readonly gradients: QuantisedGradients;
  /** Nodes whose sums are known, by ascending id: sent, or a parent's minus a sibling's. */
  readonly nodes: readonly SeenNode[];
}

/** The outcome of one split in scoring. */
export interface SeenPrediction {
  readonly tree: number;
  readonly node: number;
  /** Per scored row 1 if it goes left. */
  readonly left: Uint8Array;
}

/** Properties of the job that the active party knows. */
export interface SeenJob {
  /** Features of the party that have candidates. */
  readonly featureCount: number;
  /** No columns are sampled: every node of every tree is answered with the same candidates. */
  readonly takesAllColumns: boolean;
  /** A candidate has the same position in all trees (hints): linking by counts is not needed. */
  readonly isLinked: boolean;
  /** Every feature leaves out its most frequent bin: the union of two sides is never all instances. */
  readonly leavesOutBin: boolean;
}

export interface Transcript {
  readonly instanceCount: number;
  readonly job: SeenJob;
  readonly trees: readonly SeenTree[];
  readonly predictions: readonly SeenPrediction[];
}

/** Numbers in a row: one per column of the gradients, and the count last. */
export function strideOf({ gradients }: SeenTree): number {
  return gradients.columns.length + 1;
}
