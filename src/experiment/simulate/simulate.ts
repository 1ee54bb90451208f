/**
 * One CSV table cut by columns into companies, and a federation run over them: the way to try Tandem on any data. All
 * checks of the input happen here, before a process starts, so that an error names the user's own file and line.
 */
import { access, constants, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { nearestName } from "../../base/nearest-name.ts";
import {
  type CodecParameters,
  codecParameters,
  resolveParameters,
  type SpeedParameters,
  speedParameters,
  type TrainingParameters,
  trainingParameters,
} from "../../base/parameters.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { chosenScheme, plaintextBitsOf } from "../../scheme/registry.ts";
import { CategoryBook } from "../../data/category-book.ts";
import {
  columnIndex,
  columnTitle,
  idColumn,
  labelColumn,
  requireBinaryLabels,
  weightColumn,
} from "../../data/columns.ts";
import { type CsvTable, readCsvTable } from "../../data/csv-table.ts";
import { type PartyTable, selectRows } from "../../data/dataset.ts";
import { featureColumns, type FeatureReading } from "../../data/feature-columns.ts";
import { foldRows, type RowSplit, splitRows } from "../../data/split.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import { firstDifference } from "../../gbdt/tree/model-compare.ts";
import { BoostingMonitor } from "../../gbdt/boost/boosting-monitor.ts";
import { BoostingTask, otherRows } from "../../gbdt/boost/boosting-task.ts";
import { noMinimums } from "../../gbdt/split/offered-candidates.ts";
import { checkGrowth } from "../../gbdt/boost/train.ts";
import { roundsBefore } from "../../gbdt/boost/warm-start.ts";
import { jobFacts, partySide } from "../../party/disclosure-facts.ts";
import type { DisclosureFacts } from "../../privacy/disclosures.ts";
import { binningOf, binTable, checkConstraints } from "../../party/party-data.ts";
import type { PartyEvent } from "../../record/events.ts";
import { splitsOver, startFrom } from "../../party/model/start-model.ts";
import { gradientLayout } from "../../codec/gradient-layout.ts";
import { mergeShares } from "../../store/merge-shares.ts";
import { readActiveShare, readPassiveShare } from "../../store/share-files.ts";
import { writeXgboostModel } from "../../store/xgboost/export.ts";
import { type ContributionRow, contributionOf, trainInOnePlace, withValidation } from "./comparison.ts";
import {
  type FederationJob,
  type FederationParty,
  type FederationResult,
  runFederation,
  type TextTable,
} from "./federation.ts";

export interface SimulateOptions {
  readonly data: string;
  readonly id?: string | undefined;
  readonly label: string;
  readonly positive?: string | undefined;
  /** A column of instance weights, which the active party holds. */
  readonly weight?: string | undefined;
  readonly active: readonly string[];
  readonly passives: readonly (readonly string[])[];
  readonly testFraction: number;
  /** Test on this fold of a cross-validation instead. */
  readonly fold?: { readonly index: number; readonly count: number } | undefined;
  readonly testData?: string | undefined;
  /** Share of the training rows that is evaluated after every round instead of learnt from. */
  readonly validationFraction?: number | undefined;
  /** A table that is evaluated after every round instead. */
  readonly validationData?: string | undefined;
  readonly missing: readonly string[];
  /** By column: 1, -1 or 0. */
  readonly monotone?: Readonly<Record<string, -1 | 0 | 1>>;
  /** Columns that are categorical, whatever their cells look like. */
  readonly categorical?: readonly string[];
  readonly training: Readonly<Record<string, number | string | boolean>>;
  readonly codec: Readonly<Record<string, number | string | boolean>>;
  readonly speed?: Readonly<Record<string, number | string | boolean>>;
  /** Default: paillier. */
  readonly scheme?: string | undefined;
  readonly keyBits: number;
  readonly insecureKey: boolean;
  readonly predictions?: string | undefined;
  /** Where to write the model in XGBoost's JSON format. */
  readonly export?: string | undefined;
  /** An earlier simulation, kept in the same place: training goes on from its model. */
  readonly warmStart?: string | undefined;
  /** Compare with centralised training, node by node. */
  readonly check: boolean;
  /** Say what each party's columns add, by training without them, in one place. */
  readonly contribution?: boolean;
  /** Where to keep what each party recorded; nowhere by default. */
  readonly keep?: FederationJob["keep"];
  readonly onEvent: (event: PartyEvent) => void;
}

export interface SimulateResult extends FederationResult {
  /** Null where no check was asked for; otherwise where the first difference is, or "". */
  readonly difference: string | null;
  /** Null where it was not asked for; the first row is with everybody, and is the federated job's. */
  readonly contribution: readonly ContributionRow[] | null;
}

/** Where a party's columns stand in the user's table. */
interface Cut {
  readonly name: string;
  readonly columns: readonly number[];
  readonly features: readonly string[];
}

const idName = "tandem_id";
const labelName = "tandem_label";
const weightName = "tandem_weight";

/** The user's table, checked and cut, and the job that runs on it. */
export interface PreparedSimulation {
  readonly job: FederationJob;
  /** Parsed training tables; index 0 is the active party. */
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[];
  /** Of a validation file; null: there is none. */
  readonly validation: readonly PartyTable[] | null;
  readonly training: TrainingParameters;
  readonly codec: CodecParameters;
  readonly speed: SpeedParameters;
  readonly layout: GradientLayout;
  /** The model that training goes on from; null: none. */
  readonly start: Model | null;
}

export async function simulate(options: SimulateOptions): Promise<SimulateResult> {
  const { job, train, test, validation, training, codec, start } = await prepareSimulation(options);
  const result = await runFederation(job);
  const parties = [job.active, ...job.passives];
  if (options.export !== undefined) {
    await writeXgboostModel(
      options.export,
      result.model,
      parties.map(({ features }) => features),
      parties.map(({ name }) => name),
    );
  }
  const onePlace = {
    train,
    test,
    training,
    codec,
    scheme: options.scheme,
    keyBits: options.keyBits,
    validationFraction: options.validationFraction,
    validation,
    start,
  };
  const difference = options.check
    ? (firstDifference(result.model, (await trainInOnePlace(onePlace)).model) ?? "")
    : null;
  const contribution =
    options.contribution === true
      ? await contributionOf(
          onePlace,
          parties.map(({ name }) => name),
          result.active.metrics,
        )
      : null;
  return { ...result, difference, contribution };
}

/** @throws TandemError for everything that is wrong with the input, before anything runs */
export async function prepareSimulation(options: SimulateOptions): Promise<PreparedSimulation> {
  const training = resolveParameters(trainingParameters, options.training);
  const codec = resolveParameters(codecParameters, options.codec);
  const speed = resolveParameters(speedParameters, options.speed ?? {});
  checkGrowth(training);
  chosenScheme(options).scheme.parameters(options); // refuses a key that is too short
  if (options.passives.length === 0)
    throw new TandemError("USAGE", "--passive is missing: at least one passive party is needed");
  for (const path of [options.export, options.predictions]) if (path !== undefined) await requireWritable(path);

  const table = await readCsvTable(options.data);
  const cuts = cutColumns(table, options);
  const reading: CategoryReading = {
    categorical: categoricalColumns(table, cuts, options, training),
    text: training.enable_categorical ? "categories" : "refuse",
    book: new CategoryBook(),
  };
  const whole = parseTables(table, cuts, options, training.objective, reading);
  const all = {
    featureNames: whole.flatMap(({ featureNames }) => featureNames),
    categories: Object.assign({}, ...whole.map(({ categories }) => categories)) as NonNullable<
      PartyTable["categories"]
    >,
  };
  checkConstraints(table.path, options.monotone ?? {}, all);
  const testTable = options.testData === undefined ? null : await readCsvTable(options.testData);
  const rows =
    testTable === null
      ? testSplit(table.rowCount, options, training.seed)
      : { train: allRows(table), test: allRows(testTable) };
  const train = whole.map((party) => selectRows(party, rows.train));
  const testSource = testTable ?? table;
  const testCuts = testTable === null ? cuts : cutColumns(testTable, options);
  const later = {
    ...reading,
    categorical: whole.flatMap(({ categories = {} }) => Object.keys(categories)),
    text: "refuse",
  } as const;
  const testWhole = testTable === null ? whole : parseTables(testTable, testCuts, options, training.objective, later);
  checkTrainable(options.data, train[0]);
  const held =
    options.validationData === undefined
      ? null
      : await readValidation(options.validationData, options, training.objective, later);
  if (held !== null) checkDistinct(held.table.path, train[0].ids, held.parties[0].ids);
  const {
    rows: [active],
    validation,
  } = withValidation({
    train,
    validation: held?.parties ?? null,
    validationFraction: options.validationFraction,
    training,
  });
  const task = new BoostingTask(training, active.labels ?? new Float64Array(0), active.weights ?? null, validation);
  void new BoostingMonitor(training, task); // refuses early stopping without a validation set, and metrics that do not fit
  const start =
    options.warmStart === undefined
      ? null
      : await keptModel(
          options.warmStart,
          options.keep,
          cuts.map(({ name }) => name),
          whole,
        );
  roundsBefore(start, task, training);
  const layout = gradientLayout(codec, plaintextBitsOf(options), task.gradients(task.startMargins())); // refuses what could overflow

  const party = (i: number): FederationParty => ({
    name: cuts[i].name,
    features: cuts[i].features,
    monotone: constraintsOf(cuts[i], options),
    categorical: cuts[i].features.filter((name) => Object.hasOwn(whole[i].categories ?? {}, name)),
    train: textOf(table, cuts[i], whole[i], rows.train),
    test: textOf(testSource, testCuts[i], testWhole[i], rows.test),
    validation: held && textOf(held.table, held.cuts[i], held.parties[i], allRows(held.table)),
  });
  const job: FederationJob = {
    active: {
      ...party(0),
      label: labelName,
      positive: undefined,
      weight: options.weight === undefined ? undefined : weightName,
    },
    passives: cuts.slice(1).map((_, i) => party(i + 1)),
    id: idName,
    missing: options.missing,
    training,
    codec,
    speed,
    scheme: options.scheme,
    keyBits: options.keyBits,
    insecureKey: options.insecureKey,
    predictions: options.predictions,
    keep: options.keep,
    validationFraction: options.validationFraction,
    warmStart: options.warmStart,
    onEvent: options.onEvent,
  };
  const test = testWhole.map((whole) => selectRows(whole, rows.test));
  return { job, train, test, validation: held?.parties ?? null, training, codec, speed, layout, start };
}

/** What the job will reveal: here the one who asks knows every party's side. */
export function simulationFacts(prepared: PreparedSimulation): readonly DisclosureFacts[] {
  const { job, training, codec } = prepared;
  const { rows, validation } = withValidation({ ...prepared, validationFraction: job.validationFraction });
  const own = jobFacts(
    { training, codec, scheme: job.scheme, keyBits: job.keyBits, hasStart: prepared.start !== null },
    rows[0],
    validation,
    job.active.test?.columns[0].length ?? 0,
  );
  const deciding = validation && otherRows(validation, rows[0].ids.length);
  return job.passives.map(({ name }, i) => {
    const features = binTable(rows[i + 1], binningOf(training), deciding);
    return {
      ...own,
      active: job.active.name,
      passive: name,
      alignment: null,
      passiveParty: partySide(features, { minimums: noMinimums, scoringIdsMax: "refused" }),
    };
  });
}

/**
 * The model of an earlier simulation, over the columns of this one. @throws TandemError if there is none, or it does
 * not fit
 */
async function keptModel(
  run: string,
  keep: SimulateOptions["keep"],
  [active, ...passives]: readonly string[],
  [activeTable, ...tables]: readonly PartyTable[],
): Promise<Model> {
  if (keep === undefined)
    throw new TandemError(
      "USAGE",
      "--warm-start needs --runs: the folder that keeps the earlier simulation and this one",
    );
  const shareOf = (name: string): string => join(keep.directory, name, run, "share.json");
  const share = await readActiveShare(shareOf(active));
  const shares = await Promise.all(
    passives.map(async (name, i) => {
      const { splits, ...rest } = await readPassiveShare(shareOf(name));
      return { ...rest, splits: splitsOver(splits, tables[i]) };
    }),
  );
  return mergeShares({ ...share, ...startFrom(share, passives, activeTable) }, shares);
}

/** Before training, not after it: hours may lie between. */
async function requireWritable(path: string): Promise<void> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) throw new TandemError("FILE_UNWRITABLE", `${path} is a folder; name a file`);
  try {
    await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw new TandemError(
      "FILE_UNWRITABLE",
      `${path} cannot be written: its folder does not exist or is not ours to write to`,
      { cause },
    );
  }
}

interface ValidationTable {
  readonly table: CsvTable;
  readonly cuts: readonly Cut[];
  readonly parties: readonly PartyTable[];
}

async function readValidation(
  path: string,
  options: SimulateOptions,
  objective: string,
  reading: CategoryReading,
): Promise<ValidationTable> {
  const table = await readCsvTable(path);
  const cuts = cutColumns(table, options);
  // Row numbers are ids where there is no column of them: they begin anew in every file.
  const idOf = (id: string): string => (options.id === undefined ? `validation ${id}` : id);
  return {
    table,
    cuts,
    parties: parseTables(table, cuts, options, objective, reading).map((party) => ({
      ...party,
      ids: party.ids.map(idOf),
    })),
  };
}

/** @throws TandemError ID_DUPLICATE */
function checkDistinct(path: string, ids: readonly string[], others: readonly string[]): void {
  const known = new Set(ids);
  const repeated = others.filter((id) => known.has(id)).length;
  if (repeated > 0)
    throw new TandemError(
      "ID_DUPLICATE",
      `${path}: ${repeated} of its ids are trained on too; training and validation rows must be different people`,
    );
}

function allRows(table: CsvTable): Uint32Array {
  return Uint32Array.from({ length: table.rowCount }, (_, i) => i);
}

/** @throws TandemError COLUMN_UNKNOWN, or COLUMN_SHARED if a column is used twice */
function cutColumns(table: CsvTable, options: SimulateOptions): Cut[] {
  const usedBy = new Map<number, string>();
  const claim = (column: string, user: string): number => {
    const index = columnIndex(table, column);
    const other = usedBy.get(index);
    if (other !== undefined) {
      throw new TandemError(
        "COLUMN_SHARED",
        `${table.path}: column ${columnTitle(table, index)} is given to ${other} and to ${user}; each column belongs to one`,
      );
    }
    usedBy.set(index, user);
    return index;
  };
  if (options.id !== undefined) claim(options.id, "--id");
  claim(options.label, "--label");
  if (options.weight !== undefined) claim(options.weight, "--weight");
  const cut = (name: string, user: string, wanted: readonly string[]): Cut => {
    const columns = wanted.map((column) => claim(column, user));
    return { name, columns, features: columns.map((index) => table.names[index] || `column_${index}`) };
  };
  return [
    cut("active", "--active", options.active),
    ...options.passives.map((wanted, i) => cut(`passive-${i + 1}`, `--passive ${wanted.join(",")}`, wanted)),
  ];
}

type CategoryReading = Pick<FeatureReading, "categorical" | "text" | "book">;

function parseTables(
  table: CsvTable,
  cuts: readonly Cut[],
  options: SimulateOptions,
  objective: string,
  reading: CategoryReading,
): PartyTable[] {
  const ids = idColumn(table, options.id);
  const labelIndex = columnIndex(table, options.label);
  const labels = labelColumn(table, labelIndex, options.positive);
  if (objective === "binary:logistic") requireBinaryLabels(table, labelIndex, labels);
  const weights = options.weight === undefined ? null : weightColumn(table, columnIndex(table, options.weight));
  return cuts.map((cut, i) => ({
    ids,
    ...featureColumns(table, {
      ...reading,
      columns: cut.columns,
      names: cut.features,
      missing: options.missing,
      categorical: reading.categorical.filter((name) => cut.features.includes(name)),
    }),
    monotone: constraintsOf(cut, options),
    labels: i === 0 ? labels : null,
    weights: i === 0 ? weights : null,
  }));
}

/** @throws TandemError USAGE without enable_categorical, COLUMN_UNKNOWN for what is not a feature */
function categoricalColumns(
  table: CsvTable,
  cuts: readonly Cut[],
  { categorical = [] }: SimulateOptions,
  training: TrainingParameters,
): readonly string[] {
  if (categorical.length > 0 && !training.enable_categorical)
    throw new TandemError("USAGE", "--categorical names columns, but --enable-categorical is not given");
  const features = cuts.flatMap((cut) => cut.features);
  const unknown = categorical.find((name) => !features.includes(name));
  if (unknown !== undefined)
    throw new TandemError(
      "COLUMN_UNKNOWN",
      `${table.path}: --categorical names '${unknown}', which is not among the features; did you mean '${nearestName(unknown, features)}'?`,
    );
  return categorical;
}

function testSplit(rowCount: number, { fold, testFraction }: SimulateOptions, seed: number): RowSplit {
  return fold === undefined
    ? splitRows(rowCount, testFraction, seed)
    : foldRows(rowCount, fold.count, fold.index, seed);
}

function constraintsOf({ features }: Cut, { monotone = {} }: SimulateOptions): Record<string, -1 | 0 | 1> {
  return Object.fromEntries(Object.entries(monotone).filter(([name]) => features.includes(name)));
}

/** @throws TandemError LABEL_INVALID if there is nothing to learn from the training rows */
function checkTrainable(path: string, active: PartyTable): void {
  const labels = active.labels ?? new Float64Array(0);
  if (labels.every((label) => label === labels[0])) {
    throw new TandemError(
      "LABEL_INVALID",
      `${path}: the label is the same in all ${labels.length} training rows; there is nothing to learn`,
    );
  }
}

/** A party's own file: ids, its raw cells, and for the active party labels and weights. */
function textOf(table: CsvTable, cut: Cut, parsed: PartyTable, rows: Uint32Array): TextTable {
  const { labels, weights } = parsed;
  const pick = (cells: readonly string[]): string[] => Array.from(rows, (row) => cells[row]);
  return {
    names: [idName, ...cut.features, ...(labels === null ? [] : [labelName]), ...(weights ? [weightName] : [])],
    columns: [
      pick(parsed.ids),
      ...cut.columns.map((column) => pick(table.columns[column])),
      ...(labels === null ? [] : [Array.from(rows, (row) => String(labels[row]))]),
      ...(weights ? [Array.from(rows, (row) => String(weights[row]))] : []),
    ],
  };
}
