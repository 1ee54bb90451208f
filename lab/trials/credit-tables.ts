/**
 * Loads the paper's two tables from the original public files, or generates tables of the same shape, and cuts them
 * into the parties' training and test rows. Values are raw: trees need no scaling.
 */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { TandemError } from "../../src/base/error.ts";
import { columnIndex, idColumn, labelColumn, numericColumn, requireBinaryLabels } from "../../src/data/columns.ts";
import { type CsvTable, readCsvTable } from "../../src/data/csv-table.ts";
import { type PartyTable, selectRows } from "../../src/data/dataset.ts";
import { drawRows, type RowSplit } from "../../src/data/split.ts";
import { syntheticCredit } from "../../src/data/synthetic-credit.ts";
import type { TextTable } from "../../src/simulate/federation.ts";
import type { PaperDataset } from "./paper-datasets.ts";

/** Index 0 is the active party, 1 the passive one. */
export interface CreditTable {
  readonly dataset: PaperDataset;
  /** Where the rows come from, for the report. */
  readonly source: string;
  /** Of every cell that is used: another file of the same name is another experiment. */
  readonly digest: string;
  readonly rowCount: number;
  readonly parties: readonly PartyTable[];
  /** The same columns as text, which the parties' files are written from. */
  readonly cells: readonly TextTable[];
}

export interface CutTable {
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[];
  readonly trainCells: readonly TextTable[];
  readonly testCells: readonly TextTable[];
}

export const idName = "tandem_id";
export const labelName = "tandem_label";
/** The longest chain of folders below --data in which a file is looked for. */
const foldersDeep = 2;

/**
 * Reads the dataset's original file, wherever it lies below `folder`.
 * @throws TandemError FILE_UNREADABLE if it is not there, saying where to get it
 */
export async function readCreditTable(dataset: PaperDataset, folder: string): Promise<CreditTable> {
  const path = await findFile(folder, [dataset.file, `${dataset.file}.gz`], foldersDeep);
  if (path === null) {
    throw new TandemError(
      "FILE_UNREADABLE",
      `${folder} holds no ${dataset.file} or ${dataset.file}.gz (${dataset.title}); ` +
        "docs/data.md says where to get it, and --synthetic runs on synthetic data instead",
    );
  }
  const table = await readCsvTable(path);
  const labelIndex = columnIndex(table, dataset.label);
  const labels = labelColumn(table, labelIndex);
  requireBinaryLabels(table, labelIndex, labels);
  const ids = idColumn(table, dataset.id);
  const missing = new Set<string>();
  const party = (names: readonly string[], own: Float64Array | null): PartyTable => ({
    ids,
    featureNames: [...names],
    features: names.map((name) => numericColumn(table, columnIndex(table, name), missing)),
    labels: own,
  });
  const parties = [party(dataset.active, labels), party(dataset.passive, null)];
  return creditTable(dataset, basename(path), parties, (name) => columnOf(table, name));
}

/**
 * Synthetic data with the same numbers of rows and columns: results show that the experiment runs, not the paper's
 * figures.
 */
export function syntheticCreditTable(dataset: PaperDataset, rowCount: number, seed: number): CreditTable {
  const { bank, retailer, telecom } = syntheticCredit({ rows: rowCount, seed });
  const companies = [bank, retailer, telecom];
  const columns = new Map(companies.flatMap(({ csv }) => csv.names.map((name, i) => [name, csv.columns[i]] as const)));
  const features = companies.flatMap(({ table }) =>
    table.featureNames.map((name, i) => ({ name, values: table.features[i] })),
  );
  const ownFeatures = bank.table.featureNames.slice(-dataset.active.length);
  const others = features.filter(({ name }) => !ownFeatures.includes(name)).slice(-dataset.passive.length);
  const own = features.filter(({ name }) => ownFeatures.includes(name));
  const party = (chosen: typeof features, labels: Float64Array | null): PartyTable => ({
    ids: bank.table.ids,
    featureNames: chosen.map(({ name }) => name),
    features: chosen.map(({ values }) => values),
    labels,
  });
  return creditTable(
    dataset,
    `synthetic, seed ${seed}`,
    [party(own, bank.table.labels), party(others, null)],
    (name) => columns.get(name) ?? [],
  );
}

/**
 * The rows of one trial. The smaller training sets of a seed are parts of the larger ones, and the test rows are the
 * same.
 */
export function cutCreditTable(
  table: CreditTable,
  wanted: { readonly train: number; readonly test: number },
  seed: number,
): CutTable {
  const rows: RowSplit = drawRows(table.rowCount, wanted, seed);
  const text = (side: Uint32Array): TextTable[] =>
    table.cells.map(({ names, columns }) => ({
      names,
      columns: columns.map((column) => Array.from(side, (row) => column[row])),
    }));
  return {
    train: table.parties.map((party) => selectRows(party, rows.train)),
    test: table.parties.map((party) => selectRows(party, rows.test)),
    trainCells: text(rows.train),
    testCells: text(rows.test),
  };
}

function creditTable(
  dataset: PaperDataset,
  source: string,
  parties: readonly PartyTable[],
  cellsOf: (name: string) => readonly string[],
): CreditTable {
  const cells = parties.map(({ ids, featureNames, labels }): TextTable => ({
    names: [idName, ...featureNames, ...(labels === null ? [] : [labelName])],
    columns: [[...ids], ...featureNames.map(cellsOf), ...(labels === null ? [] : [Array.from(labels, String)])],
  }));
  const hash = createHash("sha256");
  for (const { names, columns } of cells)
    names.forEach((name, i) => hash.update(`${name}\n${columns[i].join("\n")}\n`));
  return { dataset, source, digest: hash.digest("hex"), rowCount: parties[0].ids.length, parties, cells };
}

function columnOf(table: CsvTable, name: string): readonly string[] {
  return table.columns[columnIndex(table, name)];
}

/** @returns the first such file, shallow folders before deep ones; null if there is none or nothing can be read */
async function findFile(folder: string, names: readonly string[], deep: number): Promise<string | null> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const name of names)
    if (entries.some((entry) => entry.name === name && !entry.isDirectory())) return join(folder, name);
  if (deep === 0) return null;
  for (const entry of entries
    .filter((candidate) => candidate.isDirectory())
    .sort((a, b) => a.name.localeCompare(b.name))) {
    const found = await findFile(join(folder, entry.name), names, deep - 1);
    if (found !== null) return found;
  }
  return null;
}
