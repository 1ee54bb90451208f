/**
 * Finds the cells of CSV text, row by row (RFC 4180): where each stands, not what it says. native/data/csv-rows.h has
 * the same in C++; this is its oracle, and takes its place where it is not built.
 *
 * A cell that begins with a quote ends with one, may have separators and line ends in it, and quotes that stand
 * doubled; only white space may follow it. Elsewhere a quote is text. A row of one blank cell is a blank line.
 */
import { plainAddon } from "../base/plain-addon.ts";

/** Places in the state of a scan. */
export const scan = {
  /** The next byte to read; afterwards that of the first row that was not read. */
  first: 0,
  end: 1,
  /** 1: no more text follows. */
  isLast: 2,
  /** A byte. */
  delimiter: 3,
  /** An index of `newlines`. */
  newline: 4,
  /** 0: not known yet; then the first row that is not blank has the wrong number of cells. */
  columnCount: 5,
  cellCharsMax: 6,
  rowsLeft: 7,
  blankLinesLeft: 8,
  /** Of `first`. */
  line: 9,
  /** Written: the rows that were read, and the number of cells or the column that is wrong in the next one. */
  rowCount: 10,
  detail: 11,
} as const;
export const scanSize = 12;

export const newlines = ["\n", "\r\n", "\r"] as const;

/** Why a scan ended. */
export const scanEnd = {
  /** There is no further whole row. */
  text: 0,
  /** There is no place for another row. */
  room: 1,
  /** A quote is not closed, or followed by something else than a separator. */
  quote: 2,
  cellCount: 3,
  rowCount: 4,
  longCell: 5,
  blankLines: 6,
} as const;
type ScanEnd = (typeof scanEnd)[keyof typeof scanEnd];

/** The highest bit of a cell's length: quotes stand doubled in it. */
export const doubledQuotes = 0x8000_0000;

/**
 * @param bytes UTF-8 text that ends with a whole character
 * @param cells receives start and length of each cell, row by row
 * @param lines receives the line of each row; no more rows are read than fit
 */
export type ScanRows = (bytes: Buffer, state: Uint32Array, cells: Uint32Array, lines: Uint32Array) => number;

/** The fastest one there is. */
export function rowScanner(): ScanRows {
  return plainAddon()?.csvRows ?? scanRows;
}

export const scanRows: ScanRows = (bytes, state, cells, lines) => new Scan(bytes, state, cells, lines).rows();

const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

type CellEnd = "delimiter" | "row" | "more" | "quote";

class Scan {
  readonly #bytes: Buffer;
  readonly #state: Uint32Array;
  readonly #cells: Uint32Array;
  readonly #lines: Uint32Array;
  readonly #end: number;
  readonly #isLast: boolean;
  readonly #delimiter: number;
  readonly #isTwoBytes: boolean;
  /** The first byte of a line end. */
  readonly #newline: number;
  #at = 0;
  /** Of the last cell. */
  #start = 0;
  #length = 0;

  constructor(bytes: Buffer, state: Uint32Array, cells: Uint32Array, lines: Uint32Array) {
    this.#bytes = bytes;
    this.#state = state;
    this.#cells = cells;
    this.#lines = lines;
    this.#end = state[scan.end];
    this.#isLast = state[scan.isLast] === 1;
    this.#delimiter = state[scan.delimiter];
    const newline = newlines[state[scan.newline]];
    this.#isTwoBytes = newline.length === 2;
    this.#newline = newline.charCodeAt(0);
  }

  rows(): ScanEnd {
    const state = this.#state;
    state[scan.rowCount] = 0;
    while (state[scan.first] < this.#end) {
      if (state[scan.rowCount] === this.#lines.length) return scanEnd.room;
      const end = this.#row();
      if (end !== scanEnd.room) return end;
    }
    return scanEnd.text;
  }

  #row(): ScanEnd {
    const cells = this.#cells;
    const columnCount = this.#state[scan.columnCount];
    const row = 2 * this.#state[scan.rowCount] * columnCount;
    let count = 0;
    this.#at = this.#state[scan.first];
    for (let end: CellEnd = "delimiter"; end === "delimiter"; count++) {
      end = this.#at < this.#end && this.#bytes[this.#at] === quote ? this.#quotedCell() : this.#plainCell();
      if (end === "more") return scanEnd.text;
      if (end === "quote") return scanEnd.quote;
      // One is kept even where the number of columns is not known yet: it may be a blank line.
      if (count >= Math.max(columnCount, 1)) continue;
      cells[row + 2 * count] = this.#start;
      cells[row + 2 * count + 1] = this.#length;
    }
    return this.#take(row, count);
  }

  #take(row: number, count: number): ScanEnd {
    const state = this.#state;
    const columnCount = state[scan.columnCount];
    let lines = 1;
    for (let i = 0; i < Math.min(count, Math.max(columnCount, 1)); i++) lines += this.#linesIn(row + 2 * i);
    if (count === 1 && this.#text(row).trim() === "") {
      if (state[scan.blankLinesLeft] === 0) return scanEnd.blankLines;
      state[scan.blankLinesLeft]--;
    } else {
      state[scan.detail] = count;
      if (count !== columnCount) return scanEnd.cellCount;
      if (state[scan.rowsLeft] === 0) return scanEnd.rowCount;
      for (let i = 0; i < count; i++) {
        state[scan.detail] = i;
        if (this.#isLong(row + 2 * i)) return scanEnd.longCell;
      }
      this.#lines[state[scan.rowCount]++] = state[scan.line];
      state[scan.rowsLeft]--;
      state[scan.blankLinesLeft]++;
    }
    state[scan.line] += lines;
    state[scan.first] = this.#at;
    return scanEnd.room;
  }

  #plainCell(): CellEnd {
    const bytes = this.#bytes;
    this.#start = this.#at;
    for (; ; this.#at++) {
      while (this.#at < this.#end && bytes[this.#at] !== this.#delimiter && bytes[this.#at] !== this.#newline)
        this.#at++;
      this.#length = this.#at - this.#start;
      if (this.#at === this.#end) return this.#isLast ? "row" : "more";
      if (bytes[this.#at] === this.#delimiter) return this.#past(1, "delimiter");
      if (!this.#isTwoBytes) return this.#past(1, "row");
      if (this.#at + 1 === this.#end && !this.#isLast) return "more";
      if (this.#at + 1 < this.#end && bytes[this.#at + 1] === lineFeed) return this.#past(2, "row");
    }
  }

  #quotedCell(): CellEnd {
    this.#start = this.#at + 1;
    let doubled = 0;
    for (this.#at = this.#start; ; this.#at += 2) {
      const found = this.#bytes.indexOf(quote, this.#at);
      if (found === -1 || found >= this.#end) return this.#isLast ? "quote" : "more";
      this.#at = found;
      if (found + 1 === this.#end || this.#bytes[found + 1] !== quote) break;
      doubled = doubledQuotes;
    }
    this.#length = this.#at - this.#start + doubled;
    this.#at++;
    if (this.#at === this.#end) return this.#isLast ? "row" : "more";
    return this.#afterQuote();
  }

  #afterQuote(): CellEnd {
    const bytes = this.#bytes;
    while (this.#at < this.#end) {
      if (bytes[this.#at] === this.#delimiter) return this.#past(1, "delimiter");
      if (bytes[this.#at] === this.#newline) {
        if (!this.#isTwoBytes) return this.#past(1, "row");
        if (this.#at + 1 < this.#end && bytes[this.#at + 1] === lineFeed) return this.#past(2, "row");
      }
      const length = characterBytes(bytes[this.#at]);
      if (bytes.toString("utf8", this.#at, this.#at + length).trim() !== "") return "quote";
      this.#at += length;
    }
    return this.#isLast ? "quote" : "more";
  }

  #past(bytes: number, end: CellEnd): CellEnd {
    this.#at += bytes;
    return end;
  }

  #linesIn(cell: number): number {
    const lineEnd = this.#newline === carriageReturn && !this.#isTwoBytes ? carriageReturn : lineFeed;
    const start = this.#cells[cell];
    const end = start + (this.#cells[cell + 1] & ~doubledQuotes);
    let count = 0;
    for (let at = start; at < end; at++) if (this.#bytes[at] === lineEnd) count++;
    return count;
  }

  /** More bytes than the limit has characters: counts them. */
  #isLong(cell: number): boolean {
    const charsMax = this.#state[scan.cellCharsMax];
    return this.#cells[cell + 1] > charsMax && this.#text(cell).length > charsMax;
  }

  #text(cell: number): string {
    return cellText(this.#bytes, this.#cells[cell], this.#cells[cell + 1]);
  }
}

/** How many bytes a character of UTF-8 has, by its first one. */
export function characterBytes(first: number): number {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** @param length with the bit for doubled quotes */
export function cellText(bytes: Buffer, start: number, length: number): string {
  const text = bytes.toString("utf8", start, start + (length & ~doubledQuotes));
  return length >= doubledQuotes ? text.replaceAll('""', '"') : text;
}
