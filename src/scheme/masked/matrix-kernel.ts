/**
 * The arithmetic of the matrices of transfers: the addon's, where it loads, for columns of whole blocks. That is all of
 * a batch but the end. The bytes are the same with either.
 */
import { selectMaximumKernel } from "../../crypto/maximum/select-kernel.ts";
import { type MatrixKernel, portableMatrices } from "../../crypto/transfer/iknp-ot.ts";
import { wordsPerBlock } from "../../crypto/transfer/block-cipher.ts";

let selected: MatrixKernel | undefined;

export function matrixKernel(): MatrixKernel {
  if (selected !== undefined) return selected;
  const kernel = selectMaximumKernel(1); // parties score while they train: one thread
  selected = {
    columnHashes: (point, columns, wordCount) =>
      wordCount % wordsPerBlock === 0
        ? kernel.columnHashes(point, columns, wordCount)
        : portableMatrices.columnHashes(point, columns, wordCount),
    rows: (columns, wordCount) =>
      wordCount % wordsPerBlock === 0 ? kernel.rows(columns, wordCount) : portableMatrices.rows(columns, wordCount),
  };
  return selected;
}
