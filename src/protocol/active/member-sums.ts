/**
 * Whether the people whom a passive party sends left and right add up to the sums that it had answered for the
 * candidate that won. The active party knows every gradient: one pass over the node's people tells.
 *
 * Exactly so without noise. With noise either side may differ from its sum by `deviations` standard deviations of what
 * was added: an honest party exceeds that at a split with a probability below 2^-100, since a discrete Gaussian has
 * tails no heavier than the Gaussian's.
 */
import type { NoiseScale } from "../../base/noise/noise-scale.ts";
import { farthestApart, type QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { GrowingNode } from "../../gbdt/tree/grow.ts";
import type { BestCandidate } from "../../scheme/candidates/best-candidates.ts";
import { checkBitmap, countSet, partition } from "../../wire/bitmap.ts";

const deviations = 12;

/**
 * @param draws how many drawn values the noise of a candidate of the node is made of
 * @param outputs where the party cannot count who is in a node: those of the tree, of which alone it has sums. It may
 *   then offer candidates with everybody on one side, which noise can make the best. Null: it tells all, and counts
 */
export function addsUp(
  node: GrowingNode,
  leftMembers: Uint8Array,
  best: BestCandidate,
  gradients: QuantisedGradients,
  draws: number,
  outputs: readonly number[] | null = null,
): boolean {
  const { totals } = node;
  const left = sumOfMembers(node, leftMembers, gradients);
  const right = totals.map((total, i) => total - left[i]);
  const { noise } = gradients;
  const slack = noise === undefined ? null : slackOf(noise, draws * partsOf(best));
  if (outputs !== null) return [left, right].some((side) => isCloseUncounted(side, best.side, outputs, slack ?? 0));
  const count = left[totals.length - 1];
  if (noise !== undefined && (count === 0 || count === node.sampled.length)) return false;
  const limbs = gradients.columns.length / gradients.grids.length;
  return [left, right].some((side) => isClose(side, best.side, limbs, slack));
}

function isCloseUncounted(
  side: Float64Array,
  answered: Float64Array,
  outputs: readonly number[],
  slack: number,
): boolean {
  const slots = outputs.flatMap((output) => [2 * output, 2 * output + 1]);
  return slots.every((slot) => Math.abs(side[slot] - answered[slot]) <= slack);
}

/** The row of those who are sampled and set in a bitmap over the node's instances. */
function sumOfMembers(
  { instances, sampled }: GrowingNode,
  bitmap: Uint8Array,
  { columns }: QuantisedGradients,
): Float64Array {
  const sum = new Float64Array(columns.length + 1);
  if (sampled === instances) return sumOfAllMembers(instances, bitmap, columns, sum);
  const left = leftOf(instances, sampled, bitmap);
  for (let c = 0; c < columns.length; c++) {
    const column = columns[c];
    let total = 0;
    for (let i = 0; i < left.length; i++) total += column[left[i]];
    sum[c] = total;
  }
  sum[columns.length] = left.length;
  return sum;
}

/** Where all are sampled, without a list of them: values are whole numbers, so that times 0 or 1 is exact. */
function sumOfAllMembers(
  instances: Uint32Array,
  bitmap: Uint8Array,
  columns: readonly Float64Array[],
  sum: Float64Array,
): Float64Array {
  checkBitmap(bitmap, instances.length);
  for (let c = 0; c < columns.length; c++) {
    const column = columns[c];
    let total = 0;
    for (let i = 0; i < instances.length; i++) total += column[instances[i]] * ((bitmap[i >>> 3] >>> (i & 7)) & 1);
    sum[c] = total;
  }
  sum[columns.length] = countSet(bitmap, instances.length);
  return sum;
}

function leftOf(instances: Uint32Array, sampled: Uint32Array, bitmap: Uint8Array): Uint32Array {
  const { inside } = partition(instances, bitmap);
  let next = 0; // both ascend
  return inside.filter((instance) => {
    while (next < sampled.length && sampled[next] < instance) next++;
    return sampled[next] === instance;
  });
}

/** @param slack null: the counts must be equal too, and the sums exactly */
function isClose(side: Float64Array, answered: Float64Array, limbs: number, slack: number | null): boolean {
  if (slack === null && side[side.length - 1] !== answered[side.length - 1]) return false;
  return farthestApart(side, answered, limbs) <= (slack ?? 0);
}

function slackOf({ sigma }: NoiseScale, drawn: number): number {
  return deviations * sigma * Math.sqrt(drawn);
}

/** Each category of a set has noise of its own. */
function partsOf(best: BestCandidate): number {
  return best.kind === "candidate" ? 1 : best.set.categories.length + 1;
}
