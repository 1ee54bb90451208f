/**
 * Receives a table's cells as they are read, column by column and piece by piece. Pieces are not retained, so a large
 * table is never in memory as text.
 */
import type { CellColumn } from "../base/text/cell-column.ts";
import { CellMemory } from "./limits.ts";

/** What is known of a table besides its cells. */
export interface TableRows {
  /** As the user gave it, for messages. */
  readonly path: string;
  readonly names: readonly string[];
  readonly rowCount: number;
  /** The 1-based line of the file on which a row (0-based, header not counted) starts. */
  lineOf(row: number): number;
  /** What lineOf counts, for messages: "line", unless the file has no lines. */
  readonly lineNoun?: "row";
  /** The file that a row stands in, where the table has several; then lineOf counts within it. */
  readonly partOf?: (row: number) => string;
  /** Names of columns that are features only if named explicitly. Left out: none. */
  readonly aside?: readonly string[];
  /** CSV: the first line was taken for names, though it looks like a row. */
  readonly isHeaderDoubtful?: boolean;
}

/** A table as raw text cells. */
export interface CsvTable extends TableRows {
  /** Per column, per row: the cell's text, unquoted but otherwise untouched. */
  readonly columns: readonly (readonly string[])[];
  /** A column's cells as bytes, where they are kept so. */
  readonly cellsOf?: (index: number) => CellColumn;
}

/** The next cells of one column. */
export interface ColumnPiece {
  /** These rows alone, as a table; of its columns only the one at `index` need have cells. */
  readonly table: CsvTable;
  readonly index: number;
  /** The same cells where each is a number or empty (NaN); null if they must be read as text. */
  readonly numbers: Float64Array | null;
  /** The same cells as bytes, where they have not been decoded yet. Valid until `take` returns. */
  readonly cells?: CellColumn;
}

export interface ColumnSink {
  take(piece: ColumnPiece): void;
}

export interface TableSink {
  /**
   * Before all cells.
   * @returns per column its sink; null: the column is not needed
   * @throws TandemError if the table does not have what is wanted
   */
  begin(table: Pick<TableRows, "path" | "names" | "aside">): readonly (ColumnSink | null)[];
  /** A table without rows is refused unless it may be so, as one of several. */
  readonly mayBeEmpty?: boolean;
  /** What it keeps per row and what it keeps now, in bytes, at the least. */
  readonly rowBytes: number;
  readonly sizeBytes: number;
}

/** Keeps all of a table as text. */
export class TextSink implements TableSink {
  readonly #memory = new CellMemory();
  columns: string[][] = [];

  begin({ names }: Pick<TableRows, "names">): readonly ColumnSink[] {
    this.columns = names.map(() => []);
    return this.columns.map((column) => ({
      take: ({ table, index }) => {
        for (const cell of table.columns[index]) {
          column.push(cell);
          this.#memory.add(cell);
        }
      },
    }));
  }

  get rowBytes(): number {
    return CellMemory.bytesMin * this.columns.length;
  }

  get sizeBytes(): number {
    return this.#memory.bytes;
  }
}

/** A piece of numbers; their text is computed on demand. */
export function numberPiece(rows: TableRows, index: number, numbers: Float64Array): ColumnPiece {
  let columns: string[][] | null = null;
  const table: CsvTable = {
    ...rows,
    get columns() {
      if (columns === null) {
        columns = [];
        columns[index] = Array.from(numbers, (value) => (Number.isNaN(value) ? "" : String(value)));
      }
      return columns;
    },
  };
  return { table, index, numbers };
}

export function textPiece(rows: TableRows, index: number, cells: readonly string[]): ColumnPiece {
  const columns: (readonly string[])[] = [];
  columns[index] = cells;
  return { table: { ...rows, columns }, index, numbers: null };
}

/** Passes on a table that was read as a whole. */
export function handTable(table: CsvTable, sink: TableSink): TableRows {
  sink.begin(table).forEach((column, index) => column?.take({ table, index, numbers: null }));
  const { columns: _, ...rows } = table;
  return rows;
}
