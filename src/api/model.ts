/** A model whose trees are all in one place: of centralised training, or of a simulation. */
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import { predictContributions } from "../gbdt/explain/contributions.ts";
import type { CategoryNames } from "../gbdt/split/split-test.ts";
import { allIterations, slicedModel } from "../gbdt/tree/iterations.ts";
import type { Model as GrownModel } from "../gbdt/tree/model.ts";
import { toPredictions, predictLeaves, predictMargins } from "../gbdt/tree/predict.ts";
import { xgboostModel } from "../store/xgboost/export.ts";
import { xgboostText } from "../store/xgboost/text.ts";
import { withUsedFeatures } from "../store/xgboost/used-features.ts";
import { categoryColumn, numberColumn } from "./columns.ts";
import type { Table } from "./table.ts";

/** Options of `model.predict`. */
export interface PredictOptions {
  /**
   * Default: `prediction`. `leaf` gives one node per tree, `contributions` a SHAP value per feature and then the bias,
   * as XGBoost's `pred_leaf` and `pred_contribs`.
   */
  readonly output?: "prediction" | "margin" | "leaf" | "contributions";
  /** Rounds whose trees count, from the first up to the second, which does not count. Default: all. */
  readonly iterations?: readonly [begin: number, end: number];
  /** The column of base margins. Needed for a model that was trained with such, and for no other. */
  readonly base_margin?: string;
}

/** A party's features, in the order in which splits count them. */
export interface PartyFeatures {
  readonly name: string;
  readonly features: readonly string[];
}

/** A gradient-boosted model. */
export class Model {
  readonly objective: string;
  readonly treeCount: number;
  /** The names of the features, party by party. */
  readonly features: readonly string[];
  readonly #model: GrownModel;
  readonly #parties: readonly PartyFeatures[];
  /** Of features that a split asks about: whether it asks about categories. */
  readonly #isCategorical: ReadonlyMap<string, boolean>;

  /** @internal */
  constructor(model: GrownModel, parties: readonly PartyFeatures[]) {
    this.#model = model;
    this.#parties = parties;
    this.objective = model.objective;
    this.treeCount = model.trees.length;
    this.features = parties.flatMap(({ features }) => features);
    const rules = model.trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule] : []));
    this.#isCategorical = new Map(rules.map(({ featureName, categories }) => [featureName, categories !== undefined]));
  }

  /** @internal */
  get grown(): GrownModel {
    return this.#model;
  }

  /**
   * @returns row by row: one value, or one per output, tree or feature
   * @throws TandemError COLUMN_UNKNOWN for a feature that the table lacks and the model asks about
   */
  async predict(table: Table, options: PredictOptions = {}): Promise<Float64Array> {
    const { output = "prediction", iterations, base_margin: marginColumn } = options;
    const range = iterations === undefined ? allIterations : { begin: iterations[0], end: iterations[1] };
    const model = slicedModel(this.#model, range);
    const rowCount = Object.values(table)[0]?.length ?? 0;
    const read = this.#parties.map(({ features }) => features.map((name) => this.#column(table, name, rowCount)));
    const columns = read.map((party) => party.map(({ values }) => values));
    const names = read.map((party) => party.map((column) => column.names));
    if (output === "leaf") return Float64Array.from(predictLeaves(model, columns, rowCount, names));
    const base = marginColumn === undefined ? undefined : Float64Array.from(numberColumn(table, marginColumn));
    if ((model.takesBaseMargin === true) !== (base !== undefined))
      throw new TandemError(
        "USAGE",
        base === undefined
          ? "the model was trained with base margins: name their column in base_margin"
          : "the model was trained without base margins: leave out base_margin",
      );
    if (output === "contributions") return predictContributions(model, columns, rowCount, names, base ?? null);
    const margins = predictMargins(model, columns, rowCount, names, base);
    return output === "margin" ? margins : toPredictions(model, margins);
  }

  /**
   * The model over the features that it splits on, as JSON text that XGBoost loads.
   * @throws TandemError USAGE for an objective that XGBoost lacks, or without a split
   */
  toXgboost(): string {
    const { model, features } = withUsedFeatures(this.#model, this.#parties.length);
    return xgboostText(
      xgboostModel(
        model,
        features,
        this.#parties.map(({ name }) => name),
      ),
    );
  }

  #column(table: Table, name: string, rowCount: number): { values: Float32Array; names: CategoryNames } {
    const isCategorical = this.#isCategorical.get(name);
    if (!Object.hasOwn(table, name)) {
      if (isCategorical === undefined) return { values: new Float32Array(rowCount), names: null };
      throw new TandemError(
        "COLUMN_UNKNOWN",
        `the table has no column '${name}'${suggestion(name, Object.keys(table))}`,
      );
    }
    if (isCategorical === true) return categoryColumn(table, name);
    return {
      values: isCategorical === undefined ? new Float32Array(rowCount) : numberColumn(table, name),
      names: null,
    };
  }
}
