/**
 * A CSV file as raw text cells, column by column, with the line that every row stands on, so that later checks can name
 * file, line and column. Quoting and separators are papaparse's; what a table may look like is decided here.
 *
 * Line endings and separator (comma, semicolon or tab) are taken from the header line. Blank lines are skipped; every
 * other row must have as many cells as the header. Only the first column may have no name. limits.ts says how large all
 * of it may be.
 */
import { Readable } from "node:stream";
import Papa from "papaparse";
import { TandemError } from "../base/error.ts";
import { type Dialect, DialectFinder } from "./csv-dialect.ts";
import { csvText } from "./csv-text.ts";
import { headerTrouble, looksLikeRow, noHeaderAdvice } from "./header.ts";
import { looksLikeLibsvm, readLibsvm } from "./libsvm-table.ts";
import type { TableReading } from "./table-reading.ts";
import { CellMemory, memoryTrouble, type TableLimits, tableLimits } from "./limits.ts";

export interface CsvTable {
  /** As the user gave it, for messages. */
  readonly path: string;
  readonly names: readonly string[];
  /** Per column, per row: the cell's text, unquoted but otherwise untouched. */
  readonly columns: readonly (readonly string[])[];
  readonly rowCount: number;
  /** The 1-based line of the file on which a row (0-based, header not counted) starts. */
  lineOf(row: number): number;
  /** What lineOf counts, for messages: "line", unless the file has no lines. */
  readonly lineNoun?: "row";
  /** Names of columns that are no features unless somebody names them. Left out: none. */
  readonly aside?: readonly string[];
  /** CSV: the first line was taken for names, though it looks like a row. */
  readonly isHeaderDoubtful?: boolean;
}

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
 * Text of any origin: CSV, or LIBSVM's format if it is named, or can be recognised; `path` is what messages call it.
 * @throws as readCsvTable does
 */
export async function readCsvText(
  path: string,
  text: AsyncGenerator<string>,
  limits: TableLimits = tableLimits,
  { format, header = true }: TableReading = {},
): Promise<CsvTable> {
  const { head, dialect } = await readHead(path, text, limits.rowChars);
  if (head.trim() === "") throw new TandemError("FILE_FORMAT", `${path} is empty`);
  const [firstLine] = head.trimStart().split(dialect.newline, 1);
  if (format === "libsvm" || (format === undefined && looksLikeLibsvm(firstLine)))
    return readLibsvm(path, joined(head, text), limits);
  const collector = new RowCollector(path, dialect.newline, limits, header);
  await parseRows(joined(head, text), dialect, collector);
  return collector.finish();
}

/** A quote left open makes the rest of the file one row, which is refused before it has all been buffered. */
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
 * papaparse begins an unfinished row again with every piece of text. So a piece is at least as long as what it holds
 * back: then a long row takes time by its length, and not by the square of it.
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
  readonly #memory: CellMemory;
  #columns: string[][] = [];
  #lines: number[] = [];
  #line = 1;
  #blankLines = 0;

  /** @param hasHeader whether the first line has the names of the columns */
  constructor(path: string, newline: string, limits: TableLimits, hasHeader: boolean) {
    this.#path = path;
    this.#hasHeader = hasHeader;
    this.#limits = limits;
    this.#memory = new CellMemory(limits.memoryBytes);
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
    const { rowChars } = this.#limits;
    if (pendingChars > rowChars) throw this.#error(`a row of over ${rowChars} characters${openQuote}`);
    if (this.#memory.isFull) throw this.#error(memoryTrouble);
  }

  #skipBlank(): void {
    this.#blankLines++;
    if (this.#blankLines > this.#limits.blankLines + this.#lines.length)
      throw this.#error(`there are over ${this.#blankLines - 1} blank lines. Remove them`);
  }

  #addRow(cells: string[]): void {
    if (this.#names === undefined) {
      this.#names = this.#checkedNames(this.#hasHeader ? cells : cells.map((_, i) => `f${i}`));
      this.#columns = cells.map(() => []);
      if (this.#hasHeader) return;
    }
    if (cells.length !== this.#names.length) {
      const first = this.#hasHeader ? "header" : "first row";
      throw this.#error(`has ${countOf(cells.length, "cell")}, but the ${first} has ${this.#names.length}`);
    }
    if (this.#lines.length === this.#limits.rows) throw this.#error(`there are over ${this.#limits.rows} rows`);
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (cell.length > this.#limits.cellChars) throw this.#longCell(i);
      this.#columns[i].push(cell);
      this.#memory.add(cell);
    }
    this.#lines.push(this.#line);
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

  finish(): CsvTable {
    const names = this.#names;
    if (names === undefined) throw new TandemError("FILE_FORMAT", `${this.#path} is empty`);
    if (this.#lines.length === 0) throw new TandemError("FILE_FORMAT", `${this.#path} has a header but no rows`);
    const lines = Uint32Array.from(this.#lines);
    return {
      path: this.#path,
      names,
      columns: this.#columns,
      rowCount: lines.length,
      lineOf: (row) => lines[row],
      ...(this.#hasHeader && looksLikeRow(names, this.#columns) ? { isHeaderDoubtful: true } : {}),
    };
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
