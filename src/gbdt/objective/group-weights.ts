/**
 * Weights of ranking groups, as in XGBoost (2.1, src/common/ranking_utils.cc): one per group, scaled to a mean of 1
 * over the groups that are trained on. They are given row by row, equal within a group.
 */
import { TandemError } from "../../base/error.ts";
import { rankGroups } from "./rank-groups.ts";

/**
 * @param whose prefix of the message
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
    `${whose}the weight of instance ${bad} differs from that of instance ${firstOf.get(groups[bad])} ` +
      "of its group (qid): in a ranking groups have weights, and every row has its group's",
  );
}

/** @param rows the training rows; null: all. @returns per row the factor of its gradients */
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
