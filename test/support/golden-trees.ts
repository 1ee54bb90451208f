/** Trees of XGBoost's, and ours compared with them from the root down. */
import { expect } from "vitest";
import { valueGoesLeft } from "../../src/gbdt/split/split-test.ts";
import type { SplitNode, SplitRule, Tree } from "../../src/gbdt/tree/tree.ts";

export interface GoldenTree {
  left: number[];
  right: number[];
  feature: number[];
  /** A leaf's weight where left is -1. */
  threshold: number[];
  default_left: boolean[];
  /** A leaf's weights where it has one per class. */
  weights?: number[][];
  gain: number[];
  cover: number[];
}

/** XGBoost's routing of the training rows: the rows of every node. */
export function rowsOfNodes(tree: GoldenTree, columns: Float32Array[]): number[][] {
  const rows: number[][] = tree.left.map(() => []);
  for (let row = 0; row < columns[0].length; row++) {
    let id = 0;
    rows[id].push(row);
    while (tree.left[id] !== -1) {
      const x = columns[tree.feature[id]][row];
      const goesLeft = Number.isNaN(x) ? tree.default_left[id] : x < tree.threshold[id];
      id = goesLeft ? tree.left[id] : tree.right[id];
      rows[id].push(row);
    }
  }
  return rows;
}

export interface Comparison {
  readonly ours: Tree<SplitRule>;
  readonly theirs: GoldenTree;
  /** XGBoost's rows of each node. */
  readonly rows: number[][];
  readonly columns: Float32Array[];
  readonly featureIndex: (rule: SplitRule) => number;
}

/** Compares two trees from the root down. @returns the number of mirrored splits */
export function compareTrees(comparison: Comparison): number {
  const { ours, theirs } = comparison;
  expect(ours.length).toBe(theirs.left.length);
  const pairs: [ourId: number, theirId: number][] = [[0, 0]];
  let mirroredCount = 0;
  for (const [ourId, theirId] of pairs) {
    if (mirroredCount === 0) expect(ourId).toBe(theirId);
    const node = ours[ourId];
    compareStatistics(comparison, ourId, theirId);
    if (node.kind === "leaf") continue;
    const isMirrored = compareSplit(comparison, node, theirId);
    if (isMirrored) mirroredCount++;
    const children = [theirs.left[theirId], theirs.right[theirId]];
    if (isMirrored) children.reverse();
    pairs.push([node.left, children[0]], [node.right, children[1]]);
  }
  expect(pairs.length).toBe(ours.length);
  return mirroredCount;
}

function compareStatistics({ ours, theirs, rows }: Comparison, ourId: number, theirId: number): void {
  const node = ours[ourId];
  const where = `node ${ourId}`;
  expect(node.count, where).toBe(rows[theirId].length);
  expect(Math.abs(node.cover - theirs.cover[theirId]), where).toBeLessThan(1e-4 * (1 + node.cover));
  expect(node.kind, where).toBe(theirs.left[theirId] === -1 ? "leaf" : "split");
  if (node.kind === "leaf") {
    const weights = theirs.weights?.[theirId] ?? [theirs.threshold[theirId]];
    weights.forEach((weight, output) => {
      const ours = node.weights?.[output] ?? node.weight;
      expect(Math.abs(ours - weight), where).toBeLessThan(1e-5 * (1 + Math.abs(ours)));
    });
  } else {
    expect(Math.abs(node.gain - theirs.gain[theirId]), where).toBeLessThan(1e-3 + 1e-4 * node.gain);
  }
}

/**
 * The same feature and the same partition of the node's rows, always. The same threshold and default direction too, but
 * for the two kinds of exact ties that XGBoost breaks differently (README.md):
 * - missing left: of tied thresholds (over bins that are empty in the node) XGBoost takes the highest, we the lowest;
 * - missing values against all present ones: XGBoost sends the present ones left, we the missing ones if some
 *   threshold lies below the node's present values. The children are mirrored.
 * @returns whether the children are mirrored
 */
function compareSplit(
  { theirs, rows, columns, featureIndex }: Comparison,
  node: SplitNode<SplitRule>,
  theirId: number,
) {
  const where = `node ${theirId} of XGBoost`;
  expect(featureIndex(node.rule), where).toBe(theirs.feature[theirId]);
  const column = columns[theirs.feature[theirId]];
  const left = rows[theirId].filter((row) => valueGoesLeft(node.rule, column[row]));
  const missing = rows[theirId].filter((row) => Number.isNaN(column[row]));
  const theirRight = rows[theirs.right[theirId]];
  if (missing.length > 0 && node.rule.defaultLeft && !theirs.default_left[theirId]) {
    expect(left, where).toEqual(missing);
    expect(theirRight, where).toEqual(missing);
    return true;
  }
  expect(left, where).toEqual(rows[theirs.left[theirId]]);
  if (missing.length > 0) expect(node.rule.defaultLeft, where).toBe(theirs.default_left[theirId]);
  const theirThreshold = theirs.threshold[theirId];
  if (node.rule.defaultLeft) expect(node.rule.threshold, where).toBeLessThanOrEqual(theirThreshold);
  else expect(node.rule.threshold, where).toBe(theirThreshold);
  return false;
}
