/**
 * The checkpoint fields of booster dart: the leaf of every instance in each tree, and the tree weights. The initial
 * margins replace the margins, which are recomputed by the same sums, bit for bit.
 */
import * as z from "zod";
import type { TandemError } from "../base/error.ts";
import { addPlaced, placed } from "../gbdt/boost/dart/placed-tree.ts";
import type { DartProgress } from "../gbdt/boost/dart/course.ts";
import { widened } from "../gbdt/tree/narrow-leaves.ts";
import type { Tree } from "../gbdt/tree/tree.ts";
import type { ActiveProgress } from "../protocol/active/role.ts";
import { bytesFrom, doublesFrom, toBase64 } from "./stored-numbers.ts";

export const dartSchema = z.strictObject({
  /** Per tree a number per instance, with as many bytes as the tree's size needs. */
  leaves: z.array(z.base64()),
  /** The weights of the trees of finished boosting rounds, float64. */
  weights: z.base64(),
});

export function storedDart({ placed: trees, weights }: DartProgress): z.infer<typeof dartSchema> {
  return { leaves: trees.map(({ leaves }) => toBase64(leaves)), weights: storedWeights(weights) };
}

export function storedWeights(weights: readonly number[]): string {
  return toBase64(Float64Array.from(weights));
}

/** @param start the initial margins. @throws TandemError CHECKPOINT if leaves, weights and trees are inconsistent */
export function dartFrom<R>(
  { leaves, weights }: z.infer<typeof dartSchema>,
  trees: readonly Tree<R>[],
  start: Float64Array,
  wrong: () => TandemError,
): { readonly margins: Float64Array; readonly dart: NonNullable<ActiveProgress["dart"]> } {
  const ofTrees = doublesFrom(weights);
  if (leaves.length !== trees.length || ofTrees.length > trees.length) throw wrong();
  const outputCounts = new Set<number>();
  const all = trees.map((tree, t) => {
    const ofTree = leavesFrom(leaves[t], tree, wrong);
    outputCounts.add(start.length / ofTree.length);
    return placed(tree, ofTree);
  });
  const [outputCount = 1, ...others] = outputCounts;
  if (others.length > 0 || !Number.isInteger(outputCount)) throw wrong();
  if (all.some(({ width }) => width !== 1 && width !== outputCount)) throw wrong();
  const margins = start.slice();
  ofTrees.forEach((weight, t) => addPlaced(margins, outputCount, t, all[t], weight));
  return { margins, dart: { start, placed: all, weights: [...ofTrees] } };
}

/** Each instance's leaf. @throws the error of `wrong` if some number is not a leaf */
export function leavesFrom<R>(text: string, tree: Tree<R>, wrong: () => TandemError): Uint32Array {
  const leaves = widened(bytesFrom(text), tree.length);
  const isLeaf = tree.map((node) => node.kind === "leaf");
  if (leaves.some((leaf) => isLeaf[leaf] !== true)) throw wrong();
  return leaves;
}
