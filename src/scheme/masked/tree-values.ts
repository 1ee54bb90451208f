/**
 * The active party's numbers of masked scoring, for many rows of one tree at once: which leaf each node leads to if all
 * passive splits go right, whether own splits allow the node, and differences of leaf weights. Loops are over rows, so
 * that a node's work is a few plain loops over bytes and words.
 */
import type { Shape } from "../../crypto/transfer/product-kernel.ts";
import { addResidues } from "../../crypto/transfer/residues.ts";
import type { Tree } from "../../gbdt/tree/tree.ts";

/** Writes the outcomes of an own split for rows from `first` on, one for each byte of the target: 1 goes left. */
export type WriteOutcomes = (tree: number, node: number, first: number, target: Uint8Array) => void;

/** Rows that are walked together: what is held per node stays in the cache. */
const rowsAtOnce = 256;

interface WalkedRows {
  readonly first: number;
  readonly count: number;
  /** Per node and row: the leaf that is reached from the node if all passive splits go right. */
  readonly reached: readonly Int32Array[];
  /** Per node and row: 1 if own splits allow it. */
  readonly isOpen: readonly Uint8Array[];
}

/**
 * All rows of a tree, some at a time; what is yielded is overwritten after that.
 * @param own writes the outcomes of an own split, as WriteOutcomes does
 */
export function* walkedRows(
  tree: Tree<{ readonly owner: number }>,
  rowCount: number,
  own: (node: number, first: number, target: Uint8Array) => void,
): Generator<WalkedRows> {
  const length = Math.min(rowsAtOnce, rowCount);
  const bytes = (): Uint8Array => new Uint8Array(length);
  const isOpen = tree.map(bytes);
  const outcomes = tree.map((node) => (node.kind === "split" && node.rule.owner === 0 ? bytes() : null));
  const reached = tree.map((_, id) => new Int32Array(length).fill(id));
  isOpen[0]?.fill(1);
  // Children have larger ids than their parent. Below a passive split the same rows are allowed.
  tree.forEach((node, id) => {
    if (node.kind === "split" && outcomes[id] === null) isOpen[node.left] = isOpen[node.right] = isOpen[id];
  });
  for (let id = tree.length - 1; id >= 0; id--) {
    const node = tree[id];
    if (node.kind === "split" && outcomes[id] === null) reached[id] = reached[node.right];
  }
  for (let first = 0; first < rowCount; first += length) {
    const count = Math.min(length, rowCount - first);
    tree.forEach((node, id) => {
      const goesLeft = outcomes[id];
      if (node.kind === "leaf" || goesLeft === null) return;
      own(id, first, goesLeft.subarray(0, count));
      const [open, left, right] = [isOpen[id], isOpen[node.left], isOpen[node.right]];
      for (let row = 0; row < count; row++) {
        left[row] = open[row] & goesLeft[row];
        right[row] = open[row] & (goesLeft[row] ^ 1);
      }
    });
    for (let id = tree.length - 1; id >= 0; id--) {
      const node = tree[id];
      const goesLeft = outcomes[id];
      if (node.kind === "leaf" || goesLeft === null) continue;
      const [all, left, right] = [reached[id], reached[node.left], reached[node.right]];
      for (let row = 0; row < count; row++) all[row] = goesLeft[row] === 1 ? left[row] : right[row];
    }
    yield { first, count, reached, isOpen };
  }
}

/** Per row the weight of the leaf on the left minus that on the right; 0 where it is not open. */
export function writeDifferences(
  target: Uint32Array,
  leaves: Uint32Array,
  { width, limbs }: Shape,
  { left, right, isOpen }: { readonly left: Int32Array; readonly right: Int32Array; readonly isOpen: Uint8Array },
): void {
  const count = target.length / width;
  if (width === 2 && limbs === 2) {
    for (let row = 0, at = 0; row < count; row++, at += 2) {
      const mask = -isOpen[row];
      const [a, b] = [2 * left[row], 2 * right[row]];
      const low = leaves[a];
      const difference = (low - leaves[b]) >>> 0;
      target[at] = difference & mask;
      target[at + 1] = (leaves[a + 1] - leaves[b + 1] - (difference > low ? 1 : 0)) & mask;
    }
    return;
  }
  for (let row = 0; row < count; row++) {
    if (isOpen[row] === 0) continue;
    addResidues(target, leaves, limbs, 1, row * width, left[row] * width, width);
    addResidues(target, leaves, limbs, -1, row * width, right[row] * width, width);
  }
}
