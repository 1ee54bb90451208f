/**
 * How pages of Parquet files are decompressed. Node itself has gzip and Brotli; the others are a package's. A page says
 * how long it is, and no more than that is made of it.
 */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compressors } from "hyparquet";
import { decompressLz4, decompressLz4Raw, decompressSnappy, decompressZstd } from "hyparquet-compressors";

export const compressors: Compressors = {
  SNAPPY: decompressSnappy,
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input) => decompressZstd(input),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
};
