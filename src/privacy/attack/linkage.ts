/**
 * A1, third part: which sets belong to one feature, and how they partition the instances.
 *
 * Two sets of one feature are nested or disjoint. Two sets for which both are refuted (relations.ts) are "apart": they
 * belong to different features. So if there are as many pairwise apart sets as features, each belongs to one feature,
 * and a set that is apart from members of all features but one belongs to that one. This is a proof, not a guess. If
 * fewer are found, every set stays alone: a set of a rare value can look like a subset of any other.
 */
import type { LinkedRows, LinkedSet } from "./linked-rows.ts";
import { around, disjoint, inside, mirrored, possibleRelations } from "./relations.ts";

/** Sets of one feature. They are nested or disjoint: each has at most one smallest set around it. */
export interface Family {
  readonly sets: readonly LinkedSet[];
  /** Per set the smallest one around it, -1: none. */
  readonly parents: Int32Array;
}

/** @param featureCount features whose candidates are not category groups; 0: sets cannot be assigned to features */
export function familiesOf(rows: LinkedRows, featureCount: number): Family[] {
  const relations = possibleRelations(rows);
  const count = rows.sets.length;
  const isApart = (a: number, b: number): boolean => a !== b && relations[a * count + b] === 0;
  const all = Array.from({ length: count }, (_, a) => a);
  const apart = mostApart(all, isApart);
  const features = apart.length === featureCount ? sortByElimination(all, apart, isApart) : [];
  const placed = new Set<number>();
  const families = features.map((members) => {
    const family = familyOf(rows, members, relations);
    for (const set of family.chosen) placed.add(set);
    return family.family;
  });
  const single = all.filter((a) => !placed.has(a)).map((a) => ({ sets: [rows.sets[a]], parents: Int32Array.of(-1) }));
  return [...families.filter(({ sets }) => sets.length > 0), ...single];
}

/** A large set of pairwise apart sets: greedy search from every start. */
function mostApart(sets: readonly number[], isApart: (a: number, b: number) => boolean): number[] {
  const degree = new Map(sets.map((a) => [a, sets.filter((b) => isApart(a, b)).length]));
  const order = sets.toSorted((a, b) => (degree.get(b) ?? 0) - (degree.get(a) ?? 0));
  let best: number[] = [];
  for (const first of order) {
    const chosen = [first];
    for (const next of order) if (chosen.every((each) => isApart(each, next))) chosen.push(next);
    if (chosen.length > best.length) best = chosen;
  }
  return best;
}

function sortByElimination(
  sets: readonly number[],
  apart: readonly number[],
  isApart: (a: number, b: number) => boolean,
): number[][] {
  const features = apart.map((set) => [set]);
  let open = sets.filter((set) => !apart.includes(set));
  for (let before = -1; before !== open.length;) {
    before = open.length;
    open = open.filter((set) => {
      const possible = features.filter((members) => !members.some((member) => isApart(member, set)));
      if (possible.length === 1) possible[0].push(set);
      return possible.length !== 1;
    });
  }
  return features;
}

/**
 * The nesting of one feature's sets, by propagating the relations that are still possible. Sets whose relation to
 * others stays ambiguous are left out.
 */
function familyOf(
  { sets }: LinkedRows,
  members: readonly number[],
  relations: Uint8Array,
): { readonly family: Family; readonly chosen: readonly number[] } {
  const count = members.length;
  const known = new Uint8Array(count * count);
  for (let a = 0; a < count; a++)
    for (let b = 0; b < count; b++)
      known[a * count + b] = relations[members[a] * sets.length + members[b]] & (inside | around | disjoint);
  propagate(known, count);
  const isOpen = (a: number, b: number): boolean =>
    a !== b && ![inside, around, disjoint].includes(known[a * count + b]);
  let chosen = Array.from({ length: count }, (_, a) => a);
  for (;;) {
    const openOf = (a: number): number => chosen.filter((b) => isOpen(a, b)).length;
    const worst = chosen.reduce((most, a) => (openOf(a) > openOf(most) ? a : most), chosen[0]);
    if (worst === undefined || openOf(worst) === 0) break;
    chosen = chosen.filter((a) => a !== worst);
  }
  const parents = Int32Array.from(chosen, (a) => {
    const outer = chosen.filter((b) => b !== a && known[a * count + b] === inside);
    // Any two sets around the same set are nested: the smallest is inside all the others.
    return chosen.indexOf(outer.find((b) => outer.every((c) => c === b || known[b * count + c] === inside)) ?? -1);
  });
  const numbers = chosen.map((a) => members[a]);
  return { family: { sets: numbers.map((set) => sets[set]), parents }, chosen: numbers };
}

/** The relations between a and c that are possible given those of a to b and of b to c. */
const composed = new Map<number, number>([
  [inside * 8 + inside, inside],
  [inside * 8 + disjoint, disjoint],
  [around * 8 + inside, inside | around],
  [around * 8 + around, around],
  [around * 8 + disjoint, around | disjoint],
  [disjoint * 8 + inside, inside | disjoint],
  [disjoint * 8 + around, disjoint],
]);

function propagate(known: Uint8Array, count: number): void {
  const anything = inside | around | disjoint;
  const table = Uint8Array.from({ length: 64 }, (_, pair) => {
    let left = 0;
    for (const p of [inside, around, disjoint])
      for (const q of [inside, around, disjoint])
        if ((p & (pair >> 3)) !== 0 && (q & pair & 7) !== 0) left |= composed.get(p * 8 + q) ?? anything;
    return left;
  });
  for (let changed = true; changed;) {
    changed = false;
    for (let a = 0; a < count; a++) {
      for (let c = a + 1; c < count; c++) {
        let left = known[a * count + c];
        for (let b = 0; b < count; b++)
          if (b !== a && b !== c) left &= table[known[a * count + b] * 8 + known[b * count + c]];
        if (left === known[a * count + c]) continue;
        known[a * count + c] = left;
        known[c * count + a] = mirrored(left);
        changed = true;
      }
    }
  }
}
