/**
 * Typed columns from a table of text cells. Errors name file, line and column, never the cell: messages reach logs and
 * other parties, and a row's value must not.
 */
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import { isMissing, numberSyntax, parseNumber } from "../base/text/number-cell.ts";
import type { CategoryBook } from "./category-book.ts";
import type { CsvTable, TableRows } from "./table-sink.ts";

const float32Max = 3.4028234663852886e38;

/**
 * Finds a column by its name, or by position as `#0`, `#1`, ...; a name wins over a position.
 * @throws TandemError COLUMN_UNKNOWN naming the file, and the nearest or all known names
 */
export function columnIndex(table: Pick<TableRows, "path" | "names">, nameOrPosition: string): number {
  const wanted = nameOrPosition.trim();
  const named = wanted === "" ? -1 : table.names.indexOf(wanted);
  if (named !== -1) return named;
  const position = /^#(\d{1,9})$/.exec(wanted);
  if (position !== null) {
    const index = Number(position[1]);
    if (index < table.names.length) return index;
    throw new TandemError(
      "COLUMN_UNKNOWN",
      `${table.path} has no column ${wanted}: its columns are #0 to #${table.names.length - 1}`,
    );
  }
  const joined = table.names.some((name) => name.split(/[;\t]/).includes(wanted));
  if (joined)
    throw new TandemError(
      "COLUMN_UNKNOWN",
      `${table.path} has no column '${wanted}': its header has more commas than other separators, so it was read as ` +
        "separated by commas. Quote the names that have a comma",
    );
  const hint = suggestion(wanted, showableNames(table)) || "; give its position, such as '#0'";
  throw new TandemError("COLUMN_UNKNOWN", `${table.path} has no column '${wanted}'${hint}`);
}

/** If one is a number, they may be the first row of a file without a header, whose cells must not be shown. */
export function showableNames({ names }: Pick<TableRows, "names">): string[] {
  return names.some((name) => parseNumber(name.trim()) !== undefined) ? [] : names.filter((name) => name !== "");
}

/** A column in messages: its name, or its position if it has none or its name may be a cell. */
export function columnTitle(table: Pick<TableRows, "names" | "isHeaderDoubtful">, index: number): string {
  const name = table.names[index];
  return name === "" || table.isHeaderDoubtful === true ? `#${index}` : `'${name}'`;
}

/**
 * A feature as XGBoost sees it: float32, NaN where the value is missing (empty, NA, NaN in any case, or one of
 * `missingTokens`, compared with the trimmed cell). Null if a cell is text.
 * @throws TandemError CELL_UNPARSABLE naming file, line and column of a number that float32 does not have
 */
export function numbersIn(table: CsvTable, index: number, missingTokens: ReadonlySet<string>): Float32Array | null {
  const values = new Float32Array(table.rowCount);
  const cells = table.columns[index];
  let beyond = -1;
  for (let row = 0; row < values.length; row++) {
    const cell = cells[row].trim();
    if (isMissing(cell) || missingTokens.has(cell)) {
      values[row] = NaN;
      continue;
    }
    if (isTextCell(cell)) return null;
    values[row] = Number(cell); // NaN of some spellings of infinity
    if (beyond === -1 && !(Math.abs(values[row]) <= float32Max)) beyond = row;
  }
  // Among text it may be a code such as 4E50, so it is checked last.
  if (beyond !== -1) throw cellError(table, beyond, index, beyondFloat32(cells[beyond].trim()));
  return values;
}

const infinity = /^[+-]?inf(inity)?$/i;

/** Of a cell that is not missing. */
function isTextCell(cell: string): boolean {
  return !numberSyntax.test(cell) && !infinity.test(cell);
}

function beyondFloat32(cell: string): string {
  return infinity.test(cell)
    ? "is infinite, and features are finite, as in XGBoost. Name the cell as missing, or leave the column out"
    : "is a number beyond 3.4e38, the largest that float32 has";
}

/** As numbersIn, but text is an error. @throws TandemError CELL_UNPARSABLE naming file, line and column */
export function numericColumn(table: CsvTable, index: number, missingTokens: ReadonlySet<string>): Float32Array {
  const values = numbersIn(table, index, missingTokens);
  if (values === null) throw textError(table, index, missingTokens, "A number must stand there");
  return values;
}

/** @param advice what to do, in whole sentences */
export function textError(
  table: CsvTable,
  index: number,
  missingTokens: ReadonlySet<string>,
  advice: string,
): TandemError {
  const row = textRow(table, index, missingTokens);
  const what = decimalComma.test(table.columns[index][row].trim())
    ? "has a decimal comma. Write numbers with a decimal point, without separators of thousands"
    : `is text. ${advice}`;
  return cellError(table, row, index, what);
}

const decimalComma = /^[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+$/;

/** The place of the first text cell of a column, for messages. */
export function firstText(table: CsvTable, index: number, missingTokens: ReadonlySet<string>): string {
  return where(table, textRow(table, index, missingTokens), index);
}

function textRow(table: CsvTable, index: number, missingTokens: ReadonlySet<string>): number {
  return table.columns[index].findIndex((text) => {
    const cell = text.trim();
    return !isMissing(cell) && !missingTokens.has(cell) && isTextCell(cell);
  });
}

/** Whether a column has a number in it. */
export function hasNumber(table: CsvTable, index: number, missingTokens: ReadonlySet<string>): boolean {
  return table.columns[index].some((text) => {
    const cell = text.trim();
    return !isMissing(cell) && !missingTokens.has(cell) && !isTextCell(cell);
  });
}

/**
 * A categorical feature: the codes that `book` has for the trimmed cells; NaN where the value is missing, as in
 * numericColumn.
 * @param title the column's name in the book
 */
export function categoryColumn(
  table: CsvTable,
  index: number,
  missingTokens: ReadonlySet<string>,
  book: CategoryBook,
  title: string,
): Float32Array {
  return Float32Array.from(table.columns[index], (text) => {
    const cell = text.trim();
    return isMissing(cell) || missingTokens.has(cell) ? NaN : book.codeOf(title, cell);
  });
}

/** The place of the first non-missing cell of a column, for messages. */
export function firstCell(table: CsvTable, index: number, missingTokens: ReadonlySet<string>): string {
  const row = table.columns[index].findIndex((text) => !isMissing(text.trim()) && !missingTokens.has(text.trim()));
  return where(table, Math.max(row, 0), index);
}

/**
 * Labels: numbers, or with `positive` given 1 if the cell equals it and 0 otherwise.
 * @param mayBeOneClass for rows that are only evaluated
 * @throws TandemError LABEL_INVALID if a label is missing, or with `positive` if there is one class only;
 * CELL_UNPARSABLE if a label is not a number
 */
export function labelColumn(table: CsvTable, index: number, positive?: string, mayBeOneClass = false): Float64Array {
  const labels = new Float64Array(table.rowCount);
  const cells = table.columns[index];
  const wanted = positive?.trim();
  for (let row = 0; row < labels.length; row++) {
    const cell = cells[row].trim();
    if (cell === wanted) {
      labels[row] = 1;
    } else if (isMissing(cell)) {
      throw new TandemError("LABEL_INVALID", `${where(table, row, index)}: the label is missing`);
    } else if (wanted === undefined) {
      const value = parseNumber(cell);
      if (value === undefined) throw cellError(table, row, index, "is not a number; a label must be one");
      labels[row] = value;
    }
  }
  if (wanted !== undefined && !mayBeOneClass)
    requireTwoClasses(table, index, labels, ` '${wanted}'`, " (upper and lower case count)");
  return labels;
}

/**
 * For objectives that need classes: every label is 0 or 1, and both occur.
 * @param mayBeOneClass as of labelColumn
 * @throws TandemError LABEL_INVALID naming file, column and, for a wrong label, the line
 */
export function requireBinaryLabels(
  table: TableRows,
  index: number,
  labels: Float64Array,
  mayBeOneClass = false,
): void {
  const wrong = labels.findIndex((label) => label !== 0 && label !== 1);
  if (wrong !== -1) {
    throw new TandemError(
      "LABEL_INVALID",
      `${where(table, wrong, index)}: the label is neither 0 nor 1. ${binaryLabelAdvice(labels)}`,
    );
  }
  if (!mayBeOneClass) requireTwoClasses(table, index, labels, " 1");
}

/** Labels with more values than this are taken for measurements, not for classes. */
const classCountPlausibleMax = 20;

/** What to do about labels other than 0 and 1. It depends on their number and type only, and contains none of them. */
function binaryLabelAdvice(labels: Float64Array): string {
  const values = new Set(labels);
  const positive = "name the value that counts as 1 by --positive (in a config: data.positive)";
  if (values.size <= 2) return `For two classes, ${positive}`;
  const looksContinuous = values.size > classCountPlausibleMax || labels.some((label) => !Number.isInteger(label));
  return looksContinuous
    ? `The labels look continuous: train with the objective reg:squarederror, or ${positive}`
    : `For several classes, train with the objective multi:softprob; for two classes, ${positive}`;
}

/** @param caution what may be the reason if no label is `positive` */
function requireTwoClasses(
  table: TableRows,
  index: number,
  labels: Float64Array,
  positive: string,
  caution = "",
): void {
  const hasNegative = labels.includes(0);
  if (hasNegative && labels.includes(1)) return;
  const what = hasNegative ? `no label is${positive}${caution}` : `every label is${positive}`;
  throw new TandemError(
    "LABEL_INVALID",
    `${table.path}, column ${columnTitle(table, index)}: ${what}; two classes are needed`,
  );
}

/**
 * The ids by which parties match rows, trimmed; without a column the row number, counted from 1.
 * @param column a name or position as for columnIndex
 * @throws TandemError ID_DUPLICATE naming file and both lines, FILE_FORMAT for an empty id
 */
export function idColumn(table: CsvTable, column: string | undefined): string[] {
  if (column === undefined) return Array.from({ length: table.rowCount }, (_, row) => String(row + 1));
  const index = columnIndex(table, column);
  const ids = table.columns[index].map((cell) => cell.trim());
  const rowOf = new Map<string, number>();
  ids.forEach((id, row) => {
    if (id === "") throw new TandemError("FILE_FORMAT", `${where(table, row, index)}: the id is empty`);
    const first = rowOf.get(id);
    if (first !== undefined) {
      const lines = `${table.lineNoun ?? "line"}s ${table.lineOf(first)} and ${table.lineOf(row)}`;
      throw new TandemError(
        "ID_DUPLICATE",
        `${table.path}: ${lines} have the same id in column ${columnTitle(table, index)}`,
      );
    }
    rowOf.set(id, row);
  });
  return ids;
}

/** Whether a trimmed cell is a missing value. */
export function isMissingCell(cell: string): boolean {
  return isMissing(cell.trim());
}

/** The number in a trimmed cell; undefined: it is not a number. */
export function numberIn(cell: string): number | undefined {
  return parseNumber(cell.trim());
}

/** File, line and column of a cell, for messages. */
export function cellPlace(table: TableRows, row: number, index: number): string {
  return where(table, row, index);
}

function where(table: TableRows, row: number, index: number): string {
  const file = table.partOf?.(row) ?? table.path;
  return `${file}, ${table.lineNoun ?? "line"} ${table.lineOf(row)}, column ${columnTitle(table, index)}`;
}

export function cellError(table: TableRows, row: number, index: number, what: string): TandemError {
  return new TandemError("CELL_UNPARSABLE", `${where(table, row, index)}: the cell ${what}`);
}
