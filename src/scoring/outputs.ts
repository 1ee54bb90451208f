/** From the outcomes of all parties' splits to the outputs asked for: predictions, margins, leaves or SHAP values. */
import type { ActiveShare } from "../store/share-files.ts";
import { predictionCount } from "../gbdt/objective/objectives.ts";
import { treesIn } from "../gbdt/tree/iterations.ts";
import { leafOf } from "../gbdt/tree/tree.ts";
import { predictionsFrom } from "../gbdt/objective/objectives.ts";
import { Explainer } from "./explainer.ts";
import type { FeatureTags } from "./feature-tags.ts";
import type { BatchOutcomes, ScoringModel } from "./scoring-model.ts";
import { isExplanation, type Wanted } from "./wanted.ts";

export class Outputs {
  /** The names of a row's values. */
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

  /** The names of SHAP values, of one class. */
  get contributionNames(): readonly string[] {
    return this.#wanted.kind === "own_contributions" ? this.#explainer.ownColumns : this.#explainer.columns;
  }

  get perRow(): number {
    return this.names.length;
  }

  /** Whether tags of all passive parties' splits are needed besides outcomes. */
  get needsTags(): boolean {
    return this.#wanted.kind === "contributions";
  }

  /** Only SHAP values of the whole model are sent to passive parties. */
  get maySendContributions(): boolean {
    return this.needsTags && this.#trees.end - this.#trees.first === this.#share.trees.length;
  }

  /** Per row, its values side by side. @param tags per passive party, where they are needed */
  async fromOutcomes(batch: BatchOutcomes, tags: readonly (FeatureTags | null)[]): Promise<Float64Array> {
    switch (this.#wanted.kind) {
      case "prediction":
      case "margin":
      case "own_contributions":
        return this.fromMargins(this.#model.margins(batch, this.#trees), batch);
      case "leaf":
        return this.#leaves(batch);
      case "contributions":
      case "party_contributions":
        return this.#explainer.values(batch, this.#trees, this.needsTags ? tags : []);
    }
  }

  /** Where only margins are known. @param batch the own columns */
  async fromMargins(margins: Float64Array, batch: Pick<BatchOutcomes, "idCount" | "columns">): Promise<Float64Array> {
    const { objective, outputCount = 1 } = this.#share;
    if (this.#wanted.kind === "own_contributions") return this.#explainer.ownValues(batch, this.#trees, margins);
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

  get #explainer(): Explainer {
    return new Explainer(this.#share, this.#model);
  }

  #valueNames(): string[] {
    const { objective, outputCount = 1 } = this.#share;
    const { kind } = this.#wanted;
    const perOutput = (name: string, k: number): string => (outputCount === 1 ? name : `${name}_${k}`);
    const outputs = Array.from({ length: outputCount }, (_, k) => k);
    if (isExplanation(this.#wanted)) {
      const columns = this.contributionNames;
      return outputs.flatMap((k) => columns.map((name) => perOutput(name, k)));
    }
    if (kind === "leaf") {
      const { first, end } = this.#trees;
      return Array.from({ length: end - first }, (_, i) => `leaf_${first + i}`);
    }
    const perRow = kind === "prediction" ? predictionCount(objective, outputCount) : outputCount;
    return outputs.slice(0, perRow).map((k) => (perRow === 1 ? kind : perOutput(kind, k)));
  }
}
