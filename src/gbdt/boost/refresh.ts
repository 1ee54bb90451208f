/**
 * New leaf values for an existing model (XGBoost's process_type=update, updater=refresh): splits stay, and each round's
 * gradients are those of the refreshed rounds before it. It needs only the leaf of each instance and the labels, so the
 * active party does it alone.
 *
 * Node statistics are those of the new instances. As in XGBoost (src/tree/updater_refresh.cc) constraints and sampling
 * are ignored.
 */
import { assert } from "../../base/assert.ts";
import type { TrainingParameters } from "../parameters/training-parameters.ts";
import { leafValue, toSplitParameters, TreeGain } from "../split/gain.ts";
import { addLeafWeights } from "./train.ts";
import type { BoostingTask } from "./boosting-task.ts";
import { beginsBoostingRound, etaPerTree } from "./gradient-rounds.ts";
import type { Tree, TreeNode } from "../tree/tree.ts";
import type { WeighedTrees } from "../tree/weighted-trees.ts";

/** The identity grid: sums of doubles. */
const asTheyAre = { shift: 0, resolution: 1 };

export interface RefreshedTrees<R> {
  readonly trees: Tree<R>[];
  /** Margins of the new instances after the last tree. */
  readonly margins: Float64Array;
}

/**
 * @param task of the new instances, with the model's objective
 * @param leavesOf per tree the leaf of each instance
 * @param refreshLeaf XGBoost's refresh_leaf: false keeps leaf values, and refreshes statistics only
 */
export function refreshTrees<R>(
  { trees, baseMargin, treeWeights }: WeighedTrees<R> & { readonly baseMargin: number },
  task: BoostingTask,
  parameters: TrainingParameters,
  leavesOf: (tree: number) => Uint32Array,
  refreshLeaf = true,
): RefreshedTrees<R> {
  assert(treeWeights === undefined, "models of booster dart cannot be refreshed");
  const margins = task.startMargins(baseMargin);
  const perRound = task.treeOutputs.length;
  const refreshed: Tree<R>[] = [];
  let values: readonly Float64Array[] = [];
  for (const [index, tree] of trees.entries()) {
    const isFirstOfRound = index % perRound === 0;
    if (isFirstOfRound && beginsBoostingRound(index / perRound, parameters)) values = task.gradients(margins).values;
    const leaves = leavesOf(index);
    const fresh = refreshedTree(tree, leaves, values, task.treeOutputs[index % perRound], parameters, refreshLeaf);
    refreshed.push(fresh);
    addLeafWeights(margins, task.outputCount, index, fresh, leaves);
  }
  return { trees: refreshed, margins };
}

function refreshedTree<R>(
  tree: Tree<R>,
  leaves: Uint32Array,
  values: readonly Float64Array[],
  outputs: readonly number[],
  parameters: TrainingParameters,
  refreshLeaf: boolean,
): Tree<R> {
  const gain = new TreeGain(
    values.map(() => asTheyAre),
    toSplitParameters(parameters),
    { outputs },
  );
  const sums = nodeSums(tree, leaves, values);
  const eta = etaPerTree(parameters);
  return tree.map((node, id): TreeNode<R> => {
    const statistics = { cover: gain.cover(sums[id]), count: sums[id][values.length] };
    if (node.kind === "split") {
      const term = (of: number): number => termOf(gain, sums[of], outputs, parameters);
      return { ...node, ...statistics, gain: term(node.left) + term(node.right) - term(id) };
    }
    if (!refreshLeaf) return { ...node, ...statistics };
    const weights = gain.weights(sums[id]).map((weight) => leafValue(weight, eta));
    return { ...node, ...statistics, weight: weights[0], ...(node.weights === undefined ? {} : { weights }) };
  });
}

/** Per node the sums of all slots over its instances, and their number. */
function nodeSums<R>(tree: Tree<R>, leaves: Uint32Array, values: readonly Float64Array[]): Float64Array[] {
  const sums = tree.map(() => new Float64Array(values.length + 1));
  leaves.forEach((leaf, row) => {
    values.forEach((column, slot) => (sums[leaf][slot] += column[row]));
    sums[leaf][values.length]++;
  });
  // Children come after their parents.
  for (let id = tree.length - 1; id >= 0; id--) {
    const node = tree[id];
    if (node.kind === "leaf") continue;
    sums[node.left].forEach((sum, i) => (sums[id][i] = sum + sums[node.right][i]));
  }
  return sums;
}

/** A node's term of its parent's gain: 0 without enough hessian. */
function termOf(
  gain: TreeGain,
  sums: Float64Array,
  outputs: readonly number[],
  { lambda, max_delta_step: step }: TrainingParameters,
): number {
  const weights = gain.weights(sums);
  return outputs.reduce((total, output, i) => {
    const [g, h, w] = [sums[2 * output], sums[2 * output + 1], weights[i]];
    return total + (step === 0 ? w * w * (h + lambda) : -(2 * g * w + (h + lambda) * w * w));
  }, 0);
}
