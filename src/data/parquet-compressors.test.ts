import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { compressors } from "./parquet-compressors.ts";

const page = Buffer.from("a page of a column, ".repeat(50));

test.each([
  ["GZIP", gzipSync(page)],
  ["BROTLI", brotliCompressSync(page)],
] as const)("%s: a page comes back, and one that is longer than it says is refused", (name, packed) => {
  const decompress = compressors[name];
  expect(Buffer.from(decompress?.(packed, page.length) ?? [])).toEqual(page);
  expect(() => decompress?.(packed, page.length - 1)).toThrow(/larger|length/i);
});
