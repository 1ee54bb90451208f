/**
 * A1, first part: links the positions of a candidate from tree to tree. Where members are hidden it has the same
 * position in all trees, because of hints. Otherwise the order is secret and drawn anew for every gradient round, but
 * without row sampling a candidate has the same count at every root. Candidates with equal counts are distinguished by
 * their sums (tied-positions.ts), or not linked any further. Category groups are linked by the counts of all their
 * categories.
 */
import { categoryRows } from "../../scheme/candidates/category-group.ts";
import { addKeys, keyFactors, combinedKey, instanceKeys, subtractKeys } from "./keys.ts";
import { crossingPositions } from "./missing-sets.ts";
import { matchTied } from "./tied-positions.ts";
import { type SeenNode, type SeenTree, strideOf, type Transcript, type WonSplit } from "./transcript.ts";

/** A node of any tree, with what all candidates have in common. */
export interface LinkedNode {
  /** Index of its tree in `keys`. */
  readonly tree: number;
  readonly summed: Uint32Array;
  /** The sum of the keys of all summed instances. */
  readonly total: number;
}

/** Instances that are known to be inside or outside a candidate's set, from a split that it won. */
export interface Outcome {
  readonly inside: Uint32Array;
  readonly outside: Uint32Array;
}

/** One unnamed set of instances: a candidate's side, or a category of a group. */
export interface LinkedSet {
  /** Per node the number of its instances in the set; -1: not sent. */
  readonly counts: Int32Array;
  /** Per node the sum of their keys. */
  readonly sums: Float64Array;
  readonly outcomes: readonly Outcome[];
  /** Its position in each tree's secret order; -1: not linked to that tree. */
  readonly positions: Int32Array;
}

/** Category sums of one feature, sent as a group: they partition the summed instances. */
export interface LinkedGroup {
  readonly parts: readonly LinkedSet[];
  /** Won splits: the indices of the group that go right, and the instances that do. */
  readonly outcomes: readonly { readonly right: readonly number[]; readonly sides: Outcome }[];
}

export interface LinkedRows {
  readonly instanceCount: number;
  /** The numbers of the trees that are linked. */
  readonly trees: readonly number[];
  /** Per tree the key of every instance. */
  readonly keys: readonly Float64Array[];
  readonly nodes: readonly LinkedNode[];
  readonly sets: readonly LinkedSet[];
  readonly groups: readonly LinkedGroup[];
}

/** Candidates that are linked over fewer trees than this are ignored. */
const linkedTreesMin = 3;

/** Leaves out trees whose root has other instances or another number of candidates than the first. */
export function linkRows({ instanceCount, trees, job }: Transcript): LinkedRows {
  const [first] = trees.filter(({ nodes }) => nodes.length > 0);
  const linked = trees.filter(
    (tree) => job.takesAllColumns && first !== undefined && isLike(tree, first, job.isLinked),
  );
  const nodes: LinkedNode[] = [];
  const keys: Float64Array[] = [];
  const places = linked.map((tree, t) => {
    const last = linked[t - 1];
    keys.push(last?.gradients === tree.gradients ? keys[t - 1] : instanceKeys(tree.gradients));
    return tree.nodes.map(({ summed }) => {
      nodes.push({ tree: t, summed, total: summed.reduce((sum, i) => addKeys(sum, keys[t][i]), 0) });
      return nodes.length - 1;
    });
  });
  const view = new TreesView(linked, places, nodes, { instanceCount, isLinked: job.isLinked });
  return {
    instanceCount,
    trees: linked.map(({ tree }) => tree),
    keys,
    nodes,
    sets: view.sets(),
    groups: view.groups(),
  };
}

/** @param isLinked candidates are linked by position: roots may then have different instances */
function isLike(tree: SeenTree, first: SeenTree, isLinked: boolean): boolean {
  const [a, b] = [tree.nodes[0], first.nodes[0]];
  return (
    a !== undefined &&
    a.rows.length / strideOf(tree) === b.rows.length / strideOf(first) &&
    tree.nodes.every(({ rows }) => rows.length === a.rows.length) &&
    (isLinked || (a.summed.length === b.summed.length && a.summed.every((instance, i) => instance === b.summed[i])))
  );
}

class TreesView {
  readonly #trees: readonly SeenTree[];
  readonly #places: readonly (readonly number[])[];
  readonly #nodes: readonly LinkedNode[];
  readonly #isLinked: boolean;
  readonly #all: Uint32Array;

  constructor(
    trees: readonly SeenTree[],
    places: readonly (readonly number[])[],
    nodes: readonly LinkedNode[],
    { instanceCount, isLinked }: { readonly instanceCount: number; readonly isLinked: boolean },
  ) {
    this.#trees = trees;
    this.#places = places;
    this.#nodes = nodes;
    this.#isLinked = isLinked;
    this.#all = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  }

  /**
   * Every candidate over the trees through which it can be linked, without those that cross others. A candidate whose
   * link is lost between two trees counts as two.
   */
  sets(): LinkedSet[] {
    const tracks = this.#isLinked ? this.#samePlaces() : this.#tracksByCount();
    const crossing = new Map<number, Set<number>>();
    const isCrossing = (track: Int32Array): boolean => {
      const end = track.findLastIndex((position) => position >= 0);
      let known = crossing.get(end);
      if (known === undefined) crossing.set(end, (known = crossingPositions(this.#trees[end])));
      return known.has(track[end]);
    };
    const shortest = Math.min(this.#trees.length, linkedTreesMin);
    const isLong = (track: Int32Array): boolean => track.filter((position) => position >= 0).length >= shortest;
    return tracks.filter((track) => isLong(track) && !isCrossing(track)).map((track) => this.#set(track));
  }

  /** Every group whose category counts at the root are unique in every tree. */
  groups(): LinkedGroup[] {
    const byCounts = this.#trees.map((tree) => ownGroups(tree, this.#isLinked));
    const shared = [...(byCounts[0]?.keys() ?? [])].filter((name) => byCounts.every((groups) => groups.has(name)));
    return shared.map((name) => this.#group(byCounts.map((groups) => groups.get(name) as GroupPlace)));
  }

  /** One track per position: hints have fixed positions. */
  #samePlaces(): Int32Array[] {
    const [first] = this.#trees;
    if (first === undefined) return [];
    const grouped = first.nodes[0].groups.reduce((sum, { size }) => sum + size, 0);
    return Array.from({ length: first.nodes[0].suppressed.length - grouped }, (_, i) =>
      new Int32Array(this.#trees.length).fill(grouped + i),
    );
  }

  #tracksByCount(): Int32Array[] {
    const byCount = this.#trees.map((tree) => positionsByCount(tree));
    const tracks: Int32Array[] = [];
    for (let t = this.#trees.length - 1; t >= 0; t--) {
      const followed = new Set(tracks.map((track) => track[t]));
      for (const position of [...byCount[t].values()].flat())
        if (!followed.has(position)) tracks.push(new Int32Array(this.#trees.length).fill(-1).fill(position, t, t + 1));
      if (t === 0) break;
      const matched = matchPositions(this.#trees[t], this.#trees[t - 1], byCount[t], byCount[t - 1]);
      for (const track of tracks) track[t - 1] = matched.get(track[t]) ?? -1;
    }
    return tracks;
  }

  #set(positions: Int32Array): LinkedSet {
    const counts = new Int32Array(this.#nodes.length).fill(-1);
    const sums = new Float64Array(this.#nodes.length);
    const outcomes: Outcome[] = [];
    this.#trees.forEach((tree, t) => {
      const stride = strideOf(tree);
      const factors = keyFactors(stride - 1);
      tree.nodes.forEach((node, i) => {
        const position = positions[t];
        if (position < 0 || node.suppressed[position] === 1) return;
        const at = this.#places[t][i];
        counts[at] = node.rows[position * stride + stride - 1];
        sums[at] = combinedKey(factors, (column) => node.rows[position * stride + column]);
        const { won } = node;
        if (won === null || won.candidates.length + won.sets.length !== 1 || won.candidates[0] !== position) return;
        const sides = this.#sidesOf(node, at, won, counts[at], sums[at]);
        if (sides !== null) outcomes.push(sides);
      });
    });
    return { counts, sums, outcomes, positions };
  }

  /** Which side of a won split was summed: by its count and its key. Null if both sides match. */
  #sidesOf(node: SeenNode, at: number, won: WonSplit, count: number, sum: number): Outcome | null {
    const { left } = won;
    const right = others(node.instances, left);
    const isSummed = node.summed === node.instances ? null : new Set(node.summed);
    const keys = this.#keysOf(at);
    const matches = (side: Uint32Array): boolean => {
      const summed = isSummed === null ? side : side.filter((i) => isSummed.has(i));
      return summed.length === count && summed.reduce((total, i) => addKeys(total, keys(i)), 0) === sum;
    };
    const [isLeft, isRight] = [matches(left), matches(right)];
    if (isLeft === isRight) return null;
    const sides = this.#revealedSides(node, won);
    return isLeft ? { inside: sides.left, outside: sides.right } : { inside: sides.right, outside: sides.left };
  }

  /** The instances whose side a won split reveals: the node's, or all of the job. */
  #revealedSides({ instances }: SeenNode, { left, leftOfAll }: WonSplit): { left: Uint32Array; right: Uint32Array } {
    return leftOfAll === null
      ? { left, right: others(instances, left) }
      : { left: leftOfAll, right: others(this.#all, leftOfAll) };
  }

  #keysOf(at: number): (instance: number) => number {
    const { columns } = this.#trees[this.#nodes[at].tree].gradients;
    const factors = keyFactors(columns.length);
    return (instance) => combinedKey(factors, (column) => columns[column][instance]);
  }

  #group(places: readonly GroupPlace[]): LinkedGroup {
    const { size } = places[0];
    const parts = Array.from({ length: size }, () => ({
      counts: new Int32Array(this.#nodes.length).fill(-1),
      sums: new Float64Array(this.#nodes.length),
    }));
    const outcomes: { right: readonly number[]; sides: Outcome }[] = [];
    this.#trees.forEach((tree, t) => {
      const { first, index } = places[t];
      const stride = strideOf(tree);
      const factors = keyFactors(stride - 1);
      tree.nodes.forEach((node, i) => {
        const at = this.#places[t][i];
        const { flipped } = node.groups[index];
        parts.forEach((part, place) => {
          const position = first + place;
          if (node.suppressed[position] === 1) return;
          const count = node.rows[position * stride + stride - 1];
          const sum = combinedKey(factors, (column) => node.rows[position * stride + column]);
          part.counts[at] = place === flipped ? node.summed.length - count : count;
          part.sums[at] = place === flipped ? subtractKeys(this.#nodes[at].total, sum) : sum;
        });
        const { won } = node;
        if (won === null || won.candidates.length + won.sets.length !== 1 || won.sets[0]?.group !== index) return;
        const { categories, missingLeft } = won.sets[0];
        const hasMissing = node.groups[index].hasMissing && !missingLeft;
        const right = hasMissing ? [...categories, size - 1] : categories;
        const sides = this.#revealedSides(node, won);
        outcomes.push({ right, sides: { inside: sides.right, outside: sides.left } });
      });
    });
    return {
      parts: parts.map((part, place) => ({
        ...part,
        outcomes: [],
        positions: Int32Array.from(places, ({ first }) => first + place),
      })),
      outcomes,
    };
  }
}

interface GroupPlace {
  readonly first: number;
  readonly index: number;
  readonly size: number;
}

/** Count at the root -> positions of ungrouped candidates. */
function positionsByCount(tree: SeenTree): Map<number, number[]> {
  const [root] = tree.nodes;
  const stride = strideOf(tree);
  const found = new Map<number, number[]>();
  const grouped = root.groups.reduce((sum, { size }) => sum + size, 0);
  for (let position = grouped; position < root.suppressed.length; position++) {
    if (root.suppressed[position] === 1) continue;
    const count = root.rows[position * stride + stride - 1];
    found.set(count, [...(found.get(count) ?? []), position]);
  }
  return found;
}

/** Position of a later tree -> of the tree before it. */
function matchPositions(
  later: SeenTree,
  earlier: SeenTree,
  ofLater: ReadonlyMap<number, number[]>,
  ofEarlier: ReadonlyMap<number, number[]>,
): Map<number, number> {
  const pairs = [...ofLater].flatMap(([count, positions]): [number[], number[]][] => {
    const before = ofEarlier.get(count);
    return before?.length === positions.length ? [[positions, before]] : [];
  });
  const matched = matchTied(
    later,
    earlier,
    pairs.filter(([positions]) => positions.length > 1),
  );
  for (const [positions, before] of pairs) if (positions.length === 1) matched.set(positions[0], before[0]);
  return matched;
}

/** Counts of all categories at the root -> the group, for groups whose counts are unique; or by index if linked. */
function ownGroups(tree: SeenTree, isLinked: boolean): Map<string, GroupPlace> {
  const [root] = tree.nodes;
  const stride = strideOf(tree);
  const totals = new Float64Array(stride);
  totals[stride - 1] = root.summed.length;
  const found = new Map<string, GroupPlace>();
  const repeated = new Set<string>();
  let first = 0;
  root.groups.forEach((group, index) => {
    const { rows, suppressed } = categoryRows(group, first, root, totals);
    const counts = Array.from(suppressed, (isSuppressed, i) => (isSuppressed === 1 ? "" : rows[(i + 1) * stride - 1]));
    const name = isLinked ? String(index) : [group.hasMissing, ...counts].join();
    if (found.has(name)) repeated.add(name);
    found.set(name, { first, index, size: group.size });
    first += group.size;
  });
  for (const name of repeated) found.delete(name);
  return found;
}

/** Elements of `all` that are not in `some`; both ascending. */
function others(all: Uint32Array, some: Uint32Array): Uint32Array {
  let next = 0;
  return all.filter((instance) => {
    if (instance !== some[next]) return true;
    next++;
    return false;
  });
}
