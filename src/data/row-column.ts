/** Per-row columns (base/rows/row-columns.ts) out of a table of text cells. */
import { TandemError } from "../base/error.ts";
import { type RowColumnName, rowColumnNamed, rowColumnNames, type RowColumns } from "../base/rows/row-columns.ts";
import { cellError, columnIndex, cellPlace } from "./columns.ts";
import type { CsvTable } from "./csv-table.ts";

/** Which column each is, by name or position. */
export type RowColumnChoice = { readonly [name in RowColumnName]?: string | undefined };

/** The columns that are named, in a fixed order. */
export function namedColumns(choice: RowColumnChoice): [RowColumnName, string][] {
  return rowColumnNames.flatMap((name): [RowColumnName, string][] => {
    const column = choice[name];
    return column === undefined ? [] : [[name, column]];
  });
}

/** @throws TandemError COLUMN_UNKNOWN, or CELL_UNPARSABLE or WEIGHT_INVALID naming the cell */
export function readRowColumns(table: CsvTable, choice: RowColumnChoice): RowColumns {
  const read = ([name, column]: [RowColumnName, string]): [RowColumnName, Float64Array] => [
    name,
    rowColumn(table, columnIndex(table, column), name),
  ];
  return Object.fromEntries(namedColumns(choice).map(read));
}

/** @throws TandemError CELL_UNPARSABLE or WEIGHT_INVALID naming the cell */
export function rowColumn(table: CsvTable, index: number, name: RowColumnName): Float64Array {
  const { read } = rowColumnNamed(name);
  return Float64Array.from(table.columns[index], (text, row) => {
    const value = read(text.trim());
    if (typeof value === "number") return value;
    const { code, what } = value;
    if (code === undefined) throw cellError(table, row, index, what);
    throw new TandemError(code, `${cellPlace(table, row, index)}: the ${name} ${what}`);
  });
}

/** A number as the same column would be read again. */
export function rowColumnText(value: number): string {
  return value === Infinity ? "inf" : String(value);
}
