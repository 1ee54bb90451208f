/**
 * Reads, divides and checks the user's tables: the training table, the test rows (held out of it or from a table of
 * their own), and the validation rows.
 */
import { laterLabels } from "../party/tables/party-labels.ts";
import { noColumns } from "../base/rows/row-columns.ts";
import { splitGroups } from "../data/drawn-groups.ts";
import { TandemError } from "../base/error.ts";
import type { TrainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { CategoryBook } from "../data/category-book.ts";
import { type KeptTable, readKeptTable } from "../data/kept-table.ts";
import { type PartyTable, selectRows } from "../data/dataset.ts";
import type { Notice } from "../data/feature-columns.ts";
import { checkFeatureConstraints } from "../data/feature-constraints.ts";
import { foldRows, type RowSplit, splitRows } from "../data/split.ts";
import { categoricalColumns, type CategoryReading, type Cut, cutColumns, parseTables } from "./cut-table.ts";
import { partiesOf, type SimulateOptions } from "./simulate-options.ts";

/** A table with all of its rows. */
export interface CutTable {
  readonly table: KeptTable;
  readonly cuts: readonly Cut[];
  /** Index 0 is the active party. */
  readonly parties: readonly PartyTable[];
}

export interface SimulationTables {
  readonly whole: CutTable;
  /** The same as `whole` unless there is a table of test data. */
  readonly tested: CutTable;
  /** Rows of `whole` to train on, and of `tested` to test on. */
  readonly rows: RowSplit;
  readonly train: readonly PartyTable[];
  /** From a validation file; null: none. */
  readonly validation: CutTable | null;
}

/** @throws TandemError that names the user's own file and line */
export async function readSimulationTables(
  options: SimulateOptions,
  training: TrainingParameters,
): Promise<SimulationTables> {
  const notice: Notice = (words) => options.onEvent({ type: "notice", party: partiesOf(options)[0].name, words });
  const read = (path: string): Promise<KeptTable> => readKeptTable({ path }, options, notice);
  const table = await read(options.data);
  const cuts = cutColumns(table, options);
  const reading: CategoryReading = {
    categorical: categoricalColumns(table, cuts, options, training),
    text: training.enable_categorical ? "categories" : "refuse",
    book: new CategoryBook(),
    notice,
  };
  const parties = parseTables(table, cuts, options, training, reading);
  const whole: CutTable = { table, cuts, parties };
  const featureNames = parties.flatMap((party) => party.featureNames);
  checkFeatureConstraints(table.path, options.job.constraints ?? {}, featureNames, categoriesOf(parties));
  // Features that are categorical in the first table are categorical in the others, even if cells look numeric.
  const later = {
    ...reading,
    categorical: Object.keys(categoriesOf(parties)),
    text: "as trained",
    trained: laterLabels(parties[0]),
  } as const;
  const testTable = options.testData === undefined ? null : await read(options.testData);
  const rows =
    testTable === null
      ? testSplit(parties[0], options, training.seed)
      : { train: allRows(table), test: allRows(testTable) };
  const train = parties.map((party) => selectRows(party, rows.train));
  const tested = testTable === null ? whole : cutTable(testTable, options, training, later);
  checkTrainable(options.data, train[0]);
  const validation =
    options.validationData === undefined
      ? null
      : validationTable(await read(options.validationData), options, training, later);
  if (validation !== null) checkDistinct(validation.table.path, train[0].ids, validation.parties[0].ids);
  return { whole, tested, rows, train, validation };
}

function categoriesOf(parties: readonly PartyTable[]): NonNullable<PartyTable["categories"]> {
  return Object.assign({}, ...parties.map(({ categories }) => categories)) as NonNullable<PartyTable["categories"]>;
}

function cutTable(
  table: KeptTable,
  options: SimulateOptions,
  training: TrainingParameters,
  reading: CategoryReading,
): CutTable {
  const cuts = cutColumns(table, options);
  return { table, cuts, parties: parseTables(table, cuts, options, training, reading) };
}

function validationTable(
  table: KeptTable,
  options: SimulateOptions,
  training: TrainingParameters,
  reading: CategoryReading,
): CutTable {
  const cut = cutTable(table, options, training, reading);
  // Without an id column, row numbers are the ids, and they start at 1 in every file.
  const idOf = (id: string): string => (options.id === undefined ? `validation ${id}` : id);
  return { ...cut, parties: cut.parties.map((party) => ({ ...party, ids: Array.from(party.ids, idOf) })) };
}

/** @throws TandemError ID_DUPLICATE */
function checkDistinct(path: string, ids: Iterable<string>, others: Iterable<string>): void {
  const known = new Set(ids);
  const repeated = [...others].filter((id) => known.has(id)).length;
  if (repeated > 0)
    throw new TandemError(
      "ID_DUPLICATE",
      `${path}: ${repeated} of its ids are training rows too. Training and validation rows must be distinct`,
    );
}

export function allRows(table: KeptTable): Uint32Array {
  return Uint32Array.from({ length: table.rowCount }, (_, i) => i);
}

function testSplit(
  { ids, rowColumns = noColumns }: Pick<PartyTable, "ids" | "rowColumns">,
  { fold, testFraction }: SimulateOptions,
  seed: number,
): RowSplit {
  if (fold === undefined && testFraction === 0)
    return { train: Uint32Array.from({ length: ids.length }, (_, row) => row), test: new Uint32Array(0) };
  return splitGroups(rowColumns, ids.length, (units) =>
    fold === undefined ? splitRows(units, testFraction, seed) : foldRows(units, fold.count, fold.index, seed),
  );
}

/** @throws TandemError LABEL_INVALID if all training rows have the same label */
function checkTrainable(path: string, active: PartyTable): void {
  const labels = active.labels ?? new Float64Array(0);
  if (labels.every((label) => label === labels[0])) {
    throw new TandemError("LABEL_INVALID", `${path}: all ${labels.length} training rows have the same label`);
  }
}
