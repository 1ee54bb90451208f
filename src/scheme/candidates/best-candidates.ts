/** The candidates of a passive party with the highest gain at a node: one, or several that tie. */
import { bestPartition } from "../../gbdt/split/category-partition.ts";
import type { TreeGain, WeightBounds } from "../../gbdt/split/gain.ts";
import { selectBest } from "../../gbdt/split/select-best.ts";
import type { CandidateRows } from "./candidate-rows.ts";
import { categoryRows, type CategorySet, groupedCount } from "./category-group.ts";

/** A candidate as a decision names it: a position in the secret order, or a set of categories. */
export type Named =
  | { readonly kind: "candidate"; readonly position: number }
  | { readonly kind: "set"; readonly set: CategorySet };

/** A candidate with the highest gain, and the sums and count of one of its sides. */
export type BestCandidate = Named & { readonly side: Float64Array };

export interface BestCandidates {
  readonly gain: number;
  /** Category sets first, then candidates by position; at least one. */
  readonly tied: readonly BestCandidate[];
}

/**
 * For a category group, the first set that reaches the gain, as its owner would find it.
 * @param draws number of noise draws in the sum of each candidate
 */
export function bestOfCandidates(
  ofPeer: CandidateRows,
  totals: Float64Array,
  treeGain: TreeGain,
  bounds: WeightBounds,
  draws = 0,
): BestCandidates | null {
  const stride = totals.length;
  const { rows, lowerSides, groups } = ofPeer;
  const firstSplit = groupedCount(groups);
  const splits = rows.subarray(firstSplit * stride);
  const { gain: splitGain, indices } = selectBest(
    treeGain.gains(splits, totals, bounds, lowerSides?.subarray(firstSplit) ?? 0, draws),
  );
  let first = 0;
  const partitions = groups.map((group) => {
    const found = bestPartition(categoryRows(group, first, ofPeer, totals), totals, treeGain, bounds, draws);
    first += group.size;
    return found;
  });
  const gain = Math.max(splitGain, ...partitions.map((found) => found?.gain ?? -Infinity));
  if (gain === -Infinity) return null;
  const sets = partitions.flatMap((found, group): BestCandidate[] =>
    found?.gain === gain ? [{ kind: "set", set: { group, ...found.candidate }, side: found.right }] : [],
  );
  const candidates = (splitGain === gain ? indices : []).map((index): BestCandidate => ({
    kind: "candidate",
    position: ofPeer.names?.[index] ?? firstSplit + index,
    side: splits.subarray(index * stride, (index + 1) * stride),
  }));
  return { gain, tied: [...sets, ...candidates] };
}
