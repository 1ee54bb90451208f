/**
 * The contributions of the players of one tree to the margins of many instances. A player is what counts as one
 * feature; the caller decides which splits belong to the same player. Rows go through the tree together, node by node;
 * a row's state at a node has a bit per player of the path: passed so far, or not.
 *
 * Short paths have few states, and the values of a state are computed once per leaf. Longer paths are computed per row.
 * The work per row and leaf is at most quadratic in the number of players of its path.
 */
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import type { LeafNode, Tree } from "../tree/tree.ts";
import { LeafShares } from "./leaf-shares.ts";

/** The player of splits that take no part: an instance goes both ways, by the covers, in every coalition. */
export const absentPlayer = -1;

export interface ExplainedTree {
  readonly tree: Tree<unknown>;
  /** Per node: the player of its split, from 0 on, or absentPlayer. */
  readonly players: ArrayLike<number>;
  /** Per player: the column to which its values are added. */
  readonly columns: ArrayLike<number>;
  /** The values of a leaf for each output of the tree. */
  readonly outputs: readonly { readonly output: number; weightOf(leaf: LeafNode): number }[];
}

/** Per row its outputs, per output its columns, and the bias as the last of them. */
export interface ContributionTable {
  readonly values: Float64Array;
  readonly rowCount: number;
  readonly outputCount: number;
  readonly columnCount: number;
}

/** Rows that go through a tree together: their state fits the processor's cache. */
const blockRows = 4096;
/** Maximum number of players with a table: 1024 states of 10 values fit the cache; trees of depth 10 need no more. */
const tabledPlayersMax = 10;

/** Yields to the event loop, because many rows take long. */
export async function addTreeContributions(
  explained: ExplainedTree,
  goesLeft: (node: number, row: number) => boolean,
  table: ContributionTable,
): Promise<void> {
  addBias(explained, table);
  const walk = new Walk(explained, goesLeft, table);
  for (let first = 0; first < table.rowCount; first += blockRows) {
    walk.block(first, Math.min(blockRows, table.rowCount - first));
    if (isSliceOver()) await nextSlice();
  }
}

/** The fractions of a node's training instances that go left and right. */
export function coverRatios(tree: Tree<unknown>, id: number): readonly [left: number, right: number] {
  const node = tree[id];
  if (node.kind === "leaf") return [1, 0];
  const [left, right] = [tree[node.left], tree[node.right]];
  if (node.cover > 0) return [left.cover / node.cover, right.cover / node.cover];
  // Without hessians instance counts are used.
  const count = left.count + right.count;
  return count > 0 ? [left.count / count, right.count / count] : [0.5, 0.5];
}

/** The mean of a tree over its training rows is added to the bias. */
function addBias({ tree, outputs }: ExplainedTree, table: ContributionTable): void {
  const { values, rowCount, outputCount, columnCount } = table;
  const parts = new Float64Array(tree.length);
  parts[0] = 1;
  const means = outputs.map(() => 0);
  // Children come after their parents.
  tree.forEach((node, id) => {
    if (node.kind === "leaf") outputs.forEach(({ weightOf }, k) => (means[k] += parts[id] * weightOf(node)));
    else {
      const [left, right] = coverRatios(tree, id);
      parts[node.left] = parts[id] * left;
      parts[node.right] = parts[id] * right;
    }
  });
  const width = columnCount + 1;
  outputs.forEach(({ output }, k) => {
    for (let row = 0; row < rowCount; row++) values[(row * outputCount + output) * width + columnCount] += means[k];
  });
}

class Walk {
  readonly #explained: ExplainedTree;
  readonly #goesLeft: (node: number, row: number) => boolean;
  readonly #table: ContributionTable;
  readonly #shares = new LeafShares();
  /** Words of 32 bits that a row's state takes. */
  readonly #words: number;
  readonly #blockRows: number;
  /** Per depth, the rows' states there. */
  readonly #states: Uint32Array[] = [];
  /** Per depth, whether a row goes left at the current node. */
  readonly #lefts: Uint8Array[] = [];
  /** The path's players in the order of their first split, and their z. */
  readonly #players: number[] = [];
  readonly #z: number[] = [];
  /** Per state, from 0 on, a value per player. */
  readonly #tabled: Float64Array;
  /** Per state the leaf for which it was last computed; 0, the root, stands for none. */
  readonly #tabledFor: Int32Array;
  readonly #tabledPlayers: number;
  #long = new Float64Array(0);
  /** The product of the cover ratios of the path's splits that take no part. */
  #absentPart = 1;
  #firstRow = 0;
  #rowCount = 0;

  constructor(explained: ExplainedTree, goesLeft: (node: number, row: number) => boolean, table: ContributionTable) {
    this.#explained = explained;
    this.#goesLeft = goesLeft;
    this.#table = table;
    this.#blockRows = Math.min(blockRows, table.rowCount);
    this.#tabledPlayers = Math.min(tabledPlayersMax, explained.columns.length);
    this.#tabled = new Float64Array(this.#tabledPlayers << this.#tabledPlayers);
    this.#tabledFor = new Int32Array(1 << this.#tabledPlayers);
    this.#words = Math.max(1, Math.ceil(explained.columns.length / 32));
  }

  block(firstRow: number, rowCount: number): void {
    [this.#firstRow, this.#rowCount] = [firstRow, rowCount];
    this.#statesAt(0).fill(0xffffffff);
    this.#visit(0, 0);
  }

  #visit(id: number, depth: number): void {
    const { tree, players } = this.#explained;
    const node = tree[id];
    if (node.kind === "leaf") {
      this.#leaf(id, node, this.#statesAt(depth));
      return;
    }
    const [left, right] = coverRatios(tree, id);
    if (players[id] === absentPlayer) {
      const part = this.#absentPart;
      this.#absentPart = part * left;
      this.#visit(node.left, depth);
      this.#absentPart = part * right;
      this.#visit(node.right, depth);
      this.#absentPart = part;
      return;
    }
    const met = this.#players.indexOf(players[id]);
    const slot = met === -1 ? this.#players.push(players[id]) - 1 : met;
    const before = met === -1 ? 1 : this.#z[slot];
    this.#ask(id, depth);
    this.#z[slot] = before * left;
    this.#step(1, slot, depth);
    this.#visit(node.left, depth + 1);
    this.#z[slot] = before * right;
    this.#step(0, slot, depth);
    this.#visit(node.right, depth + 1);
    this.#z[slot] = before;
    if (met === -1) {
      this.#players.pop();
      this.#z.pop();
    }
  }

  #ask(node: number, depth: number): void {
    const lefts = (this.#lefts[depth] ??= new Uint8Array(this.#blockRows));
    const [goesLeft, first] = [this.#goesLeft, this.#firstRow];
    for (let row = 0; row < this.#rowCount; row++) lefts[row] = goesLeft(node, first + row) ? 1 : 0;
  }

  /** The states one level down: rows that go the other way have not passed this player's splits. */
  #step(side: 0 | 1, slot: number, depth: number): void {
    const [from, to, lefts] = [this.#statesAt(depth), this.#statesAt(depth + 1), this.#lefts[depth]];
    const [words, rowCount] = [this.#words, this.#rowCount];
    const [word, bit] = [slot >>> 5, slot & 31];
    if (words > 1) to.set(from);
    for (let row = 0, at = word; row < rowCount; row++, at += words) to[at] = from[at] & ~((lefts[row] ^ side) << bit);
  }

  #leaf(id: number, leaf: LeafNode, states: Uint32Array): void {
    const count = this.#players.length;
    if (count === 0) return;
    const columns = Int32Array.from(this.#players, (player) => this.#explained.columns[player]);
    for (const { output, weightOf } of this.#explained.outputs) {
      const weight = weightOf(leaf) * this.#absentPart;
      if (weight === 0) continue;
      if (count <= this.#tabledPlayers) this.#addTabled(id, states, columns, output, weight);
      else this.#addLong(states, columns, output, weight);
    }
  }

  #addTabled(id: number, states: Uint32Array, columns: Int32Array, output: number, weight: number): void {
    const { values, outputCount, columnCount } = this.#table;
    const [tabled, tabledFor, words, rowCount, count] = [
      this.#tabled,
      this.#tabledFor,
      this.#words,
      this.#rowCount,
      columns.length,
    ];
    const [mask, tabledPlayers] = [(1 << count) - 1, this.#tabledPlayers];
    const stride = outputCount * (columnCount + 1);
    let at = this.#firstRow * stride + output * (columnCount + 1);
    for (let row = 0; row < rowCount; row++, at += stride) {
      const state = states[row * words] & mask;
      if (tabledFor[state] !== id) this.#tabulate(state, id, count);
      const first = state * tabledPlayers;
      for (let j = 0; j < count; j++) values[at + columns[j]] += weight * tabled[first + j];
    }
  }

  #tabulate(state: number, leaf: number, count: number): void {
    this.#shares.write(this.#z, count, (j) => (state & (1 << j)) !== 0, this.#tabled, state * this.#tabledPlayers);
    this.#tabledFor[state] = leaf;
  }

  #addLong(states: Uint32Array, columns: Int32Array, output: number, weight: number): void {
    const { values, outputCount, columnCount } = this.#table;
    const count = columns.length;
    if (this.#long.length < count) this.#long = new Float64Array(count);
    const [words, long] = [this.#words, this.#long];
    for (let row = 0; row < this.#rowCount; row++) {
      const passes = (j: number): boolean => ((states[row * words + (j >>> 5)] >>> (j & 31)) & 1) !== 0;
      this.#shares.write(this.#z, count, passes, long, 0);
      const at = ((this.#firstRow + row) * outputCount + output) * (columnCount + 1);
      for (let j = 0; j < count; j++) values[at + columns[j]] += weight * long[j];
    }
  }

  #statesAt(depth: number): Uint32Array {
    this.#states[depth] ??= new Uint32Array(this.#blockRows * this.#words);
    return this.#states[depth];
  }
}
