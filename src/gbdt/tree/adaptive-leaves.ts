/**
 * Leaves that are quantiles of residuals, for objectives whose gradients are only signs (XGBoost 2.1,
 * src/objective/adaptive.cc). Splits, node ids and statistics stay; only the leaf values change. Both trainers take
 * this step with what the active party knows, so passive parties are not involved.
 */
import { quantileOf } from "../objective/quantile.ts";
import { leafValue } from "../split/gain.ts";
import type { GrownTree } from "./grow.ts";
import type { TreeNode } from "./tree.ts";

export interface LeafResiduals {
  /** Label minus margin before this tree, per instance. */
  readonly residuals: Float64Array;
  /** Null: every instance counts once. */
  readonly weights: Float64Array | null;
  readonly alpha: number;
  readonly eta: number;
}

/** @param sample the instances that the tree was trained on; null: all */
export function withQuantileLeaves<R>(
  { tree, leaves }: GrownTree<R>,
  sample: Uint32Array | null,
  { residuals, weights, alpha, eta }: LeafResiduals,
): GrownTree<R> {
  const members = rowsOfLeaves(leaves, sample, tree.length);
  const adapted = tree.map((node, id): TreeNode<R> => {
    if (node.kind === "split") return node;
    const own = Float64Array.from(members[id], (row) => residuals[row]);
    const ownWeights = weights && Float64Array.from(members[id], (row) => weights[row]);
    // A leaf without sampled instances is 0.
    const quantile = own.length === 0 ? 0 : quantileOf(own, ownWeights, alpha);
    return { ...node, weight: leafValue(quantile, eta) };
  });
  return { tree: adapted, leaves };
}

function rowsOfLeaves(leaves: Uint32Array, sample: Uint32Array | null, nodeCount: number): number[][] {
  const rows = Array.from({ length: nodeCount }, (): number[] => []);
  if (sample === null) leaves.forEach((leaf, row) => rows[leaf].push(row));
  else for (const row of sample) rows[leaves[row]].push(row);
  return rows;
}
