/**
 * A Parquet file as the same table of text cells that a CSV file gives, so that every check and message is the same;
 * rows are counted from 1. Null is an empty cell, true and false are 1 and 0. Columns of lists, structures or bytes are
 * refused only if they are used: their cells are not numbers.
 *
 * The file is read in a thread (parquet-thread.ts) that is ended when it goes beyond its limits.
 */
import { stat } from "node:fs/promises";
import { TandemError } from "../base/error.ts";
import type { CsvTable } from "./csv-table.ts";
import { headerTrouble } from "./header.ts";
import { CellMemory, memoryTrouble, type TableLimits, tableLimits, threadLimits } from "./limits.ts";
import { type Watched, watchThread } from "./parquet-watch.ts";
import type { ParquetMessage } from "./parquet-thread.ts";

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readParquetTable(path: string, limits: TableLimits = tableLimits): Promise<CsvTable> {
  const fileBytes = await sizeOf(path);
  const collector = new ColumnCollector(path, limits);
  const task = { path, pageBytesMax: limits.pageBytes, readsPerByteMax: limits.readsPerByte };
  const end = await watchThread(
    task,
    () => threadLimits(fileBytes, collector.cellCount),
    (message) => collector.take(message),
  );
  return collector.finish(end);
}

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new TandemError("FILE_UNREADABLE", `${path} is not a file`);
    return found.size;
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    throw new TandemError(
      "FILE_UNREADABLE",
      code === "ENOENT" ? `${path}: no such file` : `${path} cannot be read (${code})`,
      { cause },
    );
  }
}

class ColumnCollector {
  readonly #path: string;
  readonly #limits: TableLimits;
  readonly #memory: CellMemory;
  #names: readonly string[] | null = null;
  #rowCount = 0;
  #columns: string[][] = [];

  constructor(path: string, limits: TableLimits) {
    this.#path = path;
    this.#limits = limits;
    this.#memory = new CellMemory(limits.memoryBytes);
  }

  /** As many as the file says it has. */
  get cellCount(): number {
    return this.#rowCount * this.#columns.length;
  }

  take(message: ParquetMessage): void {
    if (message.kind === "shape") this.#shape(message.names, message.rowCount);
    else if (message.kind === "cells") this.#cells(this.#columns[message.column], message.text, message.lengths);
  }

  #shape(names: readonly string[], rowCount: number): void {
    const { rows, columns } = this.#limits;
    if (names.length > columns) throw this.#refused(`: it has over ${columns} columns`);
    const trouble = names.length === 0 ? "it has no columns" : headerTrouble(names);
    if (trouble !== null) throw this.#refused(`: ${trouble}`);
    if (rowCount === 0) throw this.#refused(" has columns but no rows");
    if (!Number.isSafeInteger(rowCount) || rowCount < 0) throw this.#refused(" is damaged: it has no number of rows");
    if (rowCount > rows) throw this.#refused(`: it has over ${rows} rows`);
    this.#names = names;
    this.#rowCount = rowCount;
    this.#columns = names.map(() => []);
    if (!this.#memory.fits(this.cellCount)) throw this.#refused(`: ${memoryTrouble}`);
  }

  #cells(column: string[], text: string, lengths: Uint32Array): void {
    if (column.length + lengths.length > this.#rowCount)
      throw this.#refused(" is damaged: it has more rows than it says");
    let at = 0;
    for (const length of lengths) {
      if (length > this.#limits.cellChars)
        throw this.#refused(`, row ${column.length + 1}: a cell has over ${this.#limits.cellChars} characters`);
      const cell = text.slice(at, at + length);
      at += length;
      column.push(cell);
      this.#memory.add(cell);
    }
    if (this.#memory.isFull) throw this.#refused(`: ${memoryTrouble}`);
  }

  finish(end: Watched): CsvTable {
    const names = this.#names;
    const advice = ". Write it again, with smaller row groups, or as CSV";
    if (end.kind !== "done") {
      const why = {
        failed:
          names === null
            ? "is not a Parquet file, or is cut off"
            : "is damaged, or uses a Parquet feature that cannot be read",
        slow: "takes longer to read than a file of its size may",
        large: "takes more memory to read than a file of its size may",
      }[end.kind];
      throw this.#refused(` ${why}${end.kind === "failed" ? "" : advice}`, end.cause);
    }
    if (names === null || this.#columns.some((column) => column.length !== this.#rowCount))
      throw this.#refused(" is damaged: it has fewer rows than it says");
    const { path, rowCount, columns } = { path: this.#path, rowCount: this.#rowCount, columns: this.#columns };
    return { path, names, columns, rowCount, lineOf: (row) => row + 1, lineNoun: "row" };
  }

  #refused(what: string, cause?: unknown): TandemError {
    return new TandemError("FILE_FORMAT", `${this.#path}${what}`, { cause });
  }
}
