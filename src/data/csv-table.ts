/**
 * A CSV file as cells, column by column, with the line that every row stands on, so that later checks can name file,
 * line and column. csv-rows.ts finds the cells; the structure of a table is validated here.
 *
 * Line endings and separator (comma, semicolon or tab) are taken from the header line. Blank lines are skipped; every
 * other row must have as many cells as the header. Only the first column may have no name. limits.ts has the size
 * limits.
 */
import { TandemError } from "../base/error.ts";
import { GrowingNumbers } from "../base/growing-numbers.ts";
import { CellBlock } from "./cell-block.ts";
import { type Dialect, DialectFinder } from "./csv-dialect.ts";
import { newlines, rowScanner, scan, scanEnd, type ScanRows, scanSize } from "./csv-rows.ts";
import { csvBytes } from "./csv-text.ts";
import { headerTrouble, looksLikeRow, noHeaderAdvice, rowsCompared } from "./header.ts";
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
  return readCsvText(path, csvBytes(path, limits), limits, reading);
}

/**
 * Text from any source: CSV, or LIBSVM's format if it is named or recognised; `path` is its name in messages.
 * @param text UTF-8 in pieces of whole characters
 * @throws as readCsvTable does
 */
export async function readCsvText(
  path: string,
  text: AsyncGenerator<Buffer>,
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
  text: AsyncGenerator<Buffer>,
  sink: TableSink,
  limits: TableLimits = tableLimits,
  { format, header }: TableReading = {},
  scanner: ScanRows = rowScanner(),
): Promise<TableRows> {
  const { head, dialect } = await readHead(path, text, limits.rowChars);
  const headText = head.toString().trimStart();
  if (headText === "") throw new TandemError("FILE_FORMAT", `${path} is empty`);
  const [firstLine] = headText.split(dialect.newline, 1);
  if (format === "libsvm" || (format === undefined && looksLikeLibsvm(firstLine)))
    return handTable(await readLibsvm(path, decoded(head, text), limits), sink);
  const collector = new RowCollector(path, dialect, { sink, limits, header, scanner });
  collector.add(head);
  for await (const piece of text) collector.add(piece);
  return collector.finish();
}

/** An unclosed quote makes the rest of the file one row, which is rejected before it is buffered completely. */
const openQuote = '; is a quote (") left open?';

/** Reads until the header line is complete: its ending and separators fix the dialect of the whole file. */
async function readHead(
  path: string,
  text: AsyncGenerator<Buffer>,
  charsMax: number,
): Promise<{ head: Buffer; dialect: Dialect }> {
  const finder = new DialectFinder();
  const pieces: Buffer[] = [];
  let charCount = 0;
  for (let next = await text.next(); next.done !== true; next = await text.next()) {
    pieces.push(next.value);
    const piece = next.value.toString();
    charCount += piece.length;
    const dialect = finder.add(piece);
    if (dialect !== undefined) return { head: Buffer.concat(pieces), dialect };
    if (charCount > charsMax) {
      await text.return(undefined);
      throw new TandemError("FILE_FORMAT", `${path}: no header within ${charsMax} characters${openQuote}`);
    }
  }
  // The appended break ends a header that is the whole file.
  return { head: Buffer.concat(pieces), dialect: finder.add("\n ") ?? { newline: "\n", delimiter: "," } };
}

async function* decoded(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<string> {
  yield head.toString();
  for await (const piece of rest) yield piece.toString();
}

/** Cells that are read at a time, unless a few rows have more. */
const cellsAtATime = 1 << 18;
/** Fits a word, and no table has as many lines. */
const countMax = 2 ** 31;

interface CollectorOptions {
  readonly sink: TableSink;
  readonly limits: TableLimits;
  /** Whether the first line has the names of the columns; undefined: it has, but may look like a row. */
  readonly header: boolean | undefined;
  readonly scanner: ScanRows;
}

class RowCollector {
  readonly #path: string;
  readonly #options: CollectorOptions;
  readonly #hasHeader: boolean;
  readonly #state = new Uint32Array(scanSize);
  /** Text that has not become rows: the same memory for the whole file. */
  #text: Buffer = Buffer.alloc(0);
  #byteCount = 0;
  /** Of a row that had not ended when it was last read. */
  #pendingBytes = 0;
  #names: readonly string[] | undefined;
  #sinks: readonly (ColumnSink | null)[] = [];
  /** Of the rows that are being read. */
  #cells = new Uint32Array(2);
  #pieceLines = new Uint32Array(1);
  readonly #lines = new GrowingNumbers(Uint32Array);
  #isDoubtful = false;

  constructor(path: string, { newline, delimiter }: Dialect, options: CollectorOptions) {
    this.#path = path;
    this.#options = options;
    this.#hasHeader = options.header ?? true;
    const { cellChars, rows, blankLines } = options.limits;
    this.#state[scan.newline] = newlines.indexOf(newline);
    this.#state[scan.delimiter] = delimiter.charCodeAt(0);
    this.#state[scan.cellCharsMax] = cellChars;
    this.#state[scan.rowsLeft] = Math.min(countMax, rows);
    this.#state[scan.blankLinesLeft] = Math.min(countMax, blankLines);
    this.#state[scan.line] = 1;
  }

  /**
   * An unfinished row is read again with every piece of text. So there is at least as much new text as there was of
   * that row: then the time of a long row is linear in its length, not quadratic.
   */
  add(piece: Buffer): void {
    this.#append(piece);
    if (this.#byteCount >= 2 * this.#pendingBytes) this.#read(false);
  }

  #append(piece: Buffer): void {
    const byteCount = this.#byteCount + piece.length;
    if (byteCount > this.#text.length) {
      const larger = Buffer.allocUnsafe(2 * byteCount);
      this.#text.copy(larger, 0, 0, this.#byteCount);
      this.#text = larger;
    }
    piece.copy(this.#text, this.#byteCount);
    this.#byteCount = byteCount;
  }

  #read(isLast: boolean): void {
    const state = this.#state;
    const bytes = this.#text.subarray(0, this.#byteCount);
    state[scan.first] = 0;
    state[scan.end] = bytes.length;
    state[scan.isLast] = isLast ? 1 : 0;
    if (this.#names !== undefined || this.#begin(bytes)) this.#addRows(bytes, this.#names ?? []);
    const pending = bytes.subarray(state[scan.first]);
    const { rowChars, memoryBytes } = this.#options.limits;
    if (pending.length > rowChars && pending.toString().length > rowChars)
      throw this.#error(`a row of over ${rowChars} characters${openQuote}`);
    if (this.#options.sink.sizeBytes > memoryBytes) throw this.#error(memoryTrouble);
    pending.copy(bytes);
    this.#byteCount = pending.length;
    this.#pendingBytes = pending.length;
  }

  /** @returns false if the first row has not ended */
  #begin(bytes: Buffer): boolean {
    const state = this.#state;
    const end = this.#scan(bytes);
    if (end === scanEnd.text) return false;
    if (end !== scanEnd.cellCount) throw this.#trouble(end);
    const columnCount = state[scan.detail];
    const { columns } = this.#options.limits;
    if (columnCount > columns) throw this.#error(`the header has over ${columns} columns`);
    state[scan.columnCount] = columnCount;
    const rowCount = Math.max(rowsCompared, Math.floor(cellsAtATime / columnCount));
    this.#cells = new Uint32Array(2 * columnCount * rowCount);
    const names = this.#hasHeader
      ? this.#headerNames(bytes, columnCount)
      : Array.from({ length: columnCount }, (_, i) => `f${i}`);
    this.#pieceLines = new Uint32Array(rowCount);
    this.#sinks = this.#options.sink.begin({ path: this.#path, names });
    this.#names = names;
    return true;
  }

  #headerNames(bytes: Buffer, columnCount: number): string[] {
    const state = this.#state;
    const { line, rowsLeft, blankLinesLeft } = scan;
    const before = { line: state[line], rowsLeft: state[rowsLeft], blankLinesLeft: state[blankLinesLeft] };
    state[rowsLeft] = 1;
    const end = this.#scan(bytes);
    if (state[scan.rowCount] !== 1) throw this.#trouble(end);
    const block = new CellBlock(bytes, this.#cells, 1, columnCount);
    const names = Array.from({ length: columnCount }, (_, column) => block.texts(column)[0].trim());
    const trouble = headerTrouble(names);
    if (trouble !== null) throw this.#error(`${trouble}. ${noHeaderAdvice}`, before.line);
    // It is no row.
    state[rowsLeft] = before.rowsLeft;
    state[blankLinesLeft] = before.blankLinesLeft;
    return names;
  }

  #addRows(bytes: Buffer, names: readonly string[]): void {
    for (;;) {
      const end = this.#scan(bytes);
      if (end !== scanEnd.text && end !== scanEnd.room) throw this.#trouble(end);
      if (this.#state[scan.rowCount] > 0) this.#hand(bytes, names);
      if (end === scanEnd.text) return;
    }
  }

  /** Passes rows on to the sinks. */
  #hand(bytes: Buffer, names: readonly string[]): void {
    const rowCount = this.#state[scan.rowCount];
    const block = new CellBlock(bytes, this.#cells, rowCount, names.length);
    const isFirst = this.#lines.length === 0;
    if (isFirst && this.#options.header === undefined) {
      const compared = Math.min(rowCount, rowsCompared);
      this.#isDoubtful = looksLikeRow(
        names,
        names.map((_, column) => block.texts(column, compared)),
      );
    }
    const lines = this.#pieceLines;
    const rows = { ...this.#head(names), rowCount, lineOf: (row: number) => lines[row] };
    this.#sinks.forEach((sink, index) => sink?.take(block.piece(rows, index)));
    this.#lines.append(lines.subarray(0, rowCount));
  }

  #scan(bytes: Buffer): number {
    return this.#options.scanner(bytes, this.#state, this.#cells, this.#pieceLines);
  }

  #head(names: readonly string[]): Pick<TableRows, "path" | "names" | "isHeaderDoubtful"> {
    return { path: this.#path, names, ...(this.#isDoubtful ? { isHeaderDoubtful: true } : {}) };
  }

  finish(): TableRows {
    if (this.#byteCount > this.#pendingBytes) this.#read(false);
    this.#read(true);
    const names = this.#names;
    if (names === undefined) throw new TandemError("FILE_FORMAT", `${this.#path} is empty`);
    if (this.#lines.length === 0 && this.#options.sink.mayBeEmpty !== true)
      throw new TandemError("FILE_FORMAT", `${this.#path} has a header but no rows`);
    const lines = this.#lines.finish();
    return { ...this.#head(names), rowCount: lines.length, lineOf: (row) => lines[row] };
  }

  /** About the row that a scan has ended at. */
  #trouble(end: number): TandemError {
    const { rows, cellChars, blankLines } = this.#options.limits;
    const detail = this.#state[scan.detail];
    if (end === scanEnd.quote)
      return this.#error('a quote (") is not closed, or is followed by something else than a separator');
    if (end === scanEnd.rowCount) return this.#error(`there are over ${rows} rows`);
    if (end === scanEnd.longCell) return this.#error(`the cell of column #${detail} has over ${cellChars} characters`);
    if (end === scanEnd.blankLines) {
      const rowCount = this.#lines.length + this.#state[scan.rowCount];
      return this.#error(`there are over ${blankLines + rowCount} blank lines. Remove them`);
    }
    const first = this.#hasHeader ? "header" : "first row";
    return this.#error(`has ${countOf(detail, "cell")}, but the ${first} has ${this.#names?.length ?? 0}`);
  }

  #error(what: string, line = this.#state[scan.line]): TandemError {
    return new TandemError("FILE_FORMAT", `${this.#path}, line ${line}: ${what}`);
  }
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
