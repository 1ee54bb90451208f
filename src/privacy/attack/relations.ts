/**
 * A1, second part: the possible relations of two unnamed sets of instances. A relation is refuted where
 * - the counts contradict it: of nested sets the inner one is never larger at any node;
 * - the difference of the sets would have a count of 0, 1 or 2, but no 0, 1 or 2 members have its key;
 * - outcomes of won splits show an instance that contradicts it.
 * What is not refuted is merely possible. linkage.ts concludes from refuted relations only.
 */
import { addKeys, subtractKeys } from "./keys.ts";
import type { LinkedRows } from "./linked-rows.ts";

/** Relations of a to b, as bits of what is still possible. */
export const inside = 1;
export const around = 2;
export const disjoint = 4;
/** The union is all instances. */
export const covering = 8;

/** Nodes with more members than this are not searched for pairs. */
const pairMembersMax = 4000;

/** Per pair of sets, a * setCount + b, the relations that are possible. */
export function possibleRelations(rows: LinkedRows): Uint8Array {
  const count = rows.sets.length;
  const possible = new Uint8Array(count * count);
  const tests = new Tests(rows);
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) {
      const found = tests.possible(a, b);
      possible[a * count + b] = found;
      possible[b * count + a] = mirrored(found);
    }
  }
  return possible;
}

export function mirrored(relations: number): number {
  const swapped = ((relations & inside) === 0 ? 0 : around) | ((relations & around) === 0 ? 0 : inside);
  return swapped | (relations & (disjoint | covering));
}

class Tests {
  readonly #rows: LinkedRows;
  /** Per node its members' keys in order; made when first needed. */
  readonly #sorted: (Float64Array | undefined)[] = [];
  /** Per set bitmaps of the instances known to be in it and not in it; null: none known. */
  readonly #known: readonly ({ readonly isIn: Uint32Array; readonly isOut: Uint32Array } | null)[];

  constructor(rows: LinkedRows) {
    this.#rows = rows;
    const words = Math.ceil(rows.instanceCount / 32);
    this.#known = rows.sets.map(({ outcomes }) => {
      if (outcomes.length === 0) return null;
      const known = { isIn: new Uint32Array(words), isOut: new Uint32Array(words) };
      for (const { inside: yes, outside: no } of outcomes) {
        for (const i of yes) known.isIn[i >>> 5] |= 1 << (i & 31);
        for (const i of no) known.isOut[i >>> 5] |= 1 << (i & 31);
      }
      return known;
    });
  }

  possible(a: number, b: number): number {
    let left = this.#byOutcomes(a, b);
    const { sets, nodes } = this.#rows;
    const [x, y] = [sets[a], sets[b]];
    for (let node = 0; node < nodes.length && left !== 0; node++) {
      const [p, q] = [x.counts[node], y.counts[node]];
      if (p < 0 || q < 0) continue;
      const size = nodes[node].summed.length;
      if (p > q) left &= ~inside;
      if (q > p) left &= ~around;
      if (p + q > size) left &= ~disjoint;
      if (p + q < size) left &= ~covering;
    }
    for (const [relation, between, sum] of this.#between(a, b)) {
      for (let node = 0; node < nodes.length && (left & relation) !== 0; node++) {
        if (x.counts[node] < 0 || y.counts[node] < 0) continue;
        const count = between(node);
        if (count <= 2 && !this.#canBe(count, sum(node), node)) left &= ~relation;
      }
    }
    return left;
  }

  /** Per relation the set that would lie between: its size and its key. */
  #between(a: number, b: number): [number, (node: number) => number, (node: number) => number][] {
    const { sets, nodes } = this.#rows;
    const [x, y] = [sets[a], sets[b]];
    const rest = (node: number): number => nodes[node].summed.length - x.counts[node] - y.counts[node];
    const both = (node: number): number => addKeys(x.sums[node], y.sums[node]);
    return [
      [inside, (e) => y.counts[e] - x.counts[e], (e) => subtractKeys(y.sums[e], x.sums[e])],
      [around, (e) => x.counts[e] - y.counts[e], (e) => subtractKeys(x.sums[e], y.sums[e])],
      [disjoint, rest, (e) => subtractKeys(nodes[e].total, both(e))],
      [covering, (e) => -rest(e), (e) => subtractKeys(both(e), nodes[e].total)],
    ];
  }

  #byOutcomes(a: number, b: number): number {
    let left = inside | around | disjoint | covering;
    const [x, y] = [this.#known[a], this.#known[b]];
    if (x === null || y === null) return left;
    for (let word = 0; word < x.isIn.length; word++) {
      if ((x.isIn[word] & y.isOut[word]) !== 0) left &= ~inside;
      if ((x.isOut[word] & y.isIn[word]) !== 0) left &= ~around;
      if ((x.isIn[word] & y.isIn[word]) !== 0) left &= ~disjoint;
      if ((x.isOut[word] & y.isOut[word]) !== 0) left &= ~covering;
    }
    return left;
  }

  /** Whether 0, 1 or 2 members of a node can have this key together. */
  #canBe(count: number, sum: number, node: number): boolean {
    if (count === 0) return sum === 0;
    const keys = this.#sortedKeys(node);
    if (count === 1) return includes(keys, sum);
    if (keys.length > pairMembersMax) return true;
    return keys.some((key, i) => {
      const other = subtractKeys(sum, key);
      return other === key ? keys[i + 1] === key || keys[i - 1] === key : includes(keys, other);
    });
  }

  #sortedKeys(node: number): Float64Array {
    let sorted = this.#sorted[node];
    if (sorted === undefined) {
      const { tree, summed } = this.#rows.nodes[node];
      const keys = this.#rows.keys[tree];
      sorted = Float64Array.from(summed, (instance) => keys[instance]).sort();
      this.#sorted[node] = sorted;
    }
    return sorted;
  }
}

function includes(sorted: Float64Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
