/** Converts rows of a database into the columns that a sink needs. */
import { TandemError } from "../../base/error.ts";
import { headerTrouble } from "../header.ts";
import { memoryTrouble, type TableLimits, tableLimits } from "../limits.ts";
import { type ColumnSink, type TableRows, type TableSink, textPiece } from "../table-sink.ts";

/** Null is a cell without a value. */
export type TextRow = readonly (string | null)[];

const batchRowsMax = 10_000;
const batchChars = 1 << 22;

/** After these rows, as many more as make a batch of some megabytes. */
export function nextRowCount(rows: readonly TextRow[]): number {
  const chars = rows.reduce((sum, row) => row.reduce((all, cell) => all + (cell?.length ?? 0), sum), 0);
  return Math.max(1, Math.min(batchRowsMax, Math.floor((batchChars * rows.length) / (chars + 1))));
}

export class RowBatches {
  readonly #title: string;
  readonly #sink: TableSink;
  readonly #limits: TableLimits;
  #names: readonly string[] = [];
  #sinks: readonly (ColumnSink | null)[] = [];
  #rowCount = 0;

  /** @param title the query's name in messages */
  constructor(title: string, sink: TableSink, limits: TableLimits = tableLimits) {
    this.#title = title;
    this.#sink = sink;
    this.#limits = limits;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Once, before all rows. @throws TandemError FILE_FORMAT, and what the sink throws */
  begin(names: readonly string[]): void {
    const { columns } = this.#limits;
    if (names.length > columns) throw this.#refused(`: it has over ${columns} columns`);
    const trouble = names.length === 0 ? "it gives no columns: it must be a SELECT" : headerTrouble(names);
    if (trouble !== null) throw this.#refused(`: ${trouble}`);
    this.#names = names;
    this.#sinks = this.#sink.begin({ path: this.#title, names });
  }

  /** @param cellOf the text of a cell, empty where it is null. @throws TandemError FILE_FORMAT */
  add(rowCount: number, cellOf: (row: number, column: number) => string): void {
    const first = this.#rowCount;
    const { rows: rowsMax, cellChars, memoryBytes } = this.#limits;
    if (first + rowCount > rowsMax) throw this.#refused(`: it gives over ${rowsMax} rows`);
    const rows = this.#rows(rowCount, first);
    this.#sinks.forEach((sink, column) => {
      const cells = Array.from({ length: sink === null ? 0 : rowCount }, (_, row) => cellOf(row, column));
      const long = cells.findIndex((cell) => cell.length > cellChars);
      if (long !== -1)
        throw this.#refused(
          `, row ${first + long + 1}: the cell of column #${column} has over ${cellChars} characters`,
        );
      sink?.take(textPiece(rows, column, cells));
    });
    this.#rowCount += rowCount;
    if (this.#sink.sizeBytes > memoryBytes) throw this.#refused(`: ${memoryTrouble}`);
  }

  /** @throws TandemError FILE_FORMAT if there was no row */
  finish(): TableRows {
    if (this.#rowCount === 0) throw this.#refused(" gives no rows");
    return this.rows;
  }

  /** So far, be there any or none. */
  get rows(): TableRows {
    return this.#rows(this.#rowCount, 0);
  }

  #rows(rowCount: number, first: number): TableRows {
    const lineOf = (row: number): number => first + row + 1;
    return { path: this.#title, names: this.#names, rowCount, lineOf, lineNoun: "row" };
  }

  #refused(what: string): TandemError {
    return new TandemError("FILE_FORMAT", `${this.#title}${what}`);
  }
}
