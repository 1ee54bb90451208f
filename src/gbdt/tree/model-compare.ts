/** The comparison of the main oracle: whether two models are equal, node for node and bit for bit. */
import type { Model } from "./model.ts";
import type { SplitRule, Tree, TreeNode } from "./tree.ts";

/** @returns the position and kind of the first difference as text; null if there is none */
export function firstDifference(a: Model, b: Model): string | null {
  const head =
    differing("objective", a.objective, b.objective) ??
    differing("base margin", a.baseMargin, b.baseMargin) ??
    differing("number of outputs", a.outputCount ?? 1, b.outputCount ?? 1) ??
    differing("parallel trees", a.parallelTrees ?? 1, b.parallelTrees ?? 1) ??
    differing("number of trees", a.trees.length, b.trees.length) ??
    differing("tree weights", a.treeWeights?.join(), b.treeWeights?.join());
  if (head !== null) return head;
  for (let t = 0; t < a.trees.length; t++) {
    const difference = firstTreeDifference(a.trees[t], b.trees[t]);
    if (difference !== null) return `tree ${t}, ${difference}`;
  }
  return null;
}

/** firstDifference of two trees. */
export function firstTreeDifference(a: Tree<SplitRule>, b: Tree<SplitRule>): string | null {
  // Nodes before counts: the first node that differs says more than a different size does.
  for (let id = 0; id < Math.min(a.length, b.length); id++) {
    const difference = nodeDifference(a[id], b[id]);
    if (difference !== null) return `node ${id}: ${difference}`;
  }
  return differing("number of nodes", a.length, b.length);
}

function nodeDifference(a: TreeNode<SplitRule>, b: TreeNode<SplitRule>): string | null {
  const shared = differing("count", a.count, b.count) ?? differing("cover", a.cover, b.cover);
  if (a.kind === "leaf" && b.kind === "leaf")
    return (
      shared ??
      differing("leaf weight", a.weight, b.weight) ??
      differing("leaf weights", a.weights?.join(), b.weights?.join())
    );
  if (a.kind === "split" && b.kind === "split") {
    return (
      shared ??
      differing("owner", a.rule.owner, b.rule.owner) ??
      differing("feature", a.rule.feature, b.rule.feature) ??
      differing("feature name", a.rule.featureName, b.rule.featureName) ??
      differing("threshold", a.rule.threshold, b.rule.threshold) ??
      differing(
        "categories",
        a.rule.categories && JSON.stringify(a.rule.categories),
        b.rule.categories && JSON.stringify(b.rule.categories),
      ) ??
      differing("default direction left", a.rule.defaultLeft, b.rule.defaultLeft) ??
      differing("gain", a.gain, b.gain) ??
      differing("left child", a.left, b.left) ??
      differing("right child", a.right, b.right)
    );
  }
  return differing("kind", a.kind, b.kind);
}

function differing(what: string, a: unknown, b: unknown): string | null {
  return Object.is(a, b) ? null : `${what} ${textOf(a)} versus ${textOf(b)}`;
}

function textOf(value: unknown): string {
  return Object.is(value, -0) ? "-0" : String(value);
}
