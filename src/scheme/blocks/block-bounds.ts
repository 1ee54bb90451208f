/** How rows fall into blocks: runs of the same length, give or take a row. */
import { assert } from "../../base/assert.ts";
import type { BinColumns } from "./block.ts";

/**
 * The first row of each block, and the number of rows. As few blocks as can be, all alike: where one is much smaller
 * than the others, its worker waits for them.
 * @param blockRows of a block at the most
 */
export function blockBounds(rowCount: number, blockRows: number): Uint32Array {
  assert(Number.isInteger(blockRows) && blockRows >= 1, "a block has at least one row");
  const count = Math.max(1, Math.ceil(rowCount / blockRows));
  return Uint32Array.from({ length: count + 1 }, (_, i) => Math.floor((i * rowCount) / count));
}

/** The part of a run of rows that falls into one block. */
export interface BlockPart {
  readonly block: number;
  /** Places within the run. */
  readonly from: number;
  readonly to: number;
}

/** @param firsts where each block begins, and the last one ends; a block may be empty */
export function* partsOf(firsts: Uint32Array, first: number, count: number): Generator<BlockPart> {
  const end = first + count;
  for (let block = 0; block + 1 < firsts.length; block++) {
    const from = Math.max(first, firsts[block]);
    const to = Math.min(end, firsts[block + 1]);
    if (from < to) yield { block, from: from - first, to: to - first };
  }
}

/** The bins of one block's rows: views, nothing is copied. */
export function columnsOf({ bins, binCounts }: BinColumns, first: number, end: number): BinColumns {
  return { bins: bins.map((column) => column.subarray(first, end)), binCounts };
}
