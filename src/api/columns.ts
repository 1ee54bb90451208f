/** Columns of a table in memory as the trainer takes them: float32 numbers, or codes of categories. */
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import type { Table } from "./table.ts";

/** @throws TandemError COLUMN_UNKNOWN */
function cellsOf(table: Table, name: string): ArrayLike<number | string | null> {
  if (Object.hasOwn(table, name)) return table[name];
  throw new TandemError("COLUMN_UNKNOWN", `the table has no column '${name}'${suggestion(name, Object.keys(table))}`);
}

export function isTextColumn(table: Table, name: string): boolean {
  return Array.from(cellsOf(table, name)).some((cell) => typeof cell === "string");
}

/** @throws TandemError COLUMN_UNKNOWN, or CELL_UNPARSABLE naming the row, never the cell */
export function numberColumn(table: Table, name: string): Float32Array {
  return Float32Array.from(doubleColumn(table, name));
}

/** The same as doubles, for labels. */
export function doubleColumn(table: Table, name: string): Float64Array {
  return Float64Array.from(cellsOf(table, name), (cell, row) => {
    const value = cell ?? Number.NaN;
    if (typeof value === "number" && (Number.isNaN(value) || Number.isFinite(Math.fround(value)))) return value;
    throw new TandemError("CELL_UNPARSABLE", `column '${name}', row ${row}: the cell is not a finite number`);
  });
}

/** Codes in the order in which categories first appear. @throws TandemError COLUMN_UNKNOWN */
export function categoryColumn(table: Table, name: string): { values: Float32Array; names: readonly string[] } {
  const codes = new Map<string, number>();
  const values = Float32Array.from(cellsOf(table, name), (cell) => {
    if (cell === null || cell === "" || Number.isNaN(cell)) return Number.NaN;
    const text = String(cell);
    const code = codes.get(text) ?? codes.size;
    codes.set(text, code);
    return code;
  });
  return { values, names: [...codes.keys()] };
}
