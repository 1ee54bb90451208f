/** The rows that a whole model is asked about: columns that a caller holds in memory, or a file. */
import { TandemError } from "../base/error.ts";
import { isMissing, parseNumber } from "../base/text/number-cell.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import { CategoryBook } from "../data/category-book.ts";
import { categoryColumn as categoriesInFile, columnIndex, numericColumn } from "../data/columns.ts";
import { readTable } from "../data/table-source.ts";
import { categoryColumn, doubleColumn, numberColumn } from "./columns.ts";
import type { Table } from "./table.ts";

/** Codes of categories, and what they stand for. */
interface Categories {
  readonly values: Float32Array;
  readonly names: readonly string[];
}

/** Columns by name, each read as the kind that a model asks for. */
export interface ModelTable {
  readonly rowCount: number;
  readonly names: readonly string[];
  /** @throws TandemError COLUMN_UNKNOWN, or CELL_UNPARSABLE naming the place, never the cell */
  numbers(name: string): Float32Array;
  categories(name: string): Categories;
  doubles(name: string): Float64Array;
}

/** @param missing cells of a file that mean missing, besides empty ones, NA and NaN */
export async function openTable(table: string | Table, missing: readonly string[]): Promise<ModelTable> {
  return typeof table === "string" ? tableInFile(table, new Set(missing)) : tableInMemory(table);
}

/** The error of a column that a table lacks. */
export function unknownColumn({ names }: ModelTable, name: string): TandemError {
  return new TandemError("COLUMN_UNKNOWN", `the table has no column '${name}'${suggestion(name, names)}`);
}

function tableInMemory(table: Table): ModelTable {
  return {
    rowCount: Object.values(table)[0]?.length ?? 0,
    names: Object.keys(table),
    numbers: (name) => numberColumn(table, name),
    categories: (name) => categoryColumn(table, name),
    doubles: (name) => doubleColumn(table, name),
  };
}

/** Cells mean what they mean in a table that is trained on. */
async function tableInFile(path: string, missing: ReadonlySet<string>): Promise<ModelTable> {
  const table = await readTable({ path });
  return {
    rowCount: table.rowCount,
    names: table.names,
    numbers: (name) => numericColumn(table, columnIndex(table, name), missing),
    categories(name) {
      const book = new CategoryBook();
      const values = categoriesInFile(table, columnIndex(table, name), missing, book, name);
      return { values, names: book.namesOf(name) };
    },
    doubles(name) {
      const cells = table.columns[columnIndex(table, name)].map((cell) => cell.trim());
      const isEmpty = (cell: string): boolean => isMissing(cell) || missing.has(cell);
      return doubleColumn({ [name]: cells.map((cell) => (isEmpty(cell) ? null : (parseNumber(cell) ?? cell))) }, name);
    },
  };
}
