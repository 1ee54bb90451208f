/**
 * Which categories of a feature may be shown under its owner's minimums. The sums of all categories but one determine
 * that one by subtraction from the node's; so the suppressed categories are considered together: the rest. A category
 * is shown only if it satisfies the minimum at every node of a pair; and while something is suppressed and the rest is
 * below the minimum at one of them, the smallest visible category joins the rest. Missing values count as a category
 * here.
 *
 * Nodes come in pairs, and suppressed categories stay suppressed below, as in offered-candidates.ts: at children the
 * rest only grows. For one tree the active party then has sums over (shown category, node) and (rest, node), and every
 * group of instances that follows by addition and subtraction satisfies the minimum.
 */
import { type CategoricalFeature, categoryCandidates, rightBins } from "./category-candidate.ts";
import type { Minimums } from "./offered-candidates.ts";

/**
 * @param counts per node of the pair (or of the root alone) the instances of each category, missing values last if any
 * @param above per category 1 if it was shown at the parent; null at the root
 * @returns per category 1 if it is shown
 */
export function offeredCategories(
  { perNode, perCandidate }: Minimums,
  counts: readonly ArrayLike<number>[],
  above: Uint8Array | null,
): Uint8Array {
  const size = counts[0].length;
  const totals = counts.map((node) => Array.from(node).reduce((a, b) => a + b, 0));
  if (perNode > 1 && totals.some((total) => total < perNode)) return new Uint8Array(size);
  const offered = Uint8Array.from({ length: size }, (_, i) => above?.[i] ?? 1);
  if (perCandidate <= 1) return offered;
  const smallest = Array.from({ length: size }, (_, i) => Math.min(...counts.map((node) => node[i])));
  smallest.forEach((count, i) => {
    if (count < perCandidate) offered[i] = 0;
  });
  const rest = counts.map((node) =>
    Array.from(node).reduce((sum, count, i) => sum + (offered[i] === 1 ? 0 : count), 0),
  );
  while (offered.includes(0) && offered.includes(1) && rest.some((count) => count < perCandidate)) {
    const joins = Array.from(offered.keys())
      .filter((i) => offered[i] === 1)
      .reduce((a, b) => (smallest[b] < smallest[a] ? b : a));
    offered[joins] = 0;
    counts.forEach((node, i) => (rest[i] += node[joins]));
  }
  return offered;
}

/**
 * The same for a feature's candidates: one is offered if all categories that it splits off are shown.
 * @param above per candidate 1 if it was offered at the parent; null at the root
 */
export function offeredCategoryCandidates(
  feature: CategoricalFeature,
  minimums: Minimums,
  counts: readonly ArrayLike<number>[],
  above: Uint8Array | null,
): Uint8Array {
  const sides = categoryCandidates(feature).map((candidate) => rightBins(feature, candidate));
  const shown = offeredCategories(
    minimums,
    counts,
    above === null ? null : binsShownAbove(sides, above, counts[0].length),
  );
  return Uint8Array.from(sides, (side) => (side.every((bin) => shown[bin] === 1) ? 1 : 0));
}

/** A bin was shown if a candidate that splits it off was offered, or if no candidate does. */
function binsShownAbove(sides: readonly (readonly number[])[], above: Uint8Array, binCount: number): Uint8Array {
  const shown = new Uint8Array(binCount).fill(1);
  for (const side of sides) for (const bin of side) shown[bin] = 0;
  sides.forEach((side, i) => {
    if (above[i] === 1) for (const bin of side) shown[bin] = 1;
  });
  return shown;
}
