/**
 * Which of a node's candidates have the same sums as another in a job with noise: those that split the node's summed
 * instances in the same way, or with sides swapped, and have the same noise. Other candidates tie only if two rounded
 * gains coincide, which is far less likely than a disk error. So their owner can break the tie alone, and does not
 * reveal the order of its candidates.
 *
 * A monotone constraint may forbid some of them, which the owner cannot see. So the active party sends the constraints
 * of the tied candidates.
 */
import { haveSameSlots } from "../../base/gradients/quantised-gradients.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { leftBins } from "../../gbdt/split/candidate.ts";
import { subtractRows } from "../../gbdt/split/histogram.ts";
import type { BestCandidate } from "./best-candidates.ts";
import type { CandidateRows } from "./candidate-rows.ts";
import { candidateIn, type CandidateSet } from "./candidate-set.ts";
import { groupedCount } from "./category-group.ts";
import type { NodeTask, SentTask } from "./node-task.ts";

type SummedInstances = Pick<SentTask, "positions" | "bins">;

/** The monotone constraint of a summed side (LowerSide), as a bit. */
function constraintBit(lowerSide: number): number {
  return lowerSide === 0 ? 1 : lowerSide > 0 ? 2 : 4;
}

/**
 * The constraints of the candidates that tie with the first and have the same sums: bits of constraintBit, as seen from
 * the summed side of the first.
 */
export function constraintsOfTied(
  tied: readonly BestCandidate[],
  { lowerSides }: Pick<CandidateRows, "lowerSides">,
  totals: Float64Array,
  limbs: number,
): number {
  const [first] = tied;
  const rest = subtractRows(totals, first.side);
  return tied.reduce((bits, each) => {
    if (each.kind === "set") return bits;
    const lowerSide = lowerSides?.[each.position] ?? 0;
    if (haveSameSlots(each.side, first.side, limbs)) return bits | constraintBit(lowerSide);
    return haveSameSlots(each.side, rest, limbs) ? bits | constraintBit(-lowerSide) : bits;
  }, 0);
}

/**
 * @param summed the summed instances; empty where members are hidden, so that equal noise decides
 * @param constraints bits of constraintBit, as seen from the summed side of the position
 * @returns the position of the first in tie order
 */
export function firstWithSameSums(
  task: NodeTask,
  summed: SummedInstances,
  set: CandidateSet,
  features: readonly BinnedFeature[],
  position: number,
  constraints: number,
): number {
  const { byPosition, groups } = set;
  const isSame = likenessTo(task, summed, set, features, position, constraints);
  let first = position;
  for (let other = groupedCount(groups); other < byPosition.length; other++)
    if (task.suppressed[other] === 0 && byPosition[other] < byPosition[first] && isSame(other)) first = other;
  return first;
}

function likenessTo(
  { counts, noise, plan }: NodeTask,
  { positions, bins }: SummedInstances,
  set: CandidateSet,
  features: readonly BinnedFeature[],
  position: number,
  constraints: number,
): (other: number) => boolean {
  const slotCount = noise === null ? 0 : noise.length / counts.length;
  const sideOf = (at: number): Uint8Array => {
    const candidate = candidateIn(set, at);
    const goesLeft = leftBins(features[candidate.feature], candidate);
    const column = bins[set.features.indexOf(candidate.feature)];
    const isLeftSummed = plan.sides[at] === 1 ? 1 : 0;
    return Uint8Array.from(positions, (place) => (goesLeft[column[place]] === isLeftSummed ? 1 : 0));
  };
  const ofNamed = sideOf(position);
  const isLike = (other: number, turn: 1 | -1): boolean => {
    if ((constraints & constraintBit(turn * plan.lowerSides[other])) === 0) return false;
    if ((turn === 1 ? counts[other] : positions.length - counts[other]) !== counts[position]) return false;
    const added = noise ?? new Float64Array(0);
    for (let slot = 0; slot < slotCount; slot++)
      if (turn * added[other * slotCount + slot] !== added[position * slotCount + slot]) return false;
    return sideOf(other).every((isSummed, i) => (turn === 1 ? isSummed : 1 - isSummed) === ofNamed[i]);
  };
  return (other) => isLike(other, 1) || isLike(other, -1);
}
