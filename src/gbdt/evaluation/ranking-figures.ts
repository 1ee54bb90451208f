/** Rankings: NDCG of every group, and its mean by the size of groups. */
import { rankGroups } from "../objective/rank-groups.ts";
import { ndcg } from "../metric/rank-metrics.ts";

/** The largest size of each class of groups. */
const sizesMost = [1, 5, 10, 20, 50, Infinity] as const;

export interface RankedGroups {
  /** Per group. */
  readonly ndcg: Float64Array;
  readonly sizes: Uint32Array;
  readonly weights: Float64Array | null;
}

export function rankedGroups(
  scores: Float64Array,
  labels: Float64Array,
  groups: Float64Array,
  weights: Float64Array | null,
): RankedGroups {
  const members = rankGroups(groups, null);
  const pick = (values: Float64Array, rows: Uint32Array): Float64Array => Float64Array.from(rows, (row) => values[row]);
  return {
    ndcg: Float64Array.from(members, (rows) =>
      ndcg({ scores: pick(scores, rows), labels: pick(labels, rows), groups: pick(groups, rows), places: Infinity }),
    ),
    sizes: Uint32Array.from(members, ({ length }) => length),
    weights: weights && Float64Array.from(members, ([first]) => weights[first]),
  };
}

export interface SizeClass {
  readonly from: number;
  /** Null: no largest size. */
  readonly to: number | null;
  readonly groups: number;
  readonly ndcg: number;
}

/** Weighted means by the size of groups; sizes without groups are left out. */
export function bySize({ ndcg: values, sizes, weights }: RankedGroups): SizeClass[] {
  return sizesMost.flatMap((to, i) => {
    const from = (sizesMost[i - 1] ?? 0) + 1;
    let [sum, total, groups] = [0, 0, 0];
    sizes.forEach((size, group) => {
      if (size < from || size > to) return;
      const weight = weights?.[group] ?? 1;
      sum += weight * values[group];
      total += weight;
      groups++;
    });
    return total === 0 ? [] : [{ from, to: to === Infinity ? null : to, groups, ndcg: sum / total }];
  });
}
