/** A piece of what a passive party answers about a node: sums of consecutive candidates, and what belongs to them. */
import { groupMessages } from "../../scheme/candidates/category-group.ts";
import { lowerSideBytes } from "../../scheme/candidates/lower-side.ts";
import type { NodeTask } from "../../scheme/candidates/node-task.ts";
import { withheldBitmap } from "../../scheme/candidates/withheld.ts";
import type { SumsPiece } from "../../scheme/scheme.ts";

export type SumsAnswer = ReturnType<typeof histogramAnswer>;

/** @param first the piece's first candidate @param isMonotone some of the party's features have constraints */
export function histogramAnswer(
  tree: number,
  task: NodeTask,
  first: number,
  { candidateCount: count, message }: SumsPiece,
  isMonotone: boolean,
) {
  const { node, counts, plan, withheld, groups } = task;
  const last = first + count;
  return {
    tree,
    node,
    firstCandidate: first,
    candidateCount: counts.length,
    // Exact counts would tell what noise in the sums hides.
    counts: Array.from(counts.subarray(first, last), (sumCount) => (task.noise === null ? sumCount : 0)),
    lowerSides: isMonotone ? lowerSideBytes(plan.lowerSides.subarray(first, last)) : new Uint8Array(0),
    withheld: withheldBitmap(withheld.subarray(first, last)),
    groups: first === 0 ? groupMessages(groups) : [],
    scheme: message,
  };
}
