/**
 * Weights of ranking groups, as XGBoost has them (2.1, src/common/ranking_utils.cc): one per group, scaled so that they
 * are 1 on average over the groups that are learnt from. They are given row by row, and the same for all of a group.
 */
import { TandemError } from "../../base/error.ts";
import { rankGroups } from "./rank-groups.ts";

/**
 * @param whose what the message begins with
 * @throws TandemError WEIGHT_INVALID naming the first instance whose weight is not its group's, and no value
 */
export function checkGroupWeights(weights: Float64Array, groups: Float64Array, whose = ""): void {
  const firstOf = new Map<number, number>();
  const bad = weights.findIndex((weight, row) => {
    const first = firstOf.get(groups[row]);
    if (first === undefined) firstOf.set(groups[row], row);
    return first !== undefined && weights[first] !== weight;
  });
  if (bad === -1) return;
  throw new TandemError(
    "WEIGHT_INVALID",
    `${whose}the weight of instance ${bad} is another than that of instance ${firstOf.get(groups[bad])} ` +
      "of its group (qid): in a ranking groups have weights, and every row has its group's",
  );
}

/** @param rows those that are learnt from; null: all. @returns per row what its gradients are multiplied with */
export function scaledGroupWeights(
  weights: Float64Array,
  groups: Float64Array,
  rows: Uint32Array | null,
): Float64Array {
  const all = rankGroups(groups, rows);
  const sum = all.reduce((total, [first]) => total + weights[first], 0);
  if (sum === 0) throw new TandemError("WEIGHT_INVALID", "all weights are 0; there is nothing to learn from");
  return weights.map((weight) => (weight * all.length) / sum);
}
