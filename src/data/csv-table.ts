/**
 * A CSV file as raw text cells, column by column, with the line that every row stands on, so that later checks can name
 * file, line and column. Quoting and separators are papaparse's; the structure of a table is validated here.
 *
 * Line endings and separator (comma, semicolon or tab) are taken from the header line. Blank lines are skipped; every
 * other row must have as many cells as the header. Only the first column may have no name. limits.ts has the size
 * limits.
 */
import { Readable } from "node:stream";
import Papa from "papaparse";
import { TandemError } from "../base/error.ts";
import { GrowingNumbers } from "../base/growing-numbers.ts";
import { type Dialect, DialectFinder } from "./csv-dialect.ts";
import { csvText } from "./csv-text.ts";
import { headerTrouble, looksLikeRow, noHeaderAdvice } from "./header.ts";
import { looksLikeLibsvm, readLibsvm } from "./libsvm-table.ts";
import type { TableReading } from "./table-reading.ts";
import { memoryTrouble, type TableLimits, tableLimits } from "./limits.ts";
import { type ColumnSink, type CsvTable, handTable, type TableRows, type TableSink, TextSink } from "./table-sink.ts";

export type { CsvTable } from "./table-sink.ts";

/**
 * Reads a `.csv` or `.csv.gz` file.
 * @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file and, where there is one, the line
 */
export function readCsvTable(
  path: string,
  limits: TableLimits = tableLimits,
  reading: TableReading = {},
): Promise<CsvTable> {
  return readCsvText(path, csvText(path, limits), limits, reading);
}

/**
 * Text from any source: CSV, or LIBSVM's format if it is named or recognised; `path` is its name in messages.
 * @throws as readCsvTable does
 */
export async function readCsvText(
  path: string,
  text: AsyncGenerator<string>,
  limits: TableLimits = tableLimits,
  reading: TableReading = {},
): Promise<CsvTable> {
  const sink = new TextSink();
  const rows = await streamCsvText(path, text, sink, limits, reading);
  return { ...rows, columns: sink.columns };
}

/** The same, with cells streamed to a sink. @throws as readCsvTable does, and what `sink` throws */
export async function streamCsvText(
  path: string,
  text: AsyncGenerator<string>,
  sink: TableSink,
  limits: TableLimits = tableLimits,
  { format, header }: TableReading = {},
): Promise<TableRows> {
  const { head, dialect } = await readHead(path, text, limits.rowChars);
  if (head.trim() === "") throw new TandemError("FILE_FORMAT", `${path} is empty`);
  const [firstLine] = head.trimStart().split(dialect.newline, 1);
  if (format === "libsvm" || (format === undefined && looksLikeLibsvm(firstLine)))
    return handTable(await readLibsvm(path, joined(head, text), limits), sink);
  const collector = new RowCollector(path, dialect.newline, sink, limits, header);
  await parseRows(joined(head, text), dialect, collector);
  return collector.finish();
}

/** An unclosed quote makes the rest of the file one row, which is rejected before it is buffered completely. */
const openQuote = '; is a quote (") left open?';

/** Reads until the header line is complete: its ending and separators fix the dialect of the whole file. */
async function readHead(
  path: string,
  text: AsyncGenerator<string>,
  charsMax: number,
): Promise<{ head: string; dialect: Dialect }> {
  const finder = new DialectFinder();
  let head = "";
  for (let next = await text.next(); next.done !== true; next = await text.next()) {
    head += next.value;
    const dialect = finder.add(next.value);
    if (dialect !== undefined) return { head, dialect };
    if (head.length > charsMax) {
      await text.return(undefined);
      throw new TandemError("FILE_FORMAT", `${path}: no header within ${charsMax} characters${openQuote}`);
    }
  }
  // The appended break ends a header that is the whole file.
  return { head, dialect: finder.add("\n ") ?? { newline: "\n", delimiter: "," } };
}

async function* joined(head: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head;
  yield* rest;
}

/**
 * papaparse parses an unfinished row again with every piece of text. So a piece is at least as long as the pending
 * text: then the time of a long row is linear in its length, not quadratic.
 */
async function* inGrowingPieces(text: AsyncGenerator<string>, pendingChars: () => number): AsyncGenerator<string> {
  let piece = "";
  for await (const next of text) {
    piece += next;
    if (piece.length < pendingChars()) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

function parseRows(text: AsyncGenerator<string>, dialect: Dialect, collector: RowCollector): Promise<void> {
  return new Promise((resolve, reject) => {
    let charsRead = 0;
    let pendingChars = 0;
    const source = Readable.from(inGrowingPieces(text, () => pendingChars));
    source.on("data", (chunk: string) => (charsRead += chunk.length));
    Papa.parse<string[], Readable>(source, {
      ...dialect,
      chunk(results) {
        pendingChars = charsRead - results.meta.cursor;
        collector.add(results, pendingChars);
      },
      complete: () => resolve(),
      // Receives the stream's errors and what the chunk callback throws.
      error(error) {
        source.destroy();
        reject(error);
      },
    });
  });
}

class RowCollector {
  readonly #path: string;
  /** The character that ends a line, also inside quoted cells. */
  readonly #lineEnd: string;
  readonly #hasHeader: boolean;
  #names: string[] | undefined;
  readonly #limits: TableLimits;
  readonly #sink: TableSink;
  #sinks: readonly (ColumnSink | null)[] = [];
  /** Of the current piece. */
  #columns: string[][] = [];
  #pieceLines: number[] = [];
  readonly #lines = new GrowingNumbers(Uint32Array);
  #line = 1;
  #blankLines = 0;
  #isDoubtful = false;
  /** The user has said whether the first line is a header. */
  readonly #isSure: boolean;

  /** @param header whether the first line has the names of the columns; undefined: it has, but may look like a row */
  constructor(path: string, newline: string, sink: TableSink, limits: TableLimits, header: boolean | undefined) {
    this.#path = path;
    this.#hasHeader = header ?? true;
    this.#isSure = header !== undefined;
    this.#limits = limits;
    this.#sink = sink;
    this.#lineEnd = newline === "\r" ? "\r" : "\n";
  }

  /** @param pendingChars how much text papaparse holds back as an incomplete record */
  add(results: Papa.ParseResult<string[]>, pendingChars: number): void {
    // papaparse also reports quotes of the incomplete last record, which it will parse again with the next chunk.
    const badRows = new Set(results.errors.map((error) => error.row));
    results.data.forEach((cells, index) => {
      if (badRows.has(index)) throw this.#wrongQuote();
      if (cells.length > 1 || cells[0].trim() !== "") this.#addRow(cells);
      else this.#skipBlank();
      for (const cell of cells) this.#line += occurrences(cell, this.#lineEnd);
      this.#line += 1;
    });
    this.#hand();
    const { rowChars, memoryBytes } = this.#limits;
    if (pendingChars > rowChars) throw this.#error(`a row of over ${rowChars} characters${openQuote}`);
    if (this.#sink.sizeBytes > memoryBytes) throw this.#error(memoryTrouble);
  }

  /** Passes a piece on to the sinks. */
  #hand(): void {
    const lines = this.#pieceLines;
    if (this.#names === undefined || lines.length === 0) return;
    const columns = this.#columns;
    if (this.#lines.length === 0) this.#isDoubtful = !this.#isSure && looksLikeRow(this.#names, columns);
    const rows = { ...this.#head(this.#names), rowCount: lines.length, lineOf: (row: number) => lines[row] };
    const table = { ...rows, columns };
    this.#sinks.forEach((sink, index) => sink?.take({ table, index, numbers: null }));
    for (const line of lines) this.#lines.push(line);
    this.#columns = columns.map(() => []);
    this.#pieceLines = [];
  }

  #head(names: readonly string[]): Pick<TableRows, "path" | "names" | "isHeaderDoubtful"> {
    return { path: this.#path, names, ...(this.#isDoubtful ? { isHeaderDoubtful: true } : {}) };
  }

  get #rowCount(): number {
    return this.#lines.length + this.#pieceLines.length;
  }

  #skipBlank(): void {
    this.#blankLines++;
    if (this.#blankLines > this.#limits.blankLines + this.#rowCount)
      throw this.#error(`there are over ${this.#blankLines - 1} blank lines. Remove them`);
  }

  #addRow(cells: string[]): void {
    if (this.#names === undefined) {
      this.#names = this.#checkedNames(this.#hasHeader ? cells : cells.map((_, i) => `f${i}`));
      this.#columns = cells.map(() => []);
      this.#sinks = this.#sink.begin({ path: this.#path, names: this.#names });
      if (this.#hasHeader) return;
    }
    if (cells.length !== this.#names.length) {
      const first = this.#hasHeader ? "header" : "first row";
      throw this.#error(`has ${countOf(cells.length, "cell")}, but the ${first} has ${this.#names.length}`);
    }
    if (this.#rowCount === this.#limits.rows) throw this.#error(`there are over ${this.#limits.rows} rows`);
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (cell.length > this.#limits.cellChars) throw this.#longCell(i);
      // All cells of the first rows are checked, to detect a missing header.
      if (this.#sinks[i] !== null || this.#lines.length === 0) this.#columns[i].push(cell);
    }
    this.#pieceLines.push(this.#line);
  }

  #checkedNames(cells: string[]): string[] {
    const { columns, cellChars } = this.#limits;
    if (cells.length > columns) throw this.#error(`the header has over ${columns} columns`);
    const long = cells.findIndex((cell) => cell.length > cellChars);
    if (long !== -1) throw this.#longCell(long);
    const names = cells.map((cell) => cell.trim());
    const trouble = headerTrouble(names);
    if (trouble !== null) throw this.#error(`${trouble}. ${noHeaderAdvice}`);
    return names;
  }

  finish(): TableRows {
    const names = this.#names;
    if (names === undefined) throw new TandemError("FILE_FORMAT", `${this.#path} is empty`);
    if (this.#lines.length === 0 && this.#sink.mayBeEmpty !== true)
      throw new TandemError("FILE_FORMAT", `${this.#path} has a header but no rows`);
    const lines = this.#lines.finish();
    return { ...this.#head(names), rowCount: lines.length, lineOf: (row) => lines[row] };
  }

  #longCell(column: number): TandemError {
    return this.#error(`the cell of column #${column} has over ${this.#limits.cellChars} characters`);
  }

  #wrongQuote(): TandemError {
    return this.#error('a quote (") is not closed, or is followed by something else than a separator');
  }

  #error(what: string): TandemError {
    return new TandemError("FILE_FORMAT", `${this.#path}, line ${this.#line}: ${what}`);
  }
}

function occurrences(text: string, char: string): number {
  let count = 0;
  for (let at = text.indexOf(char); at !== -1; at = text.indexOf(char, at + 1)) count++;
  return count;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
