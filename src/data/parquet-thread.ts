/**
 * The thread that reads one Parquet file: an entry of its own in the bundle (scripts/bundle.mjs). Its library trusts
 * the file's metadata, and a malicious file can make it loop for hours: a thread can be terminated, and has a memory
 * limit. So errors need no special handling: each one means that the file cannot be read.
 *
 * A column of a row group is read at a time. Its cells leave as numbers, or as one text and their lengths: that is one
 * message, and not one object per cell. Only a few messages are pending at a time: a file may be larger than memory.
 */
import { parentPort, workerData } from "node:worker_threads";
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, type AsyncBuffer, type FileMetaData } from "hyparquet";
import { boundedCompressors } from "./parquet-compressors.ts";

export interface ParquetTask {
  readonly path: string;
  readonly pageBytesMax: number;
  readonly readsPerByteMax: number;
}

export type ParquetMessage =
  /** Nothing of the file has been read yet. */
  | { readonly kind: "started" }
  | { readonly kind: "shape"; readonly names: readonly string[]; readonly rowCount: number }
  /** The next cells of a column: their text, or where each is a number or null (NaN) those. */
  | { readonly kind: "cells"; readonly column: number; readonly text: string; readonly lengths: Uint32Array }
  | { readonly kind: "numbers"; readonly column: number; readonly values: Float64Array }
  | { readonly kind: "done" };

/** What the thread waits for: after the shape which columns to read, and after cells that they were taken. */
export type ParquetAnswer =
  | { readonly kind: "wanted"; readonly columns: readonly number[] }
  | { readonly kind: "taken" };

function post(message: ParquetMessage, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

async function readFile({ path, pageBytesMax, readsPerByteMax }: ParquetTask): Promise<void> {
  const file = countedReads(await asyncBufferFromFile(path), readsPerByteMax);
  const metadata = await parquetMetadataAsync(file);
  const names = columnNames(metadata);
  post({ kind: "shape", names: names.map((name) => name.trim()), rowCount: Number(metadata.num_rows) });
  const { wanted } = await answers.columns;
  const compressors = boundedCompressors(pageBytesMax);
  for (const group of metadata.row_groups) {
    // With a plan of its own: a plan over all groups, for each of them, would take the square of their number.
    const alone = { ...metadata, num_rows: group.num_rows, row_groups: [group] };
    const rowCount = Number(group.num_rows);
    for (const column of wanted) {
      const name = names[column];
      const chunks: ArrayLike<unknown>[] = [];
      const onChunk = ({ columnData }: { readonly columnData: ArrayLike<unknown> }): void => {
        chunks.push(columnData);
      };
      await parquetRead({ file, metadata: alone, compressors, columns: [name], onChunk });
      await postCells(column, chunks, rowCount);
    }
  }
  post({ kind: "done" });
}

/** Limits reads: columns of a malicious file may overlap. */
function countedReads(file: AsyncBuffer, readsPerByteMax: number): AsyncBuffer {
  let bytesLeft = readsPerByteMax * file.byteLength + (1 << 20);
  return {
    byteLength: file.byteLength,
    slice(start, end = file.byteLength) {
      bytesLeft -= Math.max(0, Math.min(end, file.byteLength) - start);
      if (bytesLeft < 0) throw new Error("the columns overlap");
      return file.slice(start, end);
    },
  };
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

/** In pieces: a text of a whole column may be longer than a text can be, and each piece is a sign of progress. */
const cellsPerMessage = 100_000;

async function postCells(column: number, chunks: readonly ArrayLike<unknown>[], rowCount: number): Promise<void> {
  const found = chunks.reduce((sum, { length }) => sum + length, 0);
  // A page may have rows beyond its group's: they are ignored.
  if (found < rowCount) throw new Error("a column has fewer rows than its row group");
  let left = rowCount;
  for (const chunk of chunks) {
    const taken = Math.min(left, chunk.length);
    for (let first = 0; first < taken; first += cellsPerMessage) {
      await answers.room();
      postPiece(column, chunk, first, Math.min(cellsPerMessage, taken - first));
    }
    left -= taken;
  }
}

function postPiece(column: number, chunk: ArrayLike<unknown>, first: number, count: number): void {
  const values = numbersOf(chunk, first, count);
  if (values !== null) {
    post({ kind: "numbers", column, values }, [values.buffer]);
    return;
  }
  const lengths = new Uint32Array(count);
  let text = "";
  for (let i = 0; i < count; i++) {
    const cell = cellText(chunk[first + i]);
    lengths[i] = cell.length;
    text += cell;
  }
  post({ kind: "cells", column, text, lengths }, [lengths.buffer]);
}

/** @returns the cells as numbers if nothing of their text is lost that way, with NaN for null; otherwise null */
function numbersOf(chunk: ArrayLike<unknown>, first: number, count: number): Float64Array<ArrayBuffer> | null {
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const cell = chunk[first + i];
    if (cell === null || cell === undefined) values[i] = NaN;
    else if (typeof cell === "boolean") values[i] = cell ? 1 : 0;
    else {
      const value = typeof cell === "bigint" ? Number(cell) : cell;
      if (typeof value !== "number" || !Number.isFinite(value)) return null;
      if (typeof cell === "bigint" && !Number.isSafeInteger(value)) return null;
      values[i] = value + 0; // -0 is written as 0
    }
  }
  return values;
}

/** Answers of the main thread. */
class Answers {
  /** Maximum number of pending messages. */
  static readonly #aheadMax = 4;
  readonly columns: Promise<{ readonly wanted: readonly number[] }>;
  #ahead = 0;
  #onTaken: () => void = () => {};

  constructor() {
    this.columns = new Promise((resolve) => {
      parentPort?.on("message", (answer: ParquetAnswer) => {
        if (answer.kind === "wanted") resolve({ wanted: answer.columns });
        else {
          this.#ahead--;
          this.#onTaken();
        }
      });
    });
  }

  /** Waits until one more message may be sent. */
  async room(): Promise<void> {
    while (this.#ahead >= Answers.#aheadMax) await new Promise<void>((resolve) => (this.#onTaken = resolve));
    this.#ahead++;
  }
}

/** Numbers in their shortest form that reads back as the same number. */
function cellText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "1" : "0";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "(no date)" : value.toISOString();
  return typeof value === "number" || typeof value === "bigint" ? String(value) : "(not a number)";
}

const answers = new Answers();
post({ kind: "started" });
await readFile(workerData as ParquetTask);
