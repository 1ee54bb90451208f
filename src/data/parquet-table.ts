/**
 * A Parquet file as the same table of text cells that a CSV file gives, so that every check and message is the same;
 * rows are counted from 1. Null is an empty cell, true and false are 1 and 0. Columns of lists, structures or bytes are
 * refused only if they are used: their cells are not numbers.
 */
import { stat } from "node:fs/promises";
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, type AsyncBuffer, type FileMetaData } from "hyparquet";
import { compressors } from "./parquet-compressors.ts";
import { TandemError } from "../base/error.ts";
import { type CsvTable, headerTrouble } from "./csv-table.ts";

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readParquetTable(path: string): Promise<CsvTable> {
  const { file, metadata } = await open(path);
  const names = columnNames(metadata).map((name) => name.trim());
  const trouble = names.length === 0 ? "it has no columns" : headerTrouble(names);
  if (trouble !== null) throw new TandemError("FILE_FORMAT", `${path}: ${trouble}`);
  const rowCount = Number(metadata.num_rows);
  if (rowCount === 0) throw new TandemError("FILE_FORMAT", `${path} has columns but no rows`);
  const columns: string[][] = names.map(() => []);
  try {
    for (let rowStart = 0; rowStart < rowCount;) {
      const rowEnd = Math.min(rowStart + rowsPerRead, rowCount);
      await parquetRead({
        file,
        metadata,
        compressors,
        rowStart,
        rowEnd,
        rowFormat: "array",
        onComplete: (rows) => addRows(columns, rows),
      });
      rowStart = rowEnd;
    }
  } catch (cause) {
    throw new TandemError("FILE_FORMAT", `${path} is damaged, or uses a Parquet feature that cannot be read`, {
      cause,
    });
  }
  if (columns.some((column) => column.length !== rowCount))
    throw new TandemError("FILE_FORMAT", `${path} is damaged: it has fewer rows than it says`);
  return { path, names, columns, rowCount, lineOf: (row) => row + 1, lineNoun: "row" };
}

const rowsPerRead = 100_000;

async function open(path: string): Promise<{ file: AsyncBuffer; metadata: FileMetaData }> {
  try {
    if (!(await stat(path)).isFile()) throw new TandemError("FILE_UNREADABLE", `${path} is not a file`);
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    throw new TandemError(
      "FILE_UNREADABLE",
      code === "ENOENT" ? `${path}: no such file` : `${path} cannot be read (${code})`,
      { cause },
    );
  }
  try {
    const file = await asyncBufferFromFile(path);
    return { file, metadata: await parquetMetadataAsync(file) };
  } catch (cause) {
    throw new TandemError("FILE_FORMAT", `${path} is not a Parquet file, or is cut off`, { cause });
  }
}

/** Names of the top level: the root's children, each followed by its own. */
function columnNames({ schema }: FileMetaData): string[] {
  const names: string[] = [];
  const skip = (at: number): number => {
    let next = at + 1;
    for (let child = 0; child < (schema[at].num_children ?? 0); child++) next = skip(next);
    return next;
  };
  let at = 1;
  for (let child = 0; child < (schema[0].num_children ?? 0); child++) {
    names.push(schema[at].name);
    at = skip(at);
  }
  return names;
}

function addRows(columns: string[][], rows: readonly (readonly unknown[])[]): void {
  for (const row of rows) columns.forEach((column, i) => column.push(cellText(row[i])));
}

/** Numbers in their shortest form that reads back as the same number. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "1" : "0";
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? "(not a number)" : String(value);
}
