import { expect, test } from "vitest";
import { leaf, type OwnerTree, randomTree } from "../../../test/support/masked-parties.ts";
import { SeededRandom } from "../../base/random.ts";
import { walkedRows, writeDifferences } from "./tree-values.ts";

/** Some outcome. */
function goes(node: number, row: number): boolean {
  return ((Math.imul(31 * node + row + 1, 0x9e3779b1) >>> 16) & 1) === 1;
}

/** The leaf that a row reaches from a node if passive splits go right. */
function leafFrom(tree: OwnerTree, goesLeft: (node: number) => boolean, from: number): number {
  for (let id = from; ;) {
    const node = tree[id];
    if (node.kind === "leaf") return id;
    id = node.rule.owner === 0 && goesLeft(id) ? node.left : node.right;
  }
}

/** Nodes that own splits allow. */
function openNodes(tree: OwnerTree, goesLeft: (node: number) => boolean): Set<number> {
  const open = new Set<number>();
  const visit = (id: number): void => {
    open.add(id);
    const node = tree[id];
    if (node.kind === "leaf") return;
    if (node.rule.owner > 0 || goesLeft(id)) visit(node.left);
    if (node.rule.owner > 0 || !goesLeft(id)) visit(node.right);
  };
  visit(0);
  return open;
}

test.each([1, 255, 256, 600])("%i rows are walked as they are one by one", (rowCount) => {
  const random = new SeededRandom(`walk ${rowCount}`);
  for (const depth of [0, 1, 4]) {
    const tree = randomTree(random, 2, () => leaf(1), depth);
    let seen = 0;
    for (const { first, count, reached, isOpen } of walkedRows(tree, rowCount, (node, from, target) =>
      target.forEach((_, i) => (target[i] = goes(node, from + i) ? 1 : 0)),
    )) {
      expect(first).toBe(seen);
      seen += count;
      for (let row = 0; row < count; row += 7) {
        const goesLeft = (node: number): boolean => goes(node, first + row);
        const open = openNodes(tree, goesLeft);
        expect(reached.map((leaves) => leaves[row])).toEqual(tree.map((_, id) => leafFrom(tree, goesLeft, id)));
        expect(isOpen.map((flags) => flags[row])).toEqual(tree.map((_, id) => (open.has(id) ? 1 : 0)));
      }
    }
    expect(seen).toBe(rowCount);
  }
});

test.each([
  [2, 2],
  [3, 3],
  [4, 2],
  [1, 1],
])("differences of leaves of %i words, in integers of %i", (width, limbs) => {
  const leaves = Uint32Array.from([0, 0, 0, 0, 0xffffffff, 0xffffffff, 5, 0xffffffff, 7, 1, 2, 3].slice(0, 3 * width));
  const bigOf = (words: Uint32Array, at: number): bigint =>
    words.subarray(at, at + limbs).reduceRight((all, word) => (all << 32n) | BigInt(word), 0n);
  const [left, right] = [Int32Array.of(0, 1, 2, 2, 0), Int32Array.of(1, 0, 1, 0, 2)];
  const isOpen = Uint8Array.of(1, 1, 1, 1, 0);
  const target = new Uint32Array(5 * width);
  writeDifferences(target, leaves, { width, limbs }, { left, right, isOpen });
  for (let row = 0; row < 5; row++)
    for (let at = 0; at < width; at += limbs) {
      const difference = bigOf(leaves, left[row] * width + at) - bigOf(leaves, right[row] * width + at);
      expect(bigOf(target, row * width + at)).toBe(isOpen[row] === 1 ? BigInt.asUintN(32 * limbs, difference) : 0n);
    }
});
