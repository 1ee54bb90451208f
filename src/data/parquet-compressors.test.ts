import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { boundedCompressors, compressors } from "./parquet-compressors.ts";

const page = Buffer.from("a page of a column, ".repeat(50));

test.each([
  ["GZIP", gzipSync(page)],
  ["BROTLI", brotliCompressSync(page)],
] as const)("%s: a page is decompressed, and one that is longer than declared is rejected", (name, packed) => {
  const decompress = compressors[name];
  expect(Buffer.from(decompress?.(packed, page.length) ?? [])).toEqual(page);
  expect(() => decompress?.(packed, page.length - 1)).toThrow(/larger|length/i);
});

describe("Zstandard", () => {
  /** One frame without its length, of the given blocks; the last is marked by 1 in its first bit. */
  const frame = (...blocks: number[][]): Uint8Array =>
    Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, ...blocks.flat()]);
  const block = (kind: "raw" | "repeat", length: number, last: boolean): number[] => {
    const head = (length << 3) | (kind === "raw" ? 0 : 2) | (last ? 1 : 0);
    return [head & 255, (head >> 8) & 255, head >> 16];
  };

  test("output of the zstd command is decompressed", () => {
    const packed = Buffer.from("KLUv/QRY3QAAoGEgcGFnZSBvZiBhIGNvbHVtbiwgAQCiXzWZbeEGCQ==", "base64");
    expect(Buffer.from(compressors.ZSTD?.(packed, page.length) ?? [])).toEqual(page);
  });

  test("blocks that repeat a byte produce no more than the declared length", () => {
    const honest = frame([...block("raw", 2, false), 7, 8], [...block("repeat", 4, true), 9]);
    expect([...(compressors.ZSTD?.(honest, 6) ?? [])]).toEqual([7, 8, 9, 9, 9, 9]);
    const bomb = frame(...Array.from({ length: 20_000 }, (_, i) => [...block("repeat", 131_072, i === 19_999), 0]));
    expect(compressors.ZSTD?.(bomb, 100).buffer.byteLength).toBe(100);
  });
});

test("a page that is longer than allowed is rejected before it is decompressed", () => {
  const bounded = boundedCompressors(page.length - 1);
  expect(() => bounded.GZIP?.(gzipSync(page), page.length)).toThrow(/a page of 1000 bytes/);
  expect(() => bounded.SNAPPY?.(new Uint8Array(8), -1)).toThrow(/a page of -1 bytes/);
});
