/**
 * Boosting rounds and gradient rounds. A boosting round is XGBoost's: what num_round counts. With num_parallel_tree = k
 * (boosted random forests) it has k gradient rounds, which all start from the same margins; each has its own sample of
 * instances and its own encryption of gradients, and leaves are divided by k. Otherwise it has one.
 *
 * To a passive party every gradient round looks the same: it never sees two samples of the same ciphertexts.
 */
import type { TrainingParameters } from "../parameters/training-parameters.ts";

type Forest = Pick<TrainingParameters, "num_parallel_tree">;

export function boostingRoundOf(gradientRound: number, { num_parallel_tree: perBoostingRound }: Forest): number {
  return Math.floor(gradientRound / perBoostingRound);
}

/** Whether a gradient round is the first of its boosting round. */
export function beginsBoostingRound(gradientRound: number, { num_parallel_tree: perBoostingRound }: Forest): boolean {
  return gradientRound % perBoostingRound === 0;
}

/** Whether a gradient round is the last of its boosting round: margins are updated, and early stopping is checked. */
export function endsBoostingRound(gradientRound: number, { num_parallel_tree: perBoostingRound }: Forest): boolean {
  return (gradientRound + 1) % perBoostingRound === 0;
}

export function gradientRoundCount(boostingRounds: number, { num_parallel_tree: perBoostingRound }: Forest): number {
  return boostingRounds * perBoostingRound;
}

/** The shrinkage of a leaf: XGBoost divides the learning rate by the number of parallel trees. */
export function etaPerTree({ eta, num_parallel_tree: rounds }: Forest & Pick<TrainingParameters, "eta">): number {
  return eta / rounds;
}

/** The model's field for parallel trees, if there are several. */
export function parallelTreesField({ num_parallel_tree: rounds }: Forest): { readonly parallelTrees?: number } {
  return rounds === 1 ? {} : { parallelTrees: rounds };
}
