/**
 * Tables in LIBSVM's text format, which XGBoost reads too (svmlight's with `qid:` is the same):
 *
 *   <label>[:<weight>] [qid:<query>] <index>:<value> <index>:<value> ...   # a comment
 *
 * Columns are `row` (the number of the row, from 1), `label`, `weight` and `qid` where a line has one, and `f0`, `f1`,
 * ... by the indices as they stand, as XGBoost names them. What a line does not mention is missing, as in XGBoost.
 */
import { TandemError } from "../base/error.ts";
import type { CsvTable } from "./csv-table.ts";
import { CellMemory, memoryTrouble, type TableLimits, tableLimits } from "./limits.ts";

const numberText = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
const lineSyntax = new RegExp(
  String.raw`^\s*${numberText}(?::${numberText})?(?:\s+qid:\d+)?(?:\s+\d+:\S+)+\s*(?:#.*)?$`,
);

/** Whether a file's first line is a row of this format, and hardly CSV. */
export function looksLikeLibsvm(line: string): boolean {
  return lineSyntax.test(line);
}

/** @throws TandemError FILE_FORMAT naming file and line */
export async function readLibsvm(
  path: string,
  text: AsyncIterable<string>,
  limits: TableLimits = tableLimits,
): Promise<CsvTable> {
  const rows = new SparseRows(path, limits);
  let rest = "";
  for await (const piece of text) {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    lines.forEach((line) => rows.add(line));
    if (rest.length > limits.rowChars) throw rows.error(`a line of over ${limits.rowChars} characters`);
  }
  if (rest !== "") rows.add(rest);
  return rows.finish();
}

class SparseRows {
  readonly #path: string;
  readonly #limits: TableLimits;
  readonly #memory: CellMemory;
  /** Per index its cells; shorter than the table where the last rows do not mention it. */
  readonly #features: string[][] = [];
  readonly #labels: string[] = [];
  readonly #weights: string[] = [];
  readonly #queries: string[] = [];
  readonly #lines: number[] = [];
  #line = 0;

  constructor(path: string, limits: TableLimits) {
    this.#path = path;
    this.#limits = limits;
    this.#memory = new CellMemory();
  }

  add(line: string): void {
    this.#line++;
    const [content] = line.split("#", 1);
    const [head, ...parts] = content.split(/\s+/).filter((part) => part !== "");
    if (head === undefined) return;
    const row = this.#lines.length;
    if (row === this.#limits.rows) throw this.error(`there are over ${this.#limits.rows} rows`);
    const [label, weight, more] = head.split(":");
    if (more !== undefined || weight === "") throw this.error("the label must be a number, or label:weight");
    this.#lines.push(this.#line);
    this.#put(this.#labels, row, label);
    if (weight !== undefined) this.#put(this.#weights, row, weight);
    for (const part of parts) this.#addPart(row, part);
    if (
      this.#memory.bytes > this.#limits.memoryBytes ||
      CellMemory.bytesMin * (this.#lines.length * this.#features.length) > this.#limits.memoryBytes
    )
      throw this.error(memoryTrouble);
  }

  #addPart(row: number, part: string): void {
    const [, key, value] = /^(qid|\d{1,9}):(.+)$/.exec(part) ?? [];
    if (key === undefined) throw this.error("after the label stand pairs of index:value, separated by blanks");
    if (key === "qid") return this.#put(this.#queries, row, value);
    const index = Number(key);
    const { columns, cellChars } = this.#limits;
    if (index >= columns) throw this.error(`a feature has an index of ${columns} or above`);
    if (value.length > cellChars) throw this.error(`a value has over ${cellChars} characters`);
    while (this.#features.length <= index) this.#features.push([]);
    if (this.#features[index].length > row) throw this.error("a feature stands there twice");
    this.#put(this.#features[index], row, value);
  }

  /** Cells that were not mentioned are empty. */
  #put(column: string[], row: number, cell: string): void {
    while (column.length < row) column.push("");
    column.push(cell);
    this.#memory.add(cell);
  }

  finish(): CsvTable {
    const rowCount = this.#lines.length;
    if (rowCount === 0) throw new TandemError("FILE_FORMAT", `${this.#path} is empty`);
    if (this.#features.length === 0)
      throw new TandemError(
        "FILE_FORMAT",
        `${this.#path} has labels but no features. Is it a CSV file? LIBSVM has pairs of index:value`,
      );
    const filled = (column: string[], cell = ""): string[] => {
      while (column.length < rowCount) column.push("");
      return cell === "" ? column : column.map((text) => text || cell);
    };
    const columns = new Map([["row", Array.from(this.#lines, (_, row) => String(row + 1))]]);
    columns.set("label", this.#labels);
    if (this.#weights.length > 0) columns.set("weight", filled(this.#weights, "1"));
    if (this.#queries.length > 0) columns.set("qid", filled(this.#queries));
    const aside = [...columns.keys()];
    this.#features.forEach((column, index) => columns.set(`f${index}`, filled(column)));
    const lines = Uint32Array.from(this.#lines);
    return {
      path: this.#path,
      names: [...columns.keys()],
      columns: [...columns.values()],
      rowCount,
      lineOf: (row) => lines[row],
      aside,
    };
  }

  error(what: string): TandemError {
    return new TandemError("FILE_FORMAT", `${this.#path}, line ${this.#line}: ${what}`);
  }
}
