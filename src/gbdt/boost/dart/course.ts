/**
 * Boosting with drops (dart, Vinayak and Gilad-Bachrach 2015; XGBoost's booster of that name). A layer's gradients are
 * those of the margins without the trees that it drops. When its trees have grown, they and the dropped ones are
 * weighted anew. Margins are sums of weight times leaf.
 *
 * They are always added up from the start in the order of trees, so that whoever trains, and wherever a job was broken
 * off, has the same to the last bit. Where nothing was dropped no weight has moved, and the sum just goes on.
 *
 * All of it is the active party's own: passive parties hear of no drop and no weight.
 */
import { assert } from "../../../base/assert.ts";
import type { TrainingParameters } from "../../parameters/training-parameters.ts";
import { isSliceOver, nextSlice } from "../../../base/scheduling/event-loop-slice.ts";
import type { Tree } from "../../tree/tree.ts";
import { type DrawDrops, seededDrops } from "./drops.ts";
import { addPlaced, placed, type PlacedTree } from "./placed-tree.ts";
import { weightsAfter } from "./tree-weights.ts";

/** All that margins follow from. */
export interface DartProgress {
  /** Where everybody's margins start. */
  readonly start: Float64Array;
  readonly placed: readonly PlacedTree[];
  /** Of the trees of layers that have ended; those after them belong to the layer under way. */
  readonly weights: readonly number[];
}

export class DartCourse {
  readonly #parameters: TrainingParameters;
  readonly #draw: DrawDrops;
  readonly #outputCount: number;
  readonly #start: Float64Array;
  readonly #placed: PlacedTree[];
  #weights: readonly number[];
  /** Those that the layer under way has dropped; null: none is. */
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

  /** Of the trees of layers that have ended. */
  get weights(): readonly number[] {
    return this.#weights;
  }

  /** As it is now: it does not change any more. */
  get progress(): DartProgress {
    return { start: this.#start, placed: [...this.#placed], weights: this.#weights };
  }

  /**
   * What a layer learns from: the margins without the trees that it drops.
   * @param margins those of all trees
   */
  async learnt(layer: number, margins: Float64Array): Promise<Float64Array> {
    const dropped = (this.#dropped = this.#draw(layer, this.#weights));
    return dropped.length === 0 ? margins : this.#sum(new Float64Array(margins.length), new Set(dropped));
  }

  /** A tree of the layer under way has grown. */
  add<R>(tree: Tree<R>, leaves: Uint32Array): void {
    this.#placed.push(placed(tree, leaves));
  }

  /** All trees of the layer have grown. @param margins take them in, and what has become of the dropped ones */
  async endLayer(margins: Float64Array): Promise<void> {
    assert(this.#dropped !== null, "a layer ends that has begun");
    const before = this.#weights.length;
    this.#weights = weightsAfter(this.#weights, this.#dropped, this.#placed.length - before, this.#parameters);
    const isSame = this.#dropped.length === 0;
    this.#dropped = null;
    if (isSame) await this.#addTrees(margins, before);
    else await this.#sum(margins);
  }

  /** Margins of all trees of layers that have ended. */
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
