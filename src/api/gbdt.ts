/**
 * Plain gradient boosting on a table in memory, without parties or encryption: the trees that parties with the same
 * columns would grow together, and XGBoost's parameters.
 */
import { constraintsIn } from "../data/feature-constraints.ts";
import { type RowColumns, rowColumnNames } from "../base/rows/row-columns.ts";
import type { PartyTable } from "../data/dataset.ts";
import { BoostingMonitor } from "../gbdt/boost/boosting-monitor.ts";
import { BoostingTask } from "../gbdt/boost/boosting-task.ts";
import { trainCentralised } from "../gbdt/boost/train.ts";
import type { CustomObjective } from "../gbdt/objective/custom-objective.ts";
import { TrainingRows } from "../gbdt/rows/training-rows.ts";
import { toPredictions, predictMargins } from "../gbdt/tree/predict.ts";
import { categoryNamesPerFeature } from "../data/dataset.ts";
import { treeTerms } from "../party/job-grid.ts";
import { binningOf, binTable } from "../party/tables/party-data.ts";
import { treesPerBoostingRound } from "../protocol/job-parameters.ts";
import { untilAborted } from "./abort.ts";
import { categoryColumn, doubleColumn, isTextColumn, numberColumn } from "./columns.ts";
import { Model } from "./model.ts";
import type { TrainingParameters } from "./parameters.ts";
import type { Metrics } from "./progress.ts";
import type { Table } from "./table.ts";
import { resolveJob } from "../party/resolve-job.ts";

export type { CustomObjective } from "../gbdt/objective/custom-objective.ts";
export type { Range } from "../base/gradients/real-gradients.ts";
export { type FeatureImportance, type Model, type PredictOptions, readModel } from "./model.ts";
export type { TrainingParameters } from "./parameters.ts";
export type { Metrics } from "./progress.ts";
export type { Table } from "./table.ts";

/** Names of columns that say how each row is trained on, as XGBoost's DMatrix has them. */
export interface RowColumnNames {
  readonly weight?: string;
  readonly base_margin?: string;
  readonly label_upper_bound?: string;
  readonly qid?: string;
}

/** Options of `train`. */
export interface TrainOptions {
  /** The column to predict: numbers. */
  readonly label: string;
  /** Default: all columns but the label and those of `columns`. */
  readonly features?: readonly string[];
  readonly columns?: RowColumnNames;
  /** Columns of numbers that stand for categories; columns with text always do. */
  readonly categorical?: readonly string[];
  /** By feature: 1 or -1 if a larger value may only raise or only lower the prediction. */
  readonly monotone?: Readonly<Record<string, -1 | 0 | 1>>;
  /** Rows that are evaluated, but not trained on. */
  readonly validationRows?: ArrayLike<number>;
  readonly parameters?: TrainingParameters;
  /** Gradients of your own. `parameters.objective` still says what labels, predictions and metrics are. */
  readonly objective?: CustomObjective;
  /** The start model; `num_round` counts the new rounds. */
  readonly start?: Model;
  readonly onProgress?: (progress: { readonly treesDone: number; readonly treeCount: number }) => void;
  readonly signal?: AbortSignal;
}

/** What training has come to. */
export interface TrainResult {
  readonly model: Model;
  readonly metrics: { readonly train: Metrics; readonly validation?: Metrics };
  /** Of all rows, the outputs of each side by side. */
  readonly predictions: Float64Array;
}

/** Trains on a table. @throws TandemError for columns, labels or parameters that cannot be used */
export function train(table: Table, options: TrainOptions): Promise<TrainResult> {
  return untilAborted(options.signal, () => run(table, options));
}

async function run(table: Table, options: TrainOptions): Promise<TrainResult> {
  const given = resolveJob({ training: options.parameters });
  const own = ownTable(table, options);
  const parameters = own.categories === undefined ? given.training : { ...given.training, enable_categorical: true };
  const job = { ...given, training: parameters };
  const validation = options.validationRows === undefined ? null : Uint32Array.from(options.validationRows).sort();
  const { labels, rowColumns: columns } = own;
  const rows = new TrainingRows(labels, { columns, validation, custom: options.objective });
  const names = categoryNamesPerFeature(own);
  const startModel = options.start?.grown;
  const before = startModel?.trees.length ?? 0;
  const treeCount = before + parameters.num_round * treesPerBoostingRound(parameters);
  const { trainMargins, ...grown } = await trainCentralised({
    ...treeTerms(job),
    parties: [binTable(own, binningOf(job), rows.training)],
    rows,
    start: startModel === undefined ? null : { model: startModel, columns: [own.features], names: [names] },
    onTree: (_, tree) => {
      options.signal?.throwIfAborted();
      options.onProgress?.({ treesDone: tree + 1, treeCount });
    },
  });
  // Early stopping drops the last rounds: margins are those of the model that is kept.
  const margins =
    parameters.early_stopping_rounds === 0
      ? trainMargins
      : predictMargins(grown, [own.features], rows.count, [names], rows.baseMargins);
  const monitor = new BoostingMonitor(parameters, new BoostingTask(parameters, rows));
  const validationMetrics = await monitor.onValidation(margins);
  return {
    model: new Model(grown, [{ name: "active", features: own.featureNames }]),
    metrics: {
      train: await monitor.onTraining(margins),
      ...(validationMetrics === null ? {} : { validation: validationMetrics }),
    },
    predictions: toPredictions(grown, margins),
  };
}

/** The table as one party's. */
function ownTable(
  table: Table,
  { label, columns: named = {}, categorical = [], monotone = {}, ...options }: TrainOptions,
): PartyTable & { readonly labels: Float64Array; readonly rowColumns: RowColumns } {
  const taken = new Set<string>([label, ...Object.values(named)]);
  const featureNames = [...(options.features ?? Object.keys(table).filter((name) => !taken.has(name)))];
  const read = featureNames.map((name) =>
    categorical.includes(name) || isTextColumn(table, name)
      ? { name, ...categoryColumn(table, name) }
      : { name, values: numberColumn(table, name), names: null },
  );
  const categories = read.flatMap(({ name, names }) =>
    names === null ? [] : [[name, { names, where: name }] as const],
  );
  const rowColumns = rowColumnNames.flatMap((name) => {
    const column = named[name];
    return column === undefined ? [] : [[name, doubleColumn(table, column)] as const];
  });
  return {
    ids: [],
    featureNames,
    features: read.map(({ values }) => values),
    ...(categories.length === 0 ? {} : { categories: Object.fromEntries(categories) }),
    constraints: constraintsIn({ monotone_constraints: monotone }),
    labels: doubleColumn(table, label),
    rowColumns: Object.fromEntries(rowColumns),
  };
}
