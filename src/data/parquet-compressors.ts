/**
 * Decompression of Parquet pages. Node has gzip and Brotli; a package has the others. A page declares its length, which
 * bounds the output: each gets a buffer of that length, which is limited too.
 */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compressors } from "hyparquet";
import { decompressLz4, decompressLz4Raw, decompressSnappy, decompressZstd } from "hyparquet-compressors";

export const compressors: Compressors = {
  SNAPPY: decompressSnappy,
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => decompressZstd(input, new Uint8Array(length)),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
};

/** The same, for pages up to a length. They throw beyond it. */
export function boundedCompressors(pageBytesMax: number): Compressors {
  const bounded = Object.entries(compressors).map(([name, decompress]) => [
    name,
    (input: Uint8Array, length: number) => {
      if (!(length >= 0 && length <= pageBytesMax)) throw new RangeError(`a page of ${length} bytes`);
      return decompress(input, length);
    },
  ]);
  return Object.fromEntries(bounded) as Compressors;
}
