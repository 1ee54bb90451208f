/**
 * One CSV table cut by columns into companies, and a federation run over them: the way to try Tandem on any data. All
 * checks of the input happen here, before a process starts, so that an error names the user's own file and line.
 */
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { TandemError } from "../base/error.ts";
import { type CodecParameters, codecParameters, nearestName, resolveParameters, type SpeedParameters, speedParameters, type TrainingParameters, trainingParameters } from "../base/parameters.ts";
import type { GradientLayout } from "../codec/layout.ts";
import { plaintextBitsMax } from "../codec/packing.ts";
import { checkKeyBits } from "../crypto/index.ts";
import { CategoryBook } from "../data/category-book.ts";
import { columnIndex, columnTitle, idColumn, labelColumn, requireBinaryLabels, weightColumn } from "../data/columns.ts";
import { type CsvTable, readCsvTable } from "../data/csv-table.ts";
import { type PartyTable, selectRows } from "../data/dataset.ts";
import { featureColumns, type FeatureReading } from "../data/feature-columns.ts";
import { foldRows, type RowSplit, splitRows, validationRows } from "../data/split.ts";
import { firstDifference } from "../gbdt/model-compare.ts";
import { BoostingMonitor } from "../gbdt/boosting-monitor.ts";
import { BoostingTask } from "../gbdt/boosting-task.ts";
import { checkConstraints } from "../party/party-data.ts";
import type { PartyEvent } from "../party/events.ts";
import { gradientLayout } from "../protocol/gradient-layout.ts";
import { writeXgboostModel } from "../store/xgboost-export.ts";
import { trainInOnePlace } from "./comparison.ts";
import { type FederationJob, type FederationParty, type FederationResult, runFederation, type TextTable } from "./federation.ts";

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
  readonly missing: readonly string[];
  /** By column: 1, -1 or 0. */
  readonly monotone?: Readonly<Record<string, -1 | 0 | 1>>;
  /** Columns that are categorical, whatever their cells look like. */
  readonly categorical?: readonly string[];
  readonly training: Readonly<Record<string, number | string | boolean>>;
  readonly codec: Readonly<Record<string, number | string | boolean>>;
  readonly speed?: Readonly<Record<string, number | string | boolean>>;
  readonly keyBits: number;
  readonly insecureKey: boolean;
  readonly predictions?: string | undefined;
  /** Where to write the model in XGBoost's JSON format. */
  readonly export?: string | undefined;
  /** Compare with centralised training, node by node. */
  readonly check: boolean;
  /** Where to keep what each party recorded; nowhere by default. */
  readonly keep?: FederationJob["keep"];
  readonly onEvent: (event: PartyEvent) => void;
}

export interface SimulateResult extends FederationResult {
  /** Null where no check was asked for; otherwise where the first difference is, or "". */
  readonly difference: string | null;
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
  readonly training: TrainingParameters;
  readonly codec: CodecParameters;
  readonly speed: SpeedParameters;
  readonly layout: GradientLayout;
}

export async function simulate(options: SimulateOptions): Promise<SimulateResult> {
  const { job, train, training, codec } = await prepareSimulation(options);
  const result = await runFederation(job);
  if (options.export !== undefined) {
    const parties = [job.active, ...job.passives];
    await writeXgboostModel(options.export, result.model, parties.map(({ features }) => features), parties.map(({ name }) => name));
  }
  if (!options.check) return { ...result, difference: null };
  const { model } = await trainInOnePlace({ train, test: null, training, codec, keyBits: options.keyBits, validationFraction: options.validationFraction });
  return { ...result, difference: firstDifference(result.model, model) ?? "" };
}

/** @throws TandemError for everything that is wrong with the input, before anything runs */
export async function prepareSimulation(options: SimulateOptions): Promise<PreparedSimulation> {
  const training = resolveParameters(trainingParameters, options.training);
  const codec = resolveParameters(codecParameters, options.codec);
  const speed = resolveParameters(speedParameters, options.speed ?? {});
  checkKeyBits(options.keyBits, options.insecureKey);
  if (options.passives.length === 0) throw new TandemError("USAGE", "--passive is missing: at least one passive party is needed");
  for (const path of [options.export, options.predictions]) if (path !== undefined) await requireWritable(path);

  const table = await readCsvTable(options.data);
  const cuts = cutColumns(table, options);
  const reading: CategoryReading = { categorical: categoricalColumns(table, cuts, options, training), text: training.enable_categorical ? "categories" : "refuse", book: new CategoryBook() };
  const whole = parseTables(table, cuts, options, training.objective, reading);
  const all = { featureNames: whole.flatMap(({ featureNames }) => featureNames), categories: Object.assign({}, ...whole.map(({ categories }) => categories)) as NonNullable<PartyTable["categories"]> };
  checkConstraints(table.path, options.monotone ?? {}, all);
  const testTable = options.testData === undefined ? null : await readCsvTable(options.testData);
  const rows =
    testTable === null
      ? testSplit(table.rowCount, options, training.seed)
      : { train: allRows(table), test: allRows(testTable) };
  const train = whole.map((party) => selectRows(party, rows.train));
  const testSource = testTable ?? table;
  const testCuts = testTable === null ? cuts : cutColumns(testTable, options);
  const testWhole = testTable === null ? whole : parseTables(testTable, testCuts, options, training.objective, { ...reading, categorical: whole.flatMap(({ categories = {} }) => Object.keys(categories)), text: "refuse" });
  const layoutLabels = checkTrainable(options.data, train[0]);
  const validation = options.validationFraction === undefined ? null : validationRows(layoutLabels.length, options.validationFraction, training.seed);
  const task = new BoostingTask(training, layoutLabels, train[0].weights ?? null, validation);
  void new BoostingMonitor(training, task); // refuses early stopping without a validation set, and metrics that do not fit
  const layout = gradientLayout(codec, plaintextBitsMax(options.keyBits), task.gradients(task.startMargins())); // refuses what could overflow

  const party = (i: number): FederationParty => ({
    name: cuts[i].name,
    features: cuts[i].features,
    monotone: constraintsOf(cuts[i], options),
    categorical: cuts[i].features.filter((name) => Object.hasOwn(whole[i].categories ?? {}, name)),
    train: textOf(table, cuts[i], whole[i], rows.train),
    test: textOf(testSource, testCuts[i], testWhole[i], rows.test),
  });
  const job: FederationJob = {
    active: { ...party(0), label: labelName, positive: undefined, weight: options.weight === undefined ? undefined : weightName },
    passives: cuts.slice(1).map((_, i) => party(i + 1)),
    id: idName,
    missing: options.missing,
    training,
    codec,
    speed,
    keyBits: options.keyBits,
    insecureKey: options.insecureKey,
    predictions: options.predictions,
    keep: options.keep,
    validationFraction: options.validationFraction,
    onEvent: options.onEvent,
  };
  return { job, train, training, codec, speed, layout };
}

/** Before training, not after it: hours may lie between. */
async function requireWritable(path: string): Promise<void> {
  const isFolder = await stat(path).then((found) => found.isDirectory(), () => false);
  if (isFolder) throw new TandemError("FILE_UNWRITABLE", `${path} is a folder; name a file`);
  try {
    await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written: its folder does not exist or is not ours to write to`, { cause });
  }
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
      throw new TandemError("COLUMN_SHARED", `${table.path}: column ${columnTitle(table, index)} is given to ${other} and to ${user}; each column belongs to one`);
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

function parseTables(table: CsvTable, cuts: readonly Cut[], options: SimulateOptions, objective: string, reading: CategoryReading): PartyTable[] {
  const ids = idColumn(table, options.id);
  const labelIndex = columnIndex(table, options.label);
  const labels = labelColumn(table, labelIndex, options.positive);
  if (objective === "binary:logistic") requireBinaryLabels(table, labelIndex, labels);
  const weights = options.weight === undefined ? null : weightColumn(table, columnIndex(table, options.weight));
  return cuts.map((cut, i) => ({
    ids,
    ...featureColumns(table, { ...reading, columns: cut.columns, names: cut.features, missing: options.missing, categorical: reading.categorical.filter((name) => cut.features.includes(name)) }),
    monotone: constraintsOf(cut, options),
    labels: i === 0 ? labels : null,
    weights: i === 0 ? weights : null,
  }));
}

/** @throws TandemError USAGE without enable_categorical, COLUMN_UNKNOWN for what is not a feature */
function categoricalColumns(table: CsvTable, cuts: readonly Cut[], { categorical = [] }: SimulateOptions, training: TrainingParameters): readonly string[] {
  if (categorical.length > 0 && !training.enable_categorical) throw new TandemError("USAGE", "--categorical names columns, but --enable-categorical is not given");
  const features = cuts.flatMap((cut) => cut.features);
  const unknown = categorical.find((name) => !features.includes(name));
  if (unknown !== undefined) throw new TandemError("COLUMN_UNKNOWN", `${table.path}: --categorical names '${unknown}', which is not among the features; did you mean '${nearestName(unknown, features)}'?`);
  return categorical;
}

function testSplit(rowCount: number, { fold, testFraction }: SimulateOptions, seed: number): RowSplit {
  return fold === undefined ? splitRows(rowCount, testFraction, seed) : foldRows(rowCount, fold.count, fold.index, seed);
}

function constraintsOf({ features }: Cut, { monotone = {} }: SimulateOptions): Record<string, -1 | 0 | 1> {
  return Object.fromEntries(Object.entries(monotone).filter(([name]) => features.includes(name)));
}

/** The training rows' labels, if they can be learnt from. */
function checkTrainable(path: string, active: PartyTable): Float64Array {
  const labels = active.labels ?? new Float64Array(0);
  if (labels.every((label) => label === labels[0])) {
    throw new TandemError("LABEL_INVALID", `${path}: the label is the same in all ${labels.length} training rows; there is nothing to learn`);
  }
  return labels;
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
