/** Columns that say how rows are learnt (base/row-columns.ts) out of a table of text cells. */
import { TandemError } from "../base/error.ts";
import { type RowColumnName, rowColumnNames, type RowColumns } from "../base/row-columns.ts";
import { cellError, columnIndex, isMissing, parseNumber } from "./columns.ts";
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

/** @returns undefined where none is named. @throws TandemError COLUMN_UNKNOWN, or CELL_UNPARSABLE naming the cell */
export function readRowColumns(table: CsvTable, choice: RowColumnChoice): RowColumns | undefined {
  const named = namedColumns(choice);
  if (named.length === 0) return undefined;
  return Object.fromEntries(named.map(([name, column]) => [name, rowColumn(table, columnIndex(table, column), name)]));
}

/** @throws TandemError CELL_UNPARSABLE naming the cell */
export function rowColumn(table: CsvTable, index: number, name: RowColumnName): Float64Array {
  return Float64Array.from(table.columns[index], (text, row) => {
    const value = valueOf[name](text.trim());
    if (typeof value === "number") return value;
    throw cellError(table, row, index, value.trouble);
  });
}

const valueOf: Readonly<Record<RowColumnName, (cell: string) => number | { readonly trouble: string }>> = {
  // As XGBoost has it: float32.
  base_margin: (cell) => {
    const value = Math.fround(parseNumber(cell) ?? NaN);
    return Number.isFinite(value) ? value : { trouble: "is not a number; a base_margin must be one" };
  },
  label_upper_bound: (cell) => {
    if (isMissing(cell) || /^\+?inf(inity)?$/i.test(cell)) return Infinity;
    return parseNumber(cell) ?? { trouble: "is neither a number, nor empty or inf for an event that nobody has seen" };
  },
  qid: (cell) => {
    const value = parseNumber(cell);
    return value !== undefined && Number.isSafeInteger(value) && value >= 0
      ? value
      : { trouble: "is not a whole number from 0 on; a qid must be one" };
  },
};

/** A number as the same column would be read again. */
export function rowColumnText(value: number): string {
  return value === Infinity ? "inf" : String(value);
}

/** @throws TandemError CELL_UNPARSABLE: a person without a base_margin has no margin to start from */
export function requireBaseMargin(value: number, where: string): void {
  if (!Number.isFinite(value))
    throw new TandemError("CELL_UNPARSABLE", `${where}: the base_margin is missing, and the model needs one`);
}
