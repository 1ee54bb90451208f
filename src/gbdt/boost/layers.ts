/**
 * Boosted random forests (num_parallel_tree). What XGBoost calls a round is a layer here: so many rounds of gradients
 * that all begin from the same margins, each with a sample of its own, and with leaves that are divided by their
 * number. Without it a layer is one round.
 *
 * To a passive party every round is a round like any other: it is never asked about two samples of the same
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

/** Whether a round is the last of its layer: margins move on, and early stopping looks. */
export function endsLayer(round: number, { num_parallel_tree: rounds }: Forest): boolean {
  return (round + 1) % rounds === 0;
}

/** Rounds of gradients of so many layers. */
export function roundsOf(layers: number, { num_parallel_tree: rounds }: Forest): number {
  return layers * rounds;
}

/** What shrinks a leaf: XGBoost divides the learning rate by the trees of a forest. */
export function etaOf({ eta, num_parallel_tree: rounds }: Forest & Pick<TrainingParameters, "eta">): number {
  return eta / rounds;
}

/** A model says how many trees of an output stand side by side where there are several. */
export function parallelOf({ num_parallel_tree: rounds }: Forest): { readonly parallelTrees?: number } {
  return rounds === 1 ? {} : { parallelTrees: rounds };
}
