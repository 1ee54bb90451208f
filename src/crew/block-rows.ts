/** The default number of rows of a block: a power of two, about four blocks per worker. */

/** Joint bins need many rows: smaller blocks cost more. */
const blockRowsMin = 2 ** 16;
const blockRowsMax = 2 ** 20;
const blocksPerWorker = 4;

export function blockRowsFor(rowCount: number, workers: number): number {
  const wanted = rowCount / (blocksPerWorker * Math.max(1, workers));
  return Math.min(blockRowsMax, Math.max(blockRowsMin, 2 ** Math.ceil(Math.log2(Math.max(1, wanted)))));
}
