/** A tree as margins need it: the leaf of each instance, and the leaf values. */
import { assert } from "../../../base/assert.ts";
import { narrow, type NarrowLeaves } from "../../tree/narrow-leaves.ts";
import type { Tree } from "../../tree/tree.ts";

export interface PlacedTree {
  readonly leaves: NarrowLeaves;
  /** Per node its values: `width` numbers, one, or one per output in a tree with several. */
  readonly values: Float64Array;
  readonly width: number;
}

export function placed<R>(tree: Tree<R>, leaves: Uint32Array): PlacedTree {
  const widths = tree.map((node) => (node.kind === "leaf" ? (node.weights?.length ?? 1) : 1));
  const width = widths.reduce((most, own) => Math.max(most, own), 1);
  // The value of a split is never used: rows end at leaves.
  const values = new Float64Array(tree.length * width).fill(Number.NaN);
  tree.forEach((node, id) => {
    if (node.kind === "leaf") values.set(node.weights ?? [node.weight], id * width);
  });
  return { leaves: narrow(leaves, tree.length), values, width };
}

/**
 * margins += weight * leaf, in double: the product of two float32 numbers is exact.
 * @param tree its index: with one output per tree, tree t belongs to output t mod outputCount
 */
export function addPlaced(
  margins: Float64Array,
  outputCount: number,
  tree: number,
  { leaves, values, width }: PlacedTree,
  weight: number,
): void {
  assert(leaves.length * outputCount === margins.length, "every instance has a leaf");
  const scaled = values.map((value) => value * weight);
  const first = width === 1 ? tree % outputCount : 0;
  for (let i = 0; i < leaves.length; i++)
    for (let k = 0; k < width; k++) margins[i * outputCount + first + k] += scaled[leaves[i] * width + k];
}
