/** Rows of several files of one party as one table: its training rows, then those of its test and validation files. */
import { DistinctIds } from "../../psi/normalise.ts";
import { TandemError } from "../../base/error.ts";
import { joinedColumns, noColumns } from "../../base/rows/row-columns.ts";
import { joinedFloat32, joinedFloat64 } from "../../base/rows/row-numbers.ts";
import { PackedTexts } from "../../base/text/packed-texts.ts";
import { computedTexts, textAt, type TextList } from "../../base/text/text-list.ts";
import { csvChunks } from "../../data/write-csv.ts";
import type { PartyTable } from "../../data/dataset.ts";
import type { DistinctTable } from "./party-data.ts";

/** One file's rows. */
export interface TablePart {
  /** The field of the config that names the file. */
  readonly field: "path" | "test_path" | "validation_path";
  /** For messages. */
  readonly path: string;
  /** With the features of the first part, in their order. */
  readonly rows: DistinctTable;
}

export interface JoinedTable extends DistinctTable {
  /** The field that names a row's file. */
  readonly fieldOf: (row: number) => TablePart["field"];
  /** How many files there are. */
  readonly partCount: number;
}

/** @throws TandemError ID_DUPLICATE if an id is in two of the files */
export function joinParts(parts: readonly TablePart[]): JoinedTable {
  const of = { fieldOf: fieldsOf(parts), partCount: parts.length };
  if (parts.length === 1) return { ...parts[0].rows, ...of };
  const known = new Set<string>();
  for (const { path, rows } of parts) {
    const repeated = [...rows.ids.ids].filter((id) => known.has(id)).length;
    if (repeated > 0)
      throw new TandemError(
        "ID_DUPLICATE",
        `${path}: ${repeated} of its ids stand in another file of this party too. ` +
          "Training, test and validation rows must be different people",
      );
    for (const id of rows.ids.ids) known.add(id);
  }
  const { normalisations } = parts[0].rows.ids;
  return {
    table: joinTables(parts.map(({ rows }) => rows.table)),
    ids: DistinctIds.from([...known], { normalise: normalisations }), // normalising again changes nothing
    fileRows: Uint32Array.from(parts.flatMap(({ rows }) => [...rows.fileRows])),
    ...of,
  };
}

/** Computed: a word for each row would take as much memory as two of its features. */
function fieldsOf(parts: readonly TablePart[]): (row: number) => TablePart["field"] {
  const ends: number[] = [];
  for (const { rows } of parts) ends.push((ends.at(-1) ?? 0) + rows.table.ids.length);
  return (row) => parts[ends.findIndex((end) => row < end)].field;
}

/** @param tables with the same features in the same order */
export function joinTables(tables: readonly PartyTable[]): PartyTable {
  const [first] = tables;
  const labels = tables.flatMap((table) => (table.labels === null ? [] : [table.labels]));
  return {
    ids: PackedTexts.from(tables.flatMap(({ ids }) => [...ids])),
    featureNames: first.featureNames,
    ...(first.categories ? { categories: first.categories } : {}), // of one book
    ...(first.constraints ? { constraints: first.constraints } : {}),
    features: first.features.map((_, i) => joinedFloat32(tables.map(({ features }) => features[i]))),
    labels: labels.length === tables.length ? joinedFloat64(labels) : null,
    ...(first.classes ? { classes: first.classes } : {}), // every later file has the first one's
    rowColumns: joinedColumns(tables.map(({ rowColumns = noColumns }) => rowColumns)),
  };
}

/** Aligned rows as a file for people: the party's ids in the common order, and where in its files they stand. */
export function alignedCsv({ table, fileRows, fieldOf, partCount }: JoinedTable, rows: Uint32Array): Iterable<string> {
  const column = (cell: (row: number) => string): TextList => computedTexts(rows.length, (i) => cell(rows[i]));
  const hasFiles = partCount > 1;
  return csvChunks(
    ["id", ...(hasFiles ? ["file"] : []), "row"],
    [
      column((row) => textAt(table.ids, row)),
      ...(hasFiles ? [column(fieldOf)] : []),
      column((row) => String(fileRows[row])),
    ],
  );
}
