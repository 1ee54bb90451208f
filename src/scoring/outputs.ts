/** From the outcomes of everybody's splits to what was asked for: predictions, margins or leaves. */
import type { ActiveShare } from "../store/share-files.ts";
import { predictionCount } from "../gbdt/objective/objective.ts";
import { treesIn } from "../gbdt/tree/iterations.ts";
import { leafOf } from "../gbdt/tree/tree.ts";
import { predictionsFrom } from "../party/evaluate.ts";
import type { BatchOutcomes, ScoringModel } from "./scoring-model.ts";
import type { Wanted } from "./wanted.ts";

export class Outputs {
  /** What each value of a row is called. */
  readonly names: readonly string[];
  readonly #share: ActiveShare;
  readonly #model: ScoringModel;
  readonly #wanted: Wanted;
  readonly #trees: { readonly first: number; readonly end: number };

  /** @throws TandemError USAGE if the model has no such rounds */
  constructor(share: ActiveShare, model: ScoringModel, wanted: Wanted) {
    this.#share = share;
    this.#model = model;
    this.#wanted = wanted;
    this.#trees = treesIn(share, wanted.iterations);
    this.names = this.#valueNames();
  }

  get perRow(): number {
    return this.names.length;
  }

  /** Per row, its values side by side. */
  of(batch: BatchOutcomes): Float64Array {
    switch (this.#wanted.kind) {
      case "prediction":
      case "margin":
        return this.ofMargins(this.#model.margins(batch, this.#trees));
      case "leaf":
        return this.#leaves(batch);
    }
  }

  /** Of a batch whose margins are known, and nothing else. */
  ofMargins(margins: Float64Array): Float64Array {
    const { objective, outputCount = 1 } = this.#share;
    return this.#wanted.kind === "prediction" ? predictionsFrom(objective, margins, outputCount) : margins;
  }

  /** Node ids, a column per tree, as XGBoost's pred_leaf has them. */
  #leaves(batch: BatchOutcomes): Float64Array {
    const { first, end } = this.#trees;
    const goesLeft = this.#model.goesLeft(batch);
    const leaves = new Float64Array(batch.idCount * this.perRow);
    for (let tree = first; tree < end; tree++)
      for (let row = 0; row < batch.idCount; row++)
        leaves[row * this.perRow + tree - first] = leafOf(this.#share.trees[tree], (_, node) =>
          goesLeft(tree, node, row),
        );
    return leaves;
  }

  #valueNames(): string[] {
    const { objective, outputCount = 1 } = this.#share;
    const { kind } = this.#wanted;
    if (kind === "leaf") {
      const { first, end } = this.#trees;
      return Array.from({ length: end - first }, (_, i) => `leaf_${first + i}`);
    }
    const perRow = kind === "prediction" ? predictionCount(objective, outputCount) : outputCount;
    return perRow === 1 ? [kind] : Array.from({ length: perRow }, (_, k) => `${kind}_${k}`);
  }
}
