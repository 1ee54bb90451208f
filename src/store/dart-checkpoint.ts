/**
 * What a checkpoint keeps of booster dart: at which node of each tree every instance ends, and what trees weigh. Where
 * margins start stands in place of the margins, which follow by the sums that made them, bit for bit.
 */
import { z } from "zod";
import type { TandemError } from "../base/error.ts";
import { addPlaced, placed } from "../gbdt/boost/dart/placed-tree.ts";
import type { DartProgress } from "../gbdt/boost/dart/course.ts";
import { widened } from "../gbdt/tree/narrow-leaves.ts";
import type { Tree } from "../gbdt/tree/tree.ts";
import type { ActiveProgress } from "../protocol/active/role.ts";
import { bytesFrom, doublesFrom, textOf } from "./stored-numbers.ts";

export const dartSchema = z.strictObject({
  /** Per tree a number per instance, of as many bytes as the tree's size needs. */
  leaves: z.array(z.base64()),
  /** Of the trees of layers that have ended, each one float64. */
  weights: z.base64(),
});

export function storedDart({ placed: trees, weights }: DartProgress): z.infer<typeof dartSchema> {
  return { leaves: trees.map(({ leaves }) => textOf(leaves)), weights: storedWeights(weights) };
}

export function storedWeights(weights: readonly number[]): string {
  return textOf(Float64Array.from(weights));
}

/** @param start where margins begin. @throws TandemError CHECKPOINT if leaves, weights and trees do not fit */
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

/** Each instance's leaf. @throws what `wrong` makes if some number is no leaf's */
export function leavesFrom<R>(text: string, tree: Tree<R>, wrong: () => TandemError): Uint32Array {
  const leaves = widened(bytesFrom(text), tree.length);
  const isLeaf = tree.map((node) => node.kind === "leaf");
  if (leaves.some((leaf) => isLeaf[leaf] !== true)) throw wrong();
  return leaves;
}
