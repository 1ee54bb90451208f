/** Peeling in TypeScript: the slow reference for native/peel.cpp, and the fallback where that is not built. */
import { addKeys, subtractKeys } from "./keys.ts";
import type { PeelTask } from "./parts.ts";
import type { PeelEnd, PeelGround } from "./peel.ts";
import { isSearched, searchSubsets } from "./subset-sums.ts";

export function peelPortably(ground: PeelGround, task: PeelTask, milliseconds: number): PeelEnd {
  const end = performance.now() + milliseconds;
  const { equations, sums, words } = task;
  const order = Array.from(sums.keys()).sort((a, b) => equations[a * (words + 2) + 1] - equations[b * (words + 2) + 1]);
  for (let changed = true; changed;) {
    changed = false;
    for (const equation of order) {
      if (performance.now() > end) return "time over";
      const found = solve(ground, task, equation);
      if (found === null) return "contradiction";
      changed ||= found;
    }
  }
  return "done";
}

/** @returns whether any instance was narrowed; null: the equation has no solution */
function solve(
  { keys, nodeTrees, memberOffsets, members, treeBits }: PeelGround,
  task: PeelTask,
  equation: number,
): boolean | null {
  const { equations, sums, words, possible } = task;
  const [node, count] = equations.subarray(equation * (words + 2));
  const mask = equations.subarray(equation * (words + 2) + 2, (equation + 1) * (words + 2));
  const tree = nodeTrees[node];
  const instanceCount = possible.length / words;
  const open: number[] = [];
  let wanted = count;
  let target = sums[equation];
  for (const instance of members.subarray(memberOffsets[node], memberOffsets[node + 1])) {
    const parts = possible.subarray(instance * words, (instance + 1) * words);
    if (!parts.some((word, w) => (word & mask[w]) !== 0)) continue;
    if (parts.some((word, w) => (word & ~mask[w]) !== 0)) open.push(instance);
    else {
      wanted--;
      target = subtractKeys(target, keys[tree * instanceCount + instance]);
    }
  }
  if (wanted < 0 || wanted > open.length) return null;
  const openKeys = open.map((instance) => keys[tree * instanceCount + instance]);
  const isFlipped = wanted > open.length - wanted;
  const size = isFlipped ? open.length - wanted : wanted;
  const sum = isFlipped ? subtractKeys(openKeys.reduce(addKeys, 0), target) : target;
  if (size === 0 && sum !== 0) return null;
  if (size > 0 && !isTried(open.length, size, treeBits[tree])) return false;
  const found = size === 0 ? null : searchSubsets(openKeys, size, sum);
  if (found?.total === 0) return null;
  const isOut = (i: number): boolean => found === null || found.met[i] === 0;
  let changed = false;
  for (const [i, instance] of open.entries()) {
    if (!isOut(i) && found?.met[i] !== found?.total) continue;
    const isIn = isOut(i) === isFlipped;
    const at = instance * words;
    for (let w = 0; w < words; w++) possible[at + w] &= isIn ? mask[w] : ~mask[w];
    if (possible.subarray(at, at + words).every((word) => word === 0)) return null;
    changed = true;
  }
  return changed;
}

function isTried(count: number, size: number, bits: number): boolean {
  return isSearched(count, size) && (size <= 2 || log2Choose(count, size) <= bits);
}

function log2Choose(count: number, size: number): number {
  let sum = 0;
  for (let i = 0; i < size; i++) sum += Math.log2((count - i) / (i + 1));
  return sum;
}
