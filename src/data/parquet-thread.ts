/**
 * The thread that reads one Parquet file: an entry of its own in the bundle (scripts/bundle.mjs). The library that it
 * reads with trusts what a file says, and can be made to loop for hours: a thread can be ended, and may take only so
 * much memory. So nothing here needs to be caught one by one: whatever it throws means a file that cannot be read.
 *
 * A column of a row group is read at a time. Its cells leave as one text and their lengths: that is one message, and
 * not one object per cell.
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
  /** The next cells of a column. */
  | { readonly kind: "cells"; readonly column: number; readonly text: string; readonly lengths: Uint32Array }
  | { readonly kind: "done" };

function post(message: ParquetMessage, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

async function readFile({ path, pageBytesMax, readsPerByteMax }: ParquetTask): Promise<void> {
  const file = countedReads(await asyncBufferFromFile(path), readsPerByteMax);
  const metadata = await parquetMetadataAsync(file);
  const names = columnNames(metadata);
  post({ kind: "shape", names: names.map((name) => name.trim()), rowCount: Number(metadata.num_rows) });
  const compressors = boundedCompressors(pageBytesMax);
  for (const group of metadata.row_groups) {
    // With a plan of its own: a plan over all groups, for each of them, would take the square of their number.
    const alone = { ...metadata, num_rows: group.num_rows, row_groups: [group] };
    const rowCount = Number(group.num_rows);
    for (const [column, name] of names.entries()) {
      const chunks: ArrayLike<unknown>[] = [];
      const onChunk = ({ columnData }: { readonly columnData: ArrayLike<unknown> }): void => {
        chunks.push(columnData);
      };
      await parquetRead({ file, metadata: alone, compressors, columns: [name], onChunk });
      postCells(column, chunks, rowCount);
    }
  }
  post({ kind: "done" });
}

/** A column that says more often what it holds than it has bytes is no honest one. */
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

function postCells(column: number, chunks: readonly ArrayLike<unknown>[], rowCount: number): void {
  const found = chunks.reduce((sum, { length }) => sum + length, 0);
  // A page may hold rows beyond its group's: they are of nobody.
  if (found < rowCount) throw new Error("a column has fewer rows than its row group");
  let left = rowCount;
  for (const chunk of chunks) {
    const taken = Math.min(left, chunk.length);
    for (let first = 0; first < taken; first += cellsPerMessage) {
      const lengths = new Uint32Array(Math.min(cellsPerMessage, taken - first));
      let text = "";
      for (let i = 0; i < lengths.length; i++) {
        const cell = cellText(chunk[first + i]);
        lengths[i] = cell.length;
        text += cell;
      }
      post({ kind: "cells", column, text, lengths }, [lengths.buffer]);
    }
    left -= taken;
  }
}

/** Numbers in their shortest form that reads back as the same number. */
function cellText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "1" : "0";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "(no date)" : value.toISOString();
  return typeof value === "object" ? "(not a number)" : String(value);
}

post({ kind: "started" });
await readFile(workerData as ParquetTask);
