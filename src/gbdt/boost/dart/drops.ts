/**
 * Which trees a round of dart drops (XGBoost's rate_drop, skip_drop, one_drop and sample_type). Drawn from the seed, in
 * a separate stream, so that the draws of rows and columns are unaffected.
 */
import type { TrainingParameters } from "../../parameters/training-parameters.ts";
import { SeededRandom } from "../../../base/random.ts";

/**
 * @param round the boosting round, as XGBoost counts them @param weights of the trees so far
 * @returns the indices of the dropped trees, ascending
 */
export type DrawDrops = (round: number, weights: readonly number[]) => readonly number[];

type DropParameters = Pick<TrainingParameters, "seed" | "rate_drop" | "skip_drop" | "one_drop" | "sample_type">;

/** The same boosting round and weights always draw the same trees. */
export function seededDrops(parameters: DropParameters): DrawDrops {
  return (round, weights) => drawn(parameters, new SeededRandom(`dart/${parameters.seed}/${round}`), weights);
}

function drawn(
  { rate_drop: rate, skip_drop: skip, one_drop: atLeastOne, sample_type: type }: DropParameters,
  random: SeededRandom,
  weights: readonly number[],
): readonly number[] {
  if (weights.length === 0 || random.uniform() < skip) return [];
  const sum = weights.reduce((a, b) => a + b, 0);
  // Weighted: the same number on average, as long as none is certain.
  const chanceOf = (weight: number): number =>
    type === "uniform" || sum === 0 ? rate : (rate * weights.length * weight) / sum;
  const dropped = weights.flatMap((weight, tree) => (random.uniform() < chanceOf(weight) ? [tree] : []));
  if (dropped.length > 0 || !atLeastOne) return dropped;
  return [type === "uniform" || sum === 0 ? random.below(weights.length) : weightedPlace(random, weights, sum)];
}

function weightedPlace(random: SeededRandom, weights: readonly number[], sum: number): number {
  let left = random.uniform() * sum;
  const place = weights.findIndex((weight) => (left -= weight) < 0);
  return place === -1 ? weights.length - 1 : place; // a remainder of rounding
}
