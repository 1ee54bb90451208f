/**
 * A table in several files: those of a folder by name, or a list. All have the same columns in the same order, and
 * their rows follow each other in the order of the files. Marker files of writers (`_SUCCESS`, `.part-0.crc`) are
 * ignored.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { showableNames } from "./columns.ts";
import { tableLimits } from "./limits.ts";
import type { ColumnSink, TableRows, TableSink } from "./table-sink.ts";

export type TablePath = string | readonly string[];

const endings = [".parquet", ".csv", ".csv.gz"];

/** Its name in messages. */
export function pathTitle(path: TablePath): string {
  if (typeof path === "string") return path;
  return path.length === 1 ? path[0] : `${path[0]} and ${path.length - 1} more`;
}

/**
 * @returns the files of a table, in their order; null: the path is one file, or nothing
 * @throws TandemError FILE_UNREADABLE or FILE_FORMAT if there is no part, or parts of two kinds
 */
export async function tableParts(path: TablePath): Promise<readonly string[] | null> {
  if (typeof path !== "string") return checkedParts(pathTitle(path), path);
  if (!(await isFolder(path))) return null;
  const names = (await readdir(path)).filter((name) => !/^[._]/.test(name) && isTable(name)).toSorted();
  if (names.length === 0)
    throw new TandemError("FILE_UNREADABLE", `${path}: the folder has no file named ${endings.join(", ")}`);
  return checkedParts(
    path,
    names.map((name) => join(path, name)),
  );
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false; // reading it will say what is wrong
  }
}

function isTable(name: string): boolean {
  return endings.some((ending) => name.endsWith(ending));
}

function checkedParts(title: string, parts: readonly string[]): readonly string[] {
  const twice = parts.find((part, i) => parts.indexOf(part) < i);
  if (twice !== undefined) throw new TandemError("FILE_FORMAT", `${twice} is named twice among the parts of a table`);
  const other = parts.find((part) => part.endsWith(".parquet") !== parts[0].endsWith(".parquet"));
  if (other !== undefined)
    throw new TandemError(
      "FILE_FORMAT",
      `${title} is Parquet and CSV at once: ${parts[0]} and ${other}. Keep the parts of one table apart from others`,
    );
  return parts;
}

/**
 * @param stream reads one file
 * @throws TandemError FILE_FORMAT naming the part that differs from the first, and what `stream` throws
 */
export async function streamParts(
  path: TablePath,
  parts: readonly string[],
  sink: TableSink,
  stream: (path: string, sink: TableSink) => Promise<TableRows>,
): Promise<TableRows> {
  const title = pathTitle(path);
  const joined = new PartsSink(title, sink);
  const read: TableRows[] = [];
  let rowCount = 0;
  for (const part of parts) {
    const rows = await stream(part, joined);
    rowCount += rows.rowCount;
    if (rowCount > tableLimits.rows)
      throw new TandemError("FILE_FORMAT", `${title}: with ${part} there are over ${tableLimits.rows} rows`);
    if (rows.rowCount > 0 || read.length === 0) read.push(rows);
  }
  if (rowCount === 0) throw new TandemError("FILE_FORMAT", `${title}: none of its ${parts.length} parts has a row`);
  return joinedRows(title, read, rowCount);
}

function joinedRows(path: string, parts: readonly TableRows[], rowCount: number): TableRows {
  const firsts: number[] = [];
  let first = 0;
  for (const part of parts) {
    firsts.push(first);
    first += part.rowCount;
  }
  const placeOf = (row: number): { readonly part: TableRows; readonly row: number } => {
    let [low, high] = [0, parts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (firsts[middle] <= row) low = middle;
      else high = middle - 1;
    }
    return { part: parts[low], row: row - firsts[low] };
  };
  const [{ names, lineNoun }] = parts;
  return {
    path,
    names,
    rowCount,
    lineOf: (at) => {
      const { part, row } = placeOf(at);
      return part.lineOf(row);
    },
    partOf: (at) => placeOf(at).part.path,
    ...(lineNoun === undefined ? {} : { lineNoun }),
  };
}

/** Compares each part's columns with the first one's. */
class PartsSink implements TableSink {
  readonly mayBeEmpty = true;
  readonly #title: string;
  readonly #sink: TableSink;
  #first: {
    readonly path: string;
    readonly names: readonly string[];
    readonly sinks: readonly (ColumnSink | null)[];
  } | null = null;

  constructor(title: string, sink: TableSink) {
    this.#title = title;
    this.#sink = sink;
  }

  get rowBytes(): number {
    return this.#sink.rowBytes;
  }

  get sizeBytes(): number {
    return this.#sink.sizeBytes;
  }

  begin({ path, names }: Pick<TableRows, "path" | "names">): readonly (ColumnSink | null)[] {
    if (this.#first === null) {
      this.#first = { path, names, sinks: this.#sink.begin({ path: this.#title, names }) };
      return this.#first.sinks;
    }
    const expected = this.#first.names;
    const at = names.findIndex((name, i) => name !== expected[i]);
    if (at !== -1 || names.length !== expected.length)
      throw new TandemError(
        "FILE_FORMAT",
        `${path} is not a part of the same table as ${this.#first.path}: ${difference(names, expected, at)}`,
      );
    return this.#first.sinks;
  }
}

function difference(names: readonly string[], expected: readonly string[], at: number): string {
  if (names.length !== expected.length) return `its columns are ${names.length}, not ${expected.length}`;
  // Without a header they would be the first row's cells.
  const areShown = showableNames({ names }).length > 0 && showableNames({ names: expected }).length > 0;
  return areShown ? `its column #${at} is '${names[at]}', not '${expected[at]}'` : `its column #${at} has another name`;
}
