/**
 * Boosted random forests (num_parallel_tree). What XGBoost calls a round is a layer here: so many rounds of gradients
 * that all begin from the same margins, each with a sample of its own, and with leaves that are divided by their
 * number. Without it a layer is one round.
 *
 * For a passive party every round is the same: it is never asked about two samples of the same
 * ciphertexts.
 */
import type { TrainingParameters } from "../parameters/training-parameters.ts";

type Forest = Pick<TrainingParameters, "num_parallel_tree">;

/** The layer that a round belongs to. */
export function layerOf(round: number, { num_parallel_tree: rounds }: Forest): number {
  return Math.floor(round / rounds);
}

/** Whether a round is the first of its layer. */
export function beginsLayer(round: number, { num_parallel_tree: rounds }: Forest): boolean {
  return round % rounds === 0;
}

/** Whether a round is the last of its layer: then margins are updated, and early stopping is checked. */
export function endsLayer(round: number, { num_parallel_tree: rounds }: Forest): boolean {
  return (round + 1) % rounds === 0;
}

/** Rounds of gradients of so many layers. */
export function roundsOf(layers: number, { num_parallel_tree: rounds }: Forest): number {
  return layers * rounds;
}

/** The shrinkage of a leaf: XGBoost divides the learning rate by the number of parallel trees. */
export function etaOf({ eta, num_parallel_tree: rounds }: Forest & Pick<TrainingParameters, "eta">): number {
  return eta / rounds;
}

/** The model's field for parallel trees, if there are several. */
export function parallelOf({ num_parallel_tree: rounds }: Forest): { readonly parallelTrees?: number } {
  return rounds === 1 ? {} : { parallelTrees: rounds };
}
