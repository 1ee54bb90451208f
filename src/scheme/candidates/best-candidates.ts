/** What the active party names to a passive one: everything of that party that reaches its highest gain at a node. */
import { bestPartition } from "../../gbdt/split/category-partition.ts";
import type { TreeGain, WeightBounds } from "../../gbdt/split/gain.ts";
import { selectBest } from "../../gbdt/split/select-best.ts";
import type { CandidateRows } from "./candidate-rows.ts";
import { categoryRows, type CategorySet, groupedCount } from "./category-group.ts";

export interface NamedCandidates {
  readonly gain: number;
  /** Positions in the secret order. */
  readonly candidates: readonly number[];
  readonly sets: readonly CategorySet[];
  /** Of each of them how many are on one of its sides. */
  readonly sideCounts: readonly number[];
}

/** Of a group of categories the first set that reaches the gain, as its owner would find it. */
export function bestOfCandidates(
  ofPeer: CandidateRows,
  totals: Float64Array,
  treeGain: TreeGain,
  bounds: WeightBounds,
): NamedCandidates | null {
  const stride = totals.length;
  const { rows, lowerSides, groups } = ofPeer;
  const firstSplit = groupedCount(groups);
  const splits = rows.subarray(firstSplit * stride);
  const { gain: splitGain, indices } = selectBest(
    treeGain.gains(splits, totals, bounds, lowerSides?.subarray(firstSplit) ?? 0),
  );
  let first = 0;
  const partitions = groups.map((group) => {
    const found = bestPartition(categoryRows(group, first, ofPeer, totals), totals, treeGain, bounds);
    first += group.size;
    return found;
  });
  const gain = Math.max(splitGain, ...partitions.map((found) => found?.gain ?? -Infinity));
  if (gain === -Infinity) return null;
  const candidates = splitGain === gain ? indices : [];
  const best = partitions.flatMap((found, group) =>
    found?.gain === gain ? [{ group, ...found.candidate, rightCount: found.rightCount }] : [],
  );
  return {
    gain,
    candidates: candidates.map((candidate) => firstSplit + candidate),
    sets: best.map(({ group, categories, missingLeft }) => ({ group, categories, missingLeft })),
    sideCounts: [
      ...candidates.map((candidate) => splits[candidate * stride + stride - 1]),
      ...best.map(({ rightCount }) => rightCount),
    ],
  };
}
