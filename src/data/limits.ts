/**
 * The limits of a table; docs/own-data.md lists the same. A file beyond a limit is rejected with FILE_FORMAT before it
 * costs more than a regular one would. Regular tables of tens of millions of rows are within the limits.
 */
import { getHeapStatistics } from "node:v8";

export interface TableLimits {
  /** The maximum of alignment and training. */
  readonly rows: number;
  readonly columns: number;
  /** Characters of one cell. */
  readonly cellChars: number;
  /** Characters of one row of CSV, line breaks within quotes included. */
  readonly rowChars: number;
  /** Blank lines beyond one per row. */
  readonly blankLines: number;
  /** Decompressed bytes per compressed byte, once `ratioFreeBytes` have been decompressed. */
  readonly gzipRatio: number;
  readonly ratioFreeBytes: number;
  /** Decompressed bytes of one page of a Parquet file. */
  readonly pageBytes: number;
  /** How often each byte of a Parquet file may be read, over all its columns. */
  readonly readsPerByte: number;
  /** Memory of a table's cells in this process, in bytes. */
  readonly memoryBytes: number;
}

/**
 * Of the heap beyond what the program itself takes. The rest is for what is made of the cells: a simulation keeps its
 * parties' tables beside the whole one, and a collection of garbage needs room.
 */
const memoryFraction = 0.55;
const programBytes = 1 << 26;

export const tableLimits: TableLimits = {
  rows: 1 << 26,
  columns: 1 << 16,
  cellChars: 1 << 20,
  rowChars: 1 << 22,
  blankLines: 1 << 20,
  // DEFLATE itself ends at 1032: what comes this near holds nothing but repetitions.
  gzipRatio: 900,
  ratioFreeBytes: 1 << 24,
  pageBytes: 1 << 29,
  readsPerByte: 4,
  memoryBytes: memoryFraction * Math.max(0, getHeapStatistics().heap_size_limit - programBytes),
};

/** The limits of a thread that reads a file, which grow with the file. */
export interface ThreadLimits {
  readonly heapMegabytes: number;
  /** Without a sign of progress. */
  readonly silenceMs: number;
  readonly totalMs: number;
}

/** A regular file needs about a hundredth of this time. */
export function threadLimits(fileBytes: number, cellCount: number): ThreadLimits {
  const megabytes = Math.ceil(fileBytes / 2 ** 20);
  return {
    // Below a gigabyte no array can grow to where V8 would end the whole process instead of the thread.
    heapMegabytes: Math.min(1024, 512 + 16 * megabytes),
    silenceMs: 1000 * (1 + megabytes),
    totalMs: 1000 * (60 + megabytes + cellCount / 2 ** 20),
  };
}

/** V8 grows an array by half: a place takes 8 bytes, and up to 4 more are free. */
const placeBytes = 12;
const headerBytes = 16;
const alignedBytes = 8;

/**
 * The memory of a table's cells. A table that does not fit would otherwise end the whole process,
 * without a message about the file.
 */
export class CellMemory {
  /** Of a cell of any length. */
  static readonly bytesMin = placeBytes;
  #bytes = 0;

  /** A place in a column, and the text: V8 keeps one copy of every text of one character. */
  add(cell: string): void {
    this.#bytes +=
      cell.length < 2 ? placeBytes : placeBytes + headerBytes + alignedBytes * Math.ceil(cell.length / alignedBytes);
  }

  get bytes(): number {
    return this.#bytes;
  }
}

export const memoryTrouble =
  "the table does not fit into memory. Leave out columns, or give the process more with " +
  "NODE_OPTIONS=--max-old-space-size=<megabytes>";
