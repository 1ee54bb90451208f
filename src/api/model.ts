/** A model whose trees are all in one place: of centralised training, or of a simulation. */
import { TandemError } from "../base/error.ts";
import { predictContributions } from "../gbdt/explain/contributions.ts";
import type { CategoryNames } from "../gbdt/split/split-test.ts";
import { importanceBy } from "../gbdt/tree/importance.ts";
import { allIterations, slicedModel } from "../gbdt/tree/iterations.ts";
import type { Model as GrownModel } from "../gbdt/tree/model.ts";
import { toPredictions, predictLeaves, predictMargins } from "../gbdt/tree/predict.ts";
import { xgboostModel } from "../store/xgboost/export.ts";
import { xgboostText } from "../store/xgboost/text.ts";
import { withUsedFeatures } from "../store/xgboost/used-features.ts";
import { type PartyFeatures, readWholeModel, wholeModelText } from "../store/whole-model.ts";
import { type ModelTable, openTable, unknownColumn } from "./model-table.ts";
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
  /** Cells of a file that mean missing, besides empty ones, NA and NaN. */
  readonly missing?: readonly string[];
}

/** What the splits on a feature add up to: their number, gains and sums of hessians. */
export interface FeatureImportance {
  readonly party: string;
  readonly feature: string;
  readonly weight: number;
  /** Divided by `weight`: XGBoost's `gain`. */
  readonly totalGain: number;
  /** Divided by `weight`: XGBoost's `cover`. */
  readonly totalCover: number;
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
   * @param table columns, or the path of a .csv, .csv.gz or .parquet file
   * @returns row by row: one value, or one per output, tree or feature
   * @throws TandemError COLUMN_UNKNOWN for a feature that the table lacks and the model asks about
   */
  async predict(table: string | Table, options: PredictOptions = {}): Promise<Float64Array> {
    return (await this.predictRows(table, options)).values;
  }

  /** @internal */
  async predictRows(
    table: string | Table,
    options: PredictOptions,
  ): Promise<{ readonly values: Float64Array; readonly rowCount: number }> {
    const rows = await openTable(table, options.missing ?? []);
    return { values: await this.#predict(rows, options), rowCount: rows.rowCount };
  }

  async #predict(rows: ModelTable, options: PredictOptions): Promise<Float64Array> {
    const { output = "prediction", iterations, base_margin: marginColumn } = options;
    const range = iterations === undefined ? allIterations : { begin: iterations[0], end: iterations[1] };
    const model = slicedModel(this.#model, range);
    const { rowCount } = rows;
    const read = this.#parties.map(({ features }) => features.map((name) => this.#column(rows, name)));
    const columns = read.map((party) => party.map(({ values }) => values));
    const names = read.map((party) => party.map((column) => column.names));
    if (output === "leaf") return Float64Array.from(predictLeaves(model, columns, rowCount, names));
    const base = marginColumn === undefined ? undefined : rows.doubles(marginColumn);
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

  /** Of each feature that a split is on, as XGBoost counts it; the largest total gain first. */
  importance(): FeatureImportance[] {
    const found = importanceBy(this.#model.trees, ({ owner, feature }) => `${owner} ${feature}`);
    return Array.from(found, ([key, { weight, totalGain, totalCover }]) => {
      const [owner, feature] = key.split(" ").map(Number);
      const { name: party, features } = this.#parties[owner];
      return { party, feature: features[feature], weight, totalGain, totalCover };
    });
  }

  /** The whole model as text, for `readModel`. */
  toJson(): string {
    return wholeModelText({ model: this.#model, parties: this.#parties });
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

  #column(table: ModelTable, name: string): { values: Float32Array; names: CategoryNames } {
    const isCategorical = this.#isCategorical.get(name);
    // A feature that no split asks about.
    if (isCategorical === undefined) return { values: new Float32Array(table.rowCount), names: null };
    if (!table.names.includes(name)) throw unknownColumn(table, name);
    return isCategorical ? table.categories(name) : { values: table.numbers(name), names: null };
  }
}

/** A model that `model.toJson()` has written. @throws TandemError FILE_FORMAT */
export function readModel(text: string): Model {
  const { model, parties } = readWholeModel(text);
  return new Model(model, parties);
}
