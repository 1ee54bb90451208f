/** Divides rows into blocks of equal length, up to one row. */
import { assert } from "../../base/assert.ts";
import type { BinColumns } from "./block.ts";

/**
 * The first row of each block, followed by the number of rows. Uses as few blocks as possible, all of about the same
 * size: the worker of a much smaller block would wait for the others.
 * @param blockRows the maximum number of rows of a block
 */
export function blockBounds(rowCount: number, blockRows: number): Uint32Array {
  assert(Number.isInteger(blockRows) && blockRows >= 1, "a block has at least one row");
  const count = Math.max(1, Math.ceil(rowCount / blockRows));
  return Uint32Array.from({ length: count + 1 }, (_, i) => Math.floor((i * rowCount) / count));
}

/** The part of a range of rows that falls into one block. */
export interface BlockPart {
  readonly block: number;
  /** Offsets within the range. */
  readonly from: number;
  readonly to: number;
}

/** @param firsts the first row of each block, followed by the end of the last one; a block may be empty */
export function* blockParts(firsts: Uint32Array, first: number, count: number): Generator<BlockPart> {
  const end = first + count;
  for (let block = 0; block + 1 < firsts.length; block++) {
    const from = Math.max(first, firsts[block]);
    const to = Math.min(end, firsts[block + 1]);
    if (from < to) yield { block, from: from - first, to: to - first };
  }
}

/** The bins of one block's rows, as views of the whole columns. */
export function sliceColumns({ bins, binCounts }: BinColumns, first: number, end: number): BinColumns {
  return { bins: bins.map((column) => column.subarray(first, end)), binCounts };
}
