/** The nodes at which candidates are compared: all that are split, and leaves above the depth of the tree. */
import type { Model } from "../../src/gbdt/tree/model.ts";

/** At most: all nodes of the model's trees. */
export function nodesMaxOf({ trees }: Pick<Model, "trees">): number {
  return trees.reduce((sum, tree) => sum + tree.length, 0);
}
