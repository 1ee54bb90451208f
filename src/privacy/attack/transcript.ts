/**
 * What the active party has after a job of one passive party: the pure data that every attack starts from. No names and
 * no thresholds are in it. It is made from a training in one place (recorder.ts) or from what was observed in a real
 * job (observed.ts), and is the same.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { CategoryGroup, CategorySet } from "../../scheme/candidates/category-group.ts";

/** A split that the party has won: what was named to it, and who it said goes left. */
export interface WonSplit {
  /** The position in the tree's secret order that was named, or the set; none where that is not known. */
  readonly candidates: readonly number[];
  readonly sets: readonly CategorySet[];
  /** Of the node's people. */
  readonly left: Uint32Array;
  /** Of everybody in the job, where members are hidden; null: only the node's people are answered for. */
  readonly leftOfAll: Uint32Array | null;
}

export interface SeenNode {
  readonly id: number;
  /** -1 of the root. */
  readonly parent: number;
  /** Everybody in it, ascending. */
  readonly instances: Uint32Array;
  /** Those of them that are summed; the same array where all are. */
  readonly summed: Uint32Array;
  /** Per position the sums of one side and how many are on it, as in gbdt/split/histogram.ts. */
  readonly rows: Float64Array;
  /** Per position 1 if its row was withheld. */
  readonly withheld: Uint8Array;
  /** From the first position on. */
  readonly groups: readonly CategoryGroup[];
  readonly won: WonSplit | null;
}

export interface SeenTree {
  readonly tree: number;
  readonly gradients: QuantisedGradients;
  /** Those whose sums are known, by ascending id: sent, or a parent's less a sibling's. */
  readonly nodes: readonly SeenNode[];
}

/** The outcome of one split in scoring. */
export interface SeenPrediction {
  readonly tree: number;
  readonly node: number;
  /** Per scored row 1 if it goes left. */
  readonly left: Uint8Array;
}

/** What the active party knows of the job anyway. */
export interface SeenJob {
  /** Features of the party that have candidates. */
  readonly featureCount: number;
  /** No columns are sampled: every node of every tree is answered with the same candidates. */
  readonly takesAllColumns: boolean;
  /** A candidate has the same place in all trees (hints): nothing has to be linked by counts. */
  readonly isLinked: boolean;
  /** Every feature leaves out a bin, its most frequent one: no two sides together are everybody. */
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
