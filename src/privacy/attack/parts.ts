/**
 * The instances partitioned by the sets of one feature: equations about the parts, and what remains possible after
 * outcomes of won splits. A part is a set without the sets inside it; the last part holds the instances in no set.
 * Every instance is in exactly one part.
 */
import { addKeys, subtractKeys } from "./keys.ts";
import type { Family } from "./linkage.ts";
import type { LinkedGroup, LinkedRows, LinkedSet, Outcome } from "./linked-rows.ts";

/** Input of peeling one feature. */
export interface PeelTask {
  readonly partCount: number;
  /** 32-bit words per instance in a bitmap of parts. */
  readonly words: number;
  /** Per equation: node, count, and the parts as bits. */
  readonly equations: Uint32Array;
  /** Per equation the sum of the keys of its instances. */
  readonly sums: Float64Array;
  /** Per instance a bitmap of the parts that are possible. */
  readonly possible: Uint32Array;
}

/** Parts, the sets that are unions of them, and known sides of instances. */
interface Parted {
  readonly partCount: number;
  readonly sets: readonly { readonly set: LinkedSet; readonly parts: readonly number[] }[];
  readonly outcomes: readonly { readonly parts: readonly number[]; readonly sides: Outcome }[];
}

/** Per set of a family its parts: its own, which has its number, and those of the sets inside. */
export function partsOf({ parents }: Pick<Family, "parents">): number[][] {
  const parts = Array.from(parents, (_, set) => [set]);
  parents.forEach((_, set) => {
    for (let outer = parents[set]; outer >= 0; outer = parents[outer]) parts[outer].push(set);
  });
  return parts;
}

export function familyTask(rows: LinkedRows, family: Family): PeelTask {
  const parts = partsOf(family);
  return taskOf(rows, {
    partCount: family.sets.length + 1,
    sets: family.sets.map((set, i) => ({ set, parts: parts[i] })),
    outcomes: family.sets.flatMap(({ outcomes }, i) => outcomes.map((sides) => ({ parts: parts[i], sides }))),
  });
}

/** Categories are a partition already: each is a part. */
export function groupTask(rows: LinkedRows, { parts, outcomes }: LinkedGroup): PeelTask {
  return taskOf(rows, {
    partCount: parts.length,
    sets: parts.map((set, i) => ({ set, parts: [i] })),
    outcomes: outcomes.map(({ right, sides }) => ({ parts: right, sides })),
  });
}

function taskOf(rows: LinkedRows, parted: Parted): PeelTask {
  const { partCount } = parted;
  const words = Math.ceil(partCount / 32);
  const everything = partMask(
    Array.from({ length: partCount }, (_, part) => part),
    words,
  );
  const possible = new Uint32Array(rows.instanceCount * words);
  for (let i = 0; i < rows.instanceCount; i++) possible.set(everything, i * words);
  for (const { parts, sides } of parted.outcomes) {
    const mask = partMask(parts, words);
    for (const i of sides.inside) for (let w = 0; w < words; w++) possible[i * words + w] &= mask[w];
    for (const i of sides.outside) for (let w = 0; w < words; w++) possible[i * words + w] &= ~mask[w];
  }
  const equations: number[] = [];
  const sums: number[] = [];
  for (let node = 0; node < rows.nodes.length; node++) {
    for (const { count, sum, parts } of equationsAt(rows, parted, node)) {
      equations.push(node, count, ...partMask(parts, words));
      sums.push(sum);
    }
  }
  return { partCount, words, equations: Uint32Array.from(equations), sums: Float64Array.from(sums), possible };
}

interface PartSum {
  readonly count: number;
  readonly sum: number;
  readonly parts: readonly number[];
}

/**
 * The equations of a node: each set minus the sets inside it whose sums were sent, and all instances minus all sets.
 */
function equationsAt({ nodes }: LinkedRows, { partCount, sets }: Parted, node: number): PartSum[] {
  const sent = sets.filter(({ set }) => set.counts[node] >= 0);
  const { summed, total } = nodes[node];
  const whole = [
    ...sent.map(({ set, parts }) => ({ count: set.counts[node], sum: set.sums[node], parts })),
    { count: summed.length, sum: total, parts: Array.from({ length: partCount }, (_, part) => part) },
  ].sort((a, b) => a.parts.length - b.parts.length);
  const owner = new Int32Array(partCount).fill(-1);
  return whole
    .map(({ count, sum, parts }, i) => {
      // Smaller ones first: the sets inside own their parts already, and their sums are subtracted.
      const taken = new Set(parts.map((part) => owner[part]).filter((by) => by >= 0));
      const rest = [...taken].reduce(
        (left, by) => ({ count: left.count - whole[by].count, sum: subtractKeys(left.sum, whole[by].sum) }),
        { count, sum },
      );
      const own = parts.filter((part) => owner[part] < 0);
      for (const part of parts) owner[part] = i;
      return { ...rest, sum: addKeys(rest.sum, 0), parts: own };
    })
    .filter(({ parts }) => parts.length > 0);
}

/** Bitmap of parts. */
export function partMask(parts: readonly number[], words: number): Uint32Array {
  const mask = new Uint32Array(words);
  for (const part of parts) mask[part >>> 5] |= 1 << (part & 31);
  return mask;
}
