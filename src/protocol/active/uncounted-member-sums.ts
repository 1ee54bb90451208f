/**
 * Whether the sides of a split add up to the sums that its owner had answered. The owner cannot count the members of a
 * node, so it may offer candidates with all members on one side, which can be the best with noise.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import { isWithin, type NodeSums, sideSums, noiseSlack } from "./member-sums.ts";

/**
 * @param draws number of noise draws in the sum of a candidate of the node
 * @param outputs outputs of the tree: the party has sums of these only
 */
export function addsUpUncounted(
  node: NodeSums,
  leftMembers: Uint8Array,
  best: BestCandidate,
  gradients: QuantisedGradients,
  draws: number,
  outputs: readonly number[],
): boolean {
  const slots = outputs.flatMap((output) => [2 * output, 2 * output + 1]);
  const slack = noiseSlack(gradients, best, draws, slots.length) ?? { slot: 0, all: 0 };
  return sideSums(node, leftMembers, gradients).some((side) =>
    isWithin(
      slots.map((slot) => side[slot] - best.side[slot]),
      slack,
    ),
  );
}
