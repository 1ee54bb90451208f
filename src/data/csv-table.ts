/**
 * A CSV file as raw text cells, column by column, with the line that every row stands on, so that later checks can name
 * file, line and column. Quoting and separators are papaparse's; what a table may look like is decided here.
 *
 * Line endings and separator (comma, semicolon or tab) are taken from the header line. Blank lines are skipped; every
 * other row must have as many cells as the header. Only the first column may have no name.
 */
import { Readable } from "node:stream";
import Papa from "papaparse";
import { TandemError } from "../base/error.ts";
import { csvText } from "./csv-text.ts";

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
}

/** A quote left open makes the rest of the file one record; refuse before it has all been buffered. */
const recordCharsMax = 1 << 22;

/**
 * Reads a `.csv` or `.csv.gz` file.
 * @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file and, where there is one, the line
 */
export function readCsvTable(path: string): Promise<CsvTable> {
  return readCsvText(path, csvText(path));
}

/** CSV text of any origin; `path` is what messages call it. @throws as readCsvTable does */
export async function readCsvText(path: string, text: AsyncGenerator<string>): Promise<CsvTable> {
  const { head, dialect } = await readHead(text);
  if (head.trim() === "") throw new TandemError("FILE_FORMAT", `${path} is empty`);
  const collector = new RowCollector(path, dialect.newline);
  await parseRows(joined(head, text), dialect, collector);
  return collector.finish();
}

interface Dialect {
  readonly newline: "\n" | "\r\n" | "\r";
  readonly delimiter: string;
}

/** Reads until the header line is complete: its ending and separators fix the dialect of the whole file. */
async function readHead(text: AsyncGenerator<string>): Promise<{ head: string; dialect: Dialect }> {
  let head = "";
  let dialect: Dialect | undefined;
  while (dialect === undefined && head.length <= recordCharsMax) {
    const next = await text.next();
    if (next.done === true) break;
    head += next.value;
    dialect = dialectOf(head);
  }
  // The appended break ends a header that is the whole file.
  return { head, dialect: dialect ?? dialectOf(`${head}\n `) ?? { newline: "\n", delimiter: "," } };
}

/** @returns undefined while the first non-blank line has not ended (one character after a \r decides about \r\n). */
function dialectOf(head: string): Dialect | undefined {
  const counts = new Map([
    [",", 0],
    [";", 0],
    ["\t", 0],
  ]);
  let fieldQuoted = false; // a quote means something only where a cell starts with one
  let quoted = false;
  let fieldStart = true;
  let blank = true;
  for (let i = 0; i + 1 < head.length; i++) {
    const char = head[i];
    if (fieldStart) fieldQuoted = char === '"';
    if (fieldQuoted && char === '"') quoted = !quoted;
    fieldStart = !quoted && (counts.has(char) || char === "\n" || char === "\r");
    if (quoted) continue;
    if ((char === "\n" || char === "\r") && !blank) {
      const newline = char === "\n" ? "\n" : head[i + 1] === "\n" ? "\r\n" : "\r";
      const [delimiter] = [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best));
      return { newline, delimiter };
    }
    if (char.trim() !== "") blank = false;
    const count = counts.get(char);
    if (count !== undefined) counts.set(char, count + 1);
  }
  return undefined;
}

async function* joined(head: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head;
  yield* rest;
}

function parseRows(text: AsyncGenerator<string>, dialect: Dialect, collector: RowCollector): Promise<void> {
  return new Promise((resolve, reject) => {
    let charsRead = 0;
    const source = Readable.from(text);
    source.on("data", (chunk: string) => (charsRead += chunk.length));
    Papa.parse<string[], Readable>(source, {
      ...dialect,
      chunk(results) {
        collector.add(results, charsRead - results.meta.cursor);
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
  #names: string[] | undefined;
  #columns: string[][] = [];
  #lines: number[] = [];
  #line = 1;

  constructor(path: string, newline: string) {
    this.#path = path;
    this.#lineEnd = newline === "\r" ? "\r" : "\n";
  }

  /** @param pendingChars how much text papaparse holds back as an incomplete record */
  add(results: Papa.ParseResult<string[]>, pendingChars: number): void {
    // papaparse also reports quotes of the incomplete last record, which it will parse again with the next chunk.
    const badRows = new Set(results.errors.map((error) => error.row));
    results.data.forEach((cells, index) => {
      if (badRows.has(index)) throw this.#wrongQuote();
      if (cells.length > 1 || cells[0].trim() !== "") this.#addRow(cells);
      for (const cell of cells) this.#line += occurrences(cell, this.#lineEnd);
      this.#line += 1;
    });
    if (pendingChars > recordCharsMax)
      throw this.#error(`a row of over ${recordCharsMax} characters; is a quote (") left open?`);
  }

  #addRow(cells: string[]): void {
    if (this.#names === undefined) {
      this.#names = this.#checkedNames(cells);
      this.#columns = cells.map(() => []);
      return;
    }
    if (cells.length !== this.#names.length) {
      throw this.#error(`has ${countOf(cells.length, "cell")}, but the header has ${this.#names.length}`);
    }
    for (let i = 0; i < cells.length; i++) this.#columns[i].push(cells[i]);
    this.#lines.push(this.#line);
  }

  #checkedNames(cells: string[]): string[] {
    const names = cells.map((cell) => cell.trim());
    const trouble = headerTrouble(names);
    if (trouble !== null) throw this.#error(trouble);
    return names;
  }

  finish(): CsvTable {
    const names = this.#names;
    if (names === undefined) throw new TandemError("FILE_FORMAT", `${this.#path} is empty`);
    if (this.#lines.length === 0) throw new TandemError("FILE_FORMAT", `${this.#path} has a header but no rows`);
    const lines = Uint32Array.from(this.#lines);
    return { path: this.#path, names, columns: this.#columns, rowCount: lines.length, lineOf: (row) => lines[row] };
  }

  #wrongQuote(): TandemError {
    return this.#error('a quote (") is not closed, or is followed by something else than a separator');
  }

  #error(what: string): TandemError {
    return new TandemError("FILE_FORMAT", `${this.#path}, line ${this.#line}: ${what}`);
  }
}

/** @returns what is wrong with the names of a table's columns, or null */
export function headerTrouble(names: readonly string[]): string | null {
  for (const [index, name] of names.entries()) {
    if (name === "" && index > 0) return `column #${index} of the header has no name`;
    const first = names.indexOf(name);
    if (first < index) return `two columns are named '${name}' (#${first} and #${index})`;
  }
  return null;
}

function occurrences(text: string, char: string): number {
  let count = 0;
  for (let at = text.indexOf(char); at !== -1; at = text.indexOf(char, at + 1)) count++;
  return count;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
