/**
 * Which categories of a feature may be shown where its owner has set minimums. Of such a feature each category's sum is
 * shown, and so is, by subtraction from the node's, that of all withheld ones together: the rest. Therefore a category
 * is shown only if it has the minimum at every node of a pair, and as long as something is withheld and the rest is
 * smaller than that at one of them, the smallest category that is still shown joins it.
 *
 * Nodes are told in pairs, and what was withheld once stays withheld below, as in offered-candidates.ts: at children the
 * rest only grows. Of one tree the active party then has sums over (shown category, node) and (rest, node), each over the
 * minimum of people or more; a withheld category by itself, at a node at which it is withheld, is in none of their sums
 * and differences, but for the rest that is that category alone, which has the minimum.
 */
import type { Minimums } from "./offered-candidates.ts";

/**
 * @param counts per node of the pair (or of the root alone) the instances of each category, missing values last if any
 * @param above per category 1 if it was shown at the parent; null at the root
 * @returns per category 1 if it is shown
 */
export function offeredCategories({ perNode, perCandidate }: Minimums, counts: readonly ArrayLike<number>[], above: Uint8Array | null): Uint8Array {
  const size = counts[0].length;
  const totals = counts.map((node) => Array.from(node).reduce((a, b) => a + b, 0));
  if (perNode > 1 && totals.some((total) => total < perNode)) return new Uint8Array(size);
  const offered = Uint8Array.from({ length: size }, (_, i) => above?.[i] ?? 1);
  if (perCandidate <= 1) return offered;
  const smallest = Array.from({ length: size }, (_, i) => Math.min(...counts.map((node) => node[i])));
  smallest.forEach((count, i) => {
    if (count < perCandidate) offered[i] = 0;
  });
  const rest = counts.map((node) => Array.from(node).reduce((sum, count, i) => sum + (offered[i] === 1 ? 0 : count), 0));
  while (offered.includes(0) && offered.includes(1) && rest.some((count) => count < perCandidate)) {
    const joins = Array.from(offered.keys()).filter((i) => offered[i] === 1).reduce((a, b) => (smallest[b] < smallest[a] ? b : a));
    offered[joins] = 0;
    counts.forEach((node, i) => (rest[i] += node[joins]));
  }
  return offered;
}
