/**
 * Boosting with dropout (dart, Vinayak and Gilad-Bachrach 2015; XGBoost's booster of that name). The gradients of a
 * boosting round are those of the margins without the trees that it drops. When its trees have grown, they and the
 * dropped ones get new weights. Margins are sums of weight times leaf.
 *
 * They are always added up from the start in the order of trees, so that every trainer, and every resumed job, gets the
 * same bits. If nothing was dropped, no weight has changed, and the new trees are added to the previous sum.
 *
 * Only the active party does this: passive parties learn neither drops nor weights.
 */
import { assert } from "../../../base/assert.ts";
import type { TrainingParameters } from "../../parameters/training-parameters.ts";
import { isSliceOver, nextSlice } from "../../../base/scheduling/event-loop-slice.ts";
import type { Tree } from "../../tree/tree.ts";
import { type DrawDrops, seededDrops } from "./drops.ts";
import { addPlaced, placed, type PlacedTree } from "./placed-tree.ts";
import { weightsAfter } from "./tree-weights.ts";

/** The state from which margins are computed. */
export interface DartProgress {
  /** The initial margins of all instances. */
  readonly start: Float64Array;
  readonly placed: readonly PlacedTree[];
  /** The weights of the trees of finished boosting rounds; later trees belong to the current boosting round. */
  readonly weights: readonly number[];
}

export class DartCourse {
  readonly #parameters: TrainingParameters;
  readonly #draw: DrawDrops;
  readonly #outputCount: number;
  readonly #start: Float64Array;
  readonly #placed: PlacedTree[];
  #weights: readonly number[];
  /** The trees dropped by the current boosting round; null: no boosting round has begun. */
  #dropped: readonly number[] | null = null;

  constructor(
    parameters: TrainingParameters,
    outputCount: number,
    { start, placed: before, weights }: DartProgress,
    draw: DrawDrops = seededDrops(parameters),
  ) {
    this.#parameters = parameters;
    this.#draw = draw;
    this.#outputCount = outputCount;
    this.#start = start;
    this.#placed = [...before];
    this.#weights = weights;
  }

  /** The weights of the trees of finished boosting rounds. */
  get weights(): readonly number[] {
    return this.#weights;
  }

  /** A snapshot of the current state. */
  get progress(): DartProgress {
    return { start: this.#start, placed: [...this.#placed], weights: this.#weights };
  }

  /**
   * The margins for a boosting round's gradients: without the trees that it drops.
   * @param margins those of all trees
   */
  async marginsForGradients(round: number, margins: Float64Array): Promise<Float64Array> {
    const dropped = (this.#dropped = this.#draw(round, this.#weights));
    return dropped.length === 0 ? margins : this.#sum(new Float64Array(margins.length), new Set(dropped));
  }

  /** Adds a finished tree of the current boosting round. */
  add<R>(tree: Tree<R>, leaves: Uint32Array): void {
    this.#placed.push(placed(tree, leaves));
  }

  /** Ends the boosting round. @param margins updated with the new trees and the new weights of the dropped ones */
  async endBoostingRound(margins: Float64Array): Promise<void> {
    assert(this.#dropped !== null, "a boosting round has begun");
    const before = this.#weights.length;
    this.#weights = weightsAfter(this.#weights, this.#dropped, this.#placed.length - before, this.#parameters);
    const isSame = this.#dropped.length === 0;
    this.#dropped = null;
    if (isSame) await this.#addTrees(margins, before);
    else await this.#sum(margins);
  }

  /** Margins of all trees of finished boosting rounds. */
  margins(): Promise<Float64Array> {
    return this.#sum(new Float64Array(this.#start.length));
  }

  async #sum(margins: Float64Array, without?: ReadonlySet<number>): Promise<Float64Array> {
    margins.set(this.#start);
    await this.#addTrees(margins, 0, without);
    return margins;
  }

  async #addTrees(margins: Float64Array, first: number, without?: ReadonlySet<number>): Promise<void> {
    for (let tree = first; tree < this.#weights.length; tree++) {
      if (without?.has(tree) === true) continue;
      addPlaced(margins, this.#outputCount, tree, this.#placed[tree], this.#weights[tree]);
      if (isSliceOver()) await nextSlice();
    }
  }
}
