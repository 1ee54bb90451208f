/**
 * Compares the sums over the instances that a passive party sends left and right with those it had answered for the
 * winning candidate. The active party knows every gradient: one pass over the node's instances is enough.
 *
 * With noise either side may differ from its sum as far as noise does. The limits are such that an honest party exceeds
 * one at a split with a probability below 2^-40, although the winner may be the noisiest of all of its candidates: a
 * union bound over 2^22 of them, for a discrete Gaussian, whose tails are no heavier than the Gaussian's.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { rowLoops } from "../../base/rows/row-loops.ts";
import type { GrowingNode } from "../../gbdt/tree/grow.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import { checkBitmap, partition } from "../../wire/bitmap.ts";

/** ln(2^40 2^22): the exponent of the probability that a limit must have for one candidate. */
const exponent = 62 * Math.LN2;

/** A node, with its row over the gradients that were sent. */
export type NodeSums = Pick<GrowingNode, "instances" | "sampled" | "totals">;

/** How far an answered sum may be from the sum of its instances. */
export interface Slack {
  /** In one slot. */
  readonly slot: number;
  /** In all slots together: the root of the sum of squares. */
  readonly all: number;
}

/** The sums of both sides. @param leftMembers bitmap over the node's instances */
export function sideSums(
  node: NodeSums,
  leftMembers: Uint8Array,
  gradients: QuantisedGradients,
): readonly [left: Float64Array, right: Float64Array] {
  const left = sumOfMembers(node, leftMembers, gradients);
  return [left, node.totals.map((total, i) => total - left[i])];
}

/**
 * How far a side may be from the answered sum; null: there is no noise, so they must be equal.
 * @param draws number of noise draws in the sum of a candidate of the node
 * @param slots number of compared slots
 */
export function noiseSlack(
  { noise }: QuantisedGradients,
  best: BestCandidate,
  draws: number,
  slots: number,
): Slack | null {
  if (noise === undefined) return null;
  const deviation = noise.sigma * Math.sqrt(draws * partsOf(best));
  return {
    slot: deviation * Math.sqrt(2 * (exponent + Math.log(2 * slots))),
    // Laurent and Massart (2000), lemma 1; for sub-Gaussian vectors: Hsu, Kakade and Zhang (2012).
    all: deviation * Math.sqrt(slots + 2 * Math.sqrt(slots * exponent) + 2 * exponent),
  };
}

export function isWithin(distances: readonly number[], slack: Slack): boolean {
  return distances.every((distance) => Math.abs(distance) <= slack.slot) && Math.hypot(...distances) <= slack.all;
}

/** The sums over the sampled instances that are set in a bitmap over the node's instances. */
function sumOfMembers(
  { instances, sampled }: NodeSums,
  bitmap: Uint8Array,
  { columns }: QuantisedGradients,
): Float64Array {
  const loops = rowLoops();
  // Without sampling no list is needed.
  if (sampled === instances) {
    checkBitmap(bitmap, instances.length);
    return Float64Array.of(...loops.sumsOfSet(columns, instances, bitmap), loops.countSet(bitmap, instances.length));
  }
  const left = leftOf(instances, sampled, bitmap);
  return Float64Array.of(...loops.sums(columns, left), left.length);
}

function leftOf(instances: Uint32Array, sampled: Uint32Array, bitmap: Uint8Array): Uint32Array {
  const { inside } = partition(instances, bitmap);
  let next = 0; // both ascend
  return inside.filter((instance) => {
    while (next < sampled.length && sampled[next] < instance) next++;
    return sampled[next] === instance;
  });
}

/** Each category of a set has its own noise. */
function partsOf(best: BestCandidate): number {
  return best.kind === "candidate" ? 1 : best.set.categories.length + 1;
}
