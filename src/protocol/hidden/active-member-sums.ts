/**
 * Whether the sides of a split make the sums that its owner had answered. It cannot count who is in a node, so it may
 * offer candidates with all members on one side, which noise can make the best.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GrowingNode } from "../../gbdt/tree/grow.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import { sideSums, slackOf } from "../active/member-sums.ts";

/**
 * @param draws how many drawn values the noise of a candidate of the node is made of
 * @param outputs those of the tree: the party has sums of these alone
 */
export function addsUpUncounted(
  node: GrowingNode,
  leftMembers: Uint8Array,
  best: BestCandidate,
  gradients: QuantisedGradients,
  draws: number,
  outputs: readonly number[],
): boolean {
  const slack = slackOf(gradients, best, draws) ?? 0;
  const slots = outputs.flatMap((output) => [2 * output, 2 * output + 1]);
  return sideSums(node, leftMembers, gradients).some((side) =>
    slots.every((slot) => Math.abs(side[slot] - best.side[slot]) <= slack),
  );
}
