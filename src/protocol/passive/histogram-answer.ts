/** A piece of a passive party's answer for a node: sums of consecutive candidates with their counts and flags. */
import { groupMessages } from "../../scheme/candidates/category-group.ts";
import { lowerSideBytes } from "../../scheme/candidates/lower-side.ts";
import type { NodeTask } from "../../scheme/candidates/node-task.ts";
import { suppressedBitmap } from "../../scheme/candidates/suppressed.ts";
import type { SumsPiece } from "../../scheme/scheme.ts";

/** A node's answer, from its pieces. @param isMonotone some of the party's features have constraints */
export async function histogramAnswers(
  tree: number,
  task: NodeTask,
  pieces: AsyncIterable<SumsPiece>,
  isMonotone: boolean,
): Promise<SumsAnswer[]> {
  const messages: SumsAnswer[] = [];
  let firstCandidate = 0;
  for await (const piece of pieces) {
    messages.push(histogramAnswer(tree, task, firstCandidate, piece, isMonotone));
    firstCandidate += piece.candidateCount;
  }
  return messages;
}

export type SumsAnswer = ReturnType<typeof histogramAnswer>;

/** @param first the piece's first candidate */
function histogramAnswer(
  tree: number,
  task: NodeTask,
  first: number,
  { candidateCount: count, message }: SumsPiece,
  isMonotone: boolean,
) {
  const { node, counts, plan, suppressed, groups, noise, masks } = task;
  const isHidden = masks !== undefined;
  const last = first + count;
  return {
    tree,
    node,
    firstCandidate: first,
    candidateCount: counts.length,
    // Exact counts would reveal what noise or masks hide.
    counts: Array.from(counts.subarray(first, last), (sumCount) => (noise === null && !isHidden ? sumCount : 0)),
    lowerSides: isMonotone ? lowerSideBytes(plan.lowerSides.subarray(first, last)) : new Uint8Array(0),
    suppressed: isHidden ? new Uint8Array(0) : suppressedBitmap(suppressed.subarray(first, last)),
    groups: first === 0 ? groupMessages(groups) : [],
    scheme: message,
  };
}
