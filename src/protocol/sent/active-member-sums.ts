/** Whether the sides of a split add up to the sums and counts that its owner had answered. */
import { type QuantisedGradients, slotDifferences } from "../../base/gradients/quantised-gradients.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import { isWithin, type NodeSums, sideSums, type Slack, noiseSlack } from "../active/member-sums.ts";

/** @param draws number of noise draws in the sum of a candidate of the node */
export function addsUp(
  node: NodeSums,
  leftMembers: Uint8Array,
  best: BestCandidate,
  gradients: QuantisedGradients,
  draws: number,
): boolean {
  const sides = sideSums(node, leftMembers, gradients);
  const slack = noiseSlack(gradients, best, draws, gradients.grids.length);
  const [left] = sides;
  const count = left[left.length - 1];
  if (slack !== null && (count === 0 || count === node.sampled.length)) return false;
  const limbs = gradients.columns.length / gradients.grids.length;
  return sides.some((side) => isClose(side, best.side, limbs, slack));
}

/** @param slack null: the counts must be equal too, and the sums exactly */
function isClose(side: Float64Array, answered: Float64Array, limbs: number, slack: Slack | null): boolean {
  if (slack === null && side[side.length - 1] !== answered[side.length - 1]) return false;
  return isWithin(slotDifferences(side, answered, limbs), slack ?? { slot: 0, all: 0 });
}
