/**
 * A feature with missing values has each threshold twice, without and with them: these sets overlap without being
 * nested, though they belong to one feature. Their sums reveal them: the difference is the same set every time, or a
 * candidate itself. The larger set of each pair adds no information, and is left out.
 *
 * All positions of one tree are compared: the difference of two sets has matching sums at every node. A coincidence
 * only leaves out more sets.
 */
import { addKeys, keyFactors, combinedKey, subtractKeys } from "./keys.ts";
import { type SeenTree, strideOf } from "./transcript.ts";

/** Positions of a tree whose sets may cross others of their feature. */
export function crossingPositions(tree: SeenTree): Set<number> {
  const marks = marksOf(tree);
  const counts = rootCounts(tree);
  const markOf = (position: number): number => marks.get(position) ?? 0;
  const byMark = new Map(Array.from(marks, ([position, mark]) => [mark, position]));
  const crossing = new Set<number>();
  const left = (): number[] => [...marks.keys()].filter((position) => !crossing.has(position));
  const differences = (): [number, [number, number][]][] =>
    pairsBy(left(), (a, b) => (counts[a] < counts[b] ? subtractKeys(markOf(b), markOf(a)) : null));
  // A threshold with the missing values, where these are a candidate too.
  for (const [difference, pairs] of differences())
    if (byMark.has(difference)) for (const [, larger] of pairs) crossing.add(larger);
  // With one-hot categories the missing values are not a candidate; they are the difference common to all pairs.
  for (;;) {
    const [most] = differences().sort(([, a], [, b]) => b.length - a.length);
    if (most === undefined || most[1].length < 3) break;
    for (const [, larger] of most[1]) crossing.add(larger);
  }
  // Where missing values are the most frequent bin, both sides of a threshold add up to all other values.
  for (const [sum, pairs] of pairsBy(left(), (a, b) => (a < b ? addKeys(markOf(a), markOf(b)) : null))) {
    if (pairs.length < 2) continue;
    for (const position of pairs.flat()) crossing.add(position);
    crossing.delete(byMark.get(sum) ?? -1);
  }
  return crossing;
}

/** Per position one hash of its sums at all nodes without suppressed candidates; category groups are left out. */
function marksOf(tree: SeenTree): Map<number, number> {
  const stride = strideOf(tree);
  const nodes = tree.nodes.filter(({ suppressed }, i) => i === 0 || !suppressed.includes(1));
  const factors = keyFactors(nodes.length * stride);
  const [root] = tree.nodes;
  const grouped = root.groups.reduce((sum, { size }) => sum + size, 0);
  const marks = new Map<number, number>();
  const known = new Set<number>();
  for (let position = grouped; position < root.suppressed.length; position++) {
    if (root.suppressed[position] === 1) continue;
    const valueAt = (i: number): number => nodes[Math.floor(i / stride)].rows[position * stride + (i % stride)];
    const mark = combinedKey(factors, valueAt);
    if (!known.has(mark)) marks.set(position, mark); // equal sets of instances, as in two features: one is enough
    known.add(mark);
  }
  return marks;
}

function rootCounts(tree: SeenTree): Float64Array {
  const stride = strideOf(tree);
  const { rows } = tree.nodes[0];
  return Float64Array.from({ length: rows.length / stride }, (_, position) => rows[(position + 1) * stride - 1]);
}

/** All ordered pairs by a value. @param valueOf null: not this pair */
function pairsBy(
  positions: readonly number[],
  valueOf: (a: number, b: number) => number | null,
): [number, [number, number][]][] {
  const found = new Map<number, [number, number][]>();
  for (const a of positions) {
    for (const b of positions) {
      const value = a === b ? null : valueOf(a, b);
      if (value === null) continue;
      const pairs = found.get(value);
      if (pairs === undefined) found.set(value, [[a, b]]);
      else pairs.push([a, b]);
    }
  }
  return [...found];
}
