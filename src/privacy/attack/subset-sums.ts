/**
 * All subsets of a given size whose keys have a given sum: which instances are in none of them, and which in all. The
 * portable counterpart of native/subset-sums.cpp, for fewer instances.
 */
import { addKeys, subtractKeys } from "./keys.ts";

export interface Subsets {
  /** In how many of the `total` subsets each instance is. */
  readonly met: Float64Array;
  readonly total: number;
}

/** Subsets of one half that are listed at most: all of up to 24 instances. */
const listedMax = 2 ** 18;

export function isSearched(count: number, size: number): boolean {
  return choose(count, Math.ceil(size / 2)) <= listedMax;
}

function choose(count: number, size: number): number {
  let product = 1;
  for (let i = 0; i < size; i++) product *= (count - i) / (i + 1);
  return product;
}

export function searchSubsets(keys: readonly number[], size: number, target: number): Subsets {
  const met = new Float64Array(keys.length);
  let total = 0;
  const smaller = Math.floor(size / 2);
  const halves = new Map<number, number[][]>();
  eachSubset(keys, smaller, (sum, members) => halves.set(sum, [...(halves.get(sum) ?? []), members]));
  eachSubset(keys, size - smaller, (sum, members) => {
    for (const others of halves.get(subtractKeys(target, sum)) ?? []) {
      if (others.some((other) => members.includes(other))) continue;
      for (const member of [...members, ...others]) met[member]++;
      total++;
    }
  });
  return { met, total };
}

function eachSubset(
  keys: readonly number[],
  size: number,
  visit: (sum: number, members: number[]) => void,
  first = 0,
  sum = 0,
  members: readonly number[] = [],
): void {
  if (size === 0) {
    visit(sum, [...members]);
    return;
  }
  for (let i = first; i <= keys.length - size; i++)
    eachSubset(keys, size - 1, visit, i + 1, addKeys(sum, keys[i]), [...members, i]);
}
