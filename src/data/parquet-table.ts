/**
 * A Parquet file as the same table of text cells that a CSV file gives, so that every check and message is the same;
 * rows are counted from 1. Null is an empty cell, true and false are 1 and 0. Columns of lists, structures or bytes are
 * refused only if they are used: their cells are not numbers.
 *
 * The file is read in a thread (parquet-thread.ts) that is ended when it goes beyond its limits.
 */
import { stat } from "node:fs/promises";
import { TandemError } from "../base/error.ts";
import { isMissingPackage, missingPackages } from "../base/optional-package.ts";
import { headerTrouble } from "./header.ts";
import { memoryTrouble, type TableLimits, tableLimits, threadLimits } from "./limits.ts";
import { type Watched, watchThread } from "./parquet-watch.ts";
import type { ParquetAnswer, ParquetMessage } from "./parquet-thread.ts";
import {
  type ColumnSink,
  type CsvTable,
  numberPiece,
  type TableRows,
  type TableSink,
  textPiece,
  TextSink,
} from "./table-sink.ts";

const needed = { feature: "a Parquet file", packages: ["hyparquet", "hyparquet-compressors"] };

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file, USAGE where a package is not installed */
export async function readParquetTable(path: string, limits: TableLimits = tableLimits): Promise<CsvTable> {
  const sink = new TextSink();
  const rows = await streamParquet(path, sink, limits);
  return { ...rows, columns: sink.columns };
}

/** The same, with cells streamed to a sink. @throws as readParquetTable does, and what `sink` throws */
export async function streamParquet(
  path: string,
  sink: TableSink,
  limits: TableLimits = tableLimits,
): Promise<TableRows> {
  const fileBytes = await sizeOf(path);
  const collector = new ColumnCollector(path, sink, limits);
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
  readonly #sink: TableSink;
  #names: readonly string[] | null = null;
  #rowCount = 0;
  #sinks: readonly (ColumnSink | null)[] = [];
  /** Per column how many rows of it have been read. */
  #rowsOf: number[] = [];

  constructor(path: string, sink: TableSink, limits: TableLimits) {
    this.#path = path;
    this.#sink = sink;
    this.#limits = limits;
  }

  /** The number that the file declares. */
  get cellCount(): number {
    return this.#rowCount * this.#sinks.length;
  }

  /** @returns what the thread is waiting for */
  take(message: ParquetMessage): ParquetAnswer | null {
    if (message.kind === "shape") {
      this.#shape(message.names, message.rowCount);
      return { kind: "wanted", columns: this.#sinks.flatMap((sink, column) => (sink === null ? [] : [column])) };
    }
    if (message.kind === "cells") this.#cells(message.column, message.text, message.lengths);
    else if (message.kind === "numbers") this.#numbers(message.column, message.values);
    else return null;
    if (this.#sink.sizeBytes > this.#limits.memoryBytes) throw this.#refused(`: ${memoryTrouble}`);
    return { kind: "taken" };
  }

  #shape(names: readonly string[], rowCount: number): void {
    const { rows, columns } = this.#limits;
    if (names.length > columns) throw this.#refused(`: it has over ${columns} columns`);
    const trouble = names.length === 0 ? "it has no columns" : headerTrouble(names);
    if (trouble !== null) throw this.#refused(`: ${trouble}`);
    if (rowCount === 0 && this.#sink.mayBeEmpty !== true) throw this.#refused(" has columns but no rows");
    if (!Number.isSafeInteger(rowCount) || rowCount < 0) throw this.#refused(" is damaged: it has no number of rows");
    if (rowCount > rows) throw this.#refused(`: it has over ${rows} rows`);
    this.#names = names;
    this.#rowCount = rowCount;
    this.#sinks = this.#sink.begin({ path: this.#path, names });
    this.#rowsOf = names.map(() => 0);
    if (rowCount * this.#sink.rowBytes > this.#limits.memoryBytes) throw this.#refused(`: ${memoryTrouble}`);
  }

  /** The next rows of a column, without their cells. */
  #next(column: number, rowCount: number): TableRows {
    const first = this.#rowsOf[column];
    if (first + rowCount > this.#rowCount) throw this.#refused(" is damaged: it has more rows than it says");
    this.#rowsOf[column] += rowCount;
    return this.#rows(rowCount, first);
  }

  #rows(rowCount: number, first: number): TableRows {
    const names = this.#names ?? [];
    return { path: this.#path, names, rowCount, lineOf: (row) => first + row + 1, lineNoun: "row" };
  }

  #numbers(column: number, values: Float64Array): void {
    this.#sinks[column]?.take(numberPiece(this.#next(column, values.length), column, values));
  }

  #cells(column: number, text: string, lengths: Uint32Array): void {
    const rows = this.#next(column, lengths.length);
    const cells: string[] = [];
    let at = 0;
    for (const length of lengths) {
      if (length > this.#limits.cellChars)
        throw this.#refused(`, row ${rows.lineOf(cells.length)}: a cell has over ${this.#limits.cellChars} characters`);
      cells.push(text.slice(at, at + length));
      at += length;
    }
    this.#sinks[column]?.take(textPiece(rows, column, cells));
  }

  finish(end: Watched): TableRows {
    const names = this.#names;
    const advice = ". Write it again, with smaller row groups, or as CSV";
    if (end.kind === "failed" && isMissingPackage(end.cause)) throw missingPackages(needed, end.cause);
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
    const isShort = this.#sinks.some((sink, column) => sink !== null && this.#rowsOf[column] !== this.#rowCount);
    if (names === null || isShort) throw this.#refused(" is damaged: it has fewer rows than it says");
    return this.#rows(this.#rowCount, 0);
  }

  #refused(what: string, cause?: unknown): TandemError {
    return new TandemError("FILE_FORMAT", `${this.#path}${what}`, { cause });
  }
}
