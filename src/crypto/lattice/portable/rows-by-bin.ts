/** Bins of a passive party as its kernels read them: which rows are in a bin, and the bins of a row. */
import { assert } from "../../../base/assert.ts";

/** Rows of every bin, over all features one after the other, ascending. */
export function rowsByBin(bins: readonly Uint16Array[], binCounts: Uint32Array): Uint32Array[] {
  return bins.flatMap((column, feature) => {
    const counts = new Uint32Array(binCounts[feature]);
    for (const bin of column) {
      assert(bin < counts.length, "a bin that its feature has");
      counts[bin]++;
    }
    const rows = Array.from(counts, (count) => new Uint32Array(count));
    counts.fill(0);
    column.forEach((bin, row) => (rows[bin][counts[bin]++] = row));
    return rows;
  });
}

/** Bytes of a bin in rowBins. */
export const binBytes = (binCounts: Uint32Array): 1 | 2 => (binCounts.some((count) => count > 256) ? 2 : 1);

/** Bins row by row, little-endian. */
export function rowBinsOf(bins: readonly Uint16Array[], binCounts: Uint32Array, rowCount: number): Uint8Array {
  const width = binBytes(binCounts);
  const rowBins = new Uint8Array(rowCount * bins.length * width);
  bins.forEach((column, feature) => {
    assert(column.length === rowCount, "a bin for every row");
    for (let row = 0, at = feature * width; row < rowCount; row++, at += bins.length * width) {
      assert(column[row] < binCounts[feature], "a bin that its feature has");
      rowBins[at] = column[row];
      if (width === 2) rowBins[at + 1] = column[row] >> 8;
    }
  });
  return rowBins;
}
