/** Tables from outside: CSV, gzip and Parquet. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { CategoryBook } from "../../../src/data/category-book.ts";
import { idColumn } from "../../../src/data/columns.ts";
import { featureColumns } from "../../../src/data/feature-columns.ts";
import { readKeptTable } from "../../../src/data/kept-table.ts";
import type { DataConfig } from "../../../src/party/config/data-config.ts";
import { readPartyTable } from "../../../src/party/tables/party-data.ts";
import type { FuzzFormat, FuzzTarget } from "./fuzz-format.ts";
import { mutated, oneOf } from "./mutate.ts";

/** What a party says of its table, in its shortest form. */
const data: DataConfig = {
  id: "#0",
  features: "all",
  missing: ["?"],
  categorical: [],
  monotone_constraints: {},
  interaction_constraints: {},
  normalise: [],
  duplicates: "refuse",
};

/** Reads a table as a party does, and then as a whole, with all that commands take from it. */
async function readAll(path: string): Promise<undefined> {
  await readPartyTable({ path }, data, null, { text: "categories" });
  const table = await readKeptTable({ path });
  idColumn(table, "#0");
  featureColumns(table, {
    columns: [...table.names.keys()],
    names: table.names,
    missing: ["?"],
    categorical: [],
    text: "categories",
    book: new CategoryBook(),
  });
  return undefined;
}

async function tableTarget(
  path: string,
  corpus: readonly Uint8Array[],
  pack?: (bytes: Uint8Array) => Uint8Array,
): Promise<FuzzTarget> {
  for (const bytes of corpus) {
    await writeFile(path, bytes);
    await readAll(path); // a corpus that is refused tests little
  }
  return {
    named: path,
    mutant(random) {
      const bytes = mutated(corpus, random);
      // Half of what is compressed is changed before: it decompresses to something wrong.
      return pack !== undefined && random.below(2) === 0 ? pack(mutated(csvTexts, random)) : bytes;
    },
    async read(bytes: Uint8Array) {
      await writeFile(path, bytes);
      return readAll(path);
    },
  };
}

const rows = (line: (i: number) => string): string => Array.from({ length: 40 }, (_, i) => `${line(i)}\n`).join("");
const csvTexts = [
  `id,x,y\n${rows((i) => `p${i},${i / 7},${i % 2}`)}`,
  `\uFEFFid;name;z\r\n${rows((i) => `${i};"a ""b"", ${i}";${i % 3 === 0 ? "NA" : `-${i}e-3`}\r`)}`,
  `id\tquoted\r${rows((i) => `${i}\t"line\rbreak"`).replaceAll("\n", "\r")}`,
  `,a\n1,?\n2,3\n\n\n4,\n`,
  rows((i) => `${i % 2}:0.${i + 1} qid:${i >> 2} 0:${i / 7} ${3 + i}:-${i}e-3 # row ${i}`),
].map((text) => Buffer.from(text));

export const csv: FuzzFormat = {
  name: "csv",
  prepare: async (folder) => tableTarget(join(folder, "table.csv"), csvTexts),
};

export const gzip: FuzzFormat = {
  name: "gzip",
  prepare: async (folder) =>
    tableTarget(
      join(folder, "table.csv.gz"),
      csvTexts.map((text) => gzipSync(text)),
      (bytes) => gzipSync(bytes),
    ),
};

/** One block of literals, as LZ4 and Zstandard have it. */
const lz4 = (bytes: Uint8Array): Uint8Array => {
  const long: number[] = [];
  for (let left = bytes.length - 15; left >= 0; left -= 255) long.push(Math.min(left, 255));
  return Buffer.concat([Uint8Array.of(Math.min(bytes.length, 15) << 4, ...long), bytes]);
};
const zstd = (bytes: Uint8Array): Uint8Array => {
  const head = (bytes.length << 3) | 1;
  return Buffer.concat([
    Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, head & 255, (head >> 8) & 255, head >> 16),
    bytes,
  ]);
};
const packers = {
  GZIP: (bytes: Uint8Array) => gzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes),
  LZ4_RAW: lz4,
  ZSTD: zstd,
};

function parquetFiles(): Uint8Array[] {
  const list = <T>(make: (i: number) => T): T[] => Array.from({ length: 50 }, (_, i) => make(i));
  const columnData = [
    { name: "id", data: list((i) => `p${i}`), type: "STRING" },
    { name: "x", data: list((i) => (i % 5 === 0 ? null : i / 7)), type: "DOUBLE" },
    { name: "n", data: list((i) => BigInt(i * 1000)), type: "INT64" },
    { name: "flag", data: list((i) => i % 3 === 0), type: "BOOLEAN" },
    { name: "kind", data: list((i) => (i % 2 === 0 ? "a" : "b")), type: "STRING" },
    { name: "when", data: list((i) => new Date(i * 1e9)), type: "TIMESTAMP" },
  ] as Parameters<typeof parquetWriteBuffer>[0]["columnData"];
  const codecs = ["SNAPPY", "UNCOMPRESSED", "GZIP", "BROTLI", "LZ4_RAW", "ZSTD"] as const;
  const whole = codecs.map((codec) =>
    Buffer.from(parquetWriteBuffer({ columnData, codec, compressors: packers, rowGroupSize: 20 })),
  );
  const delta = columnData.slice(0, 3).map((column, i) => ({
    ...column,
    encoding: i === 2 ? ("DELTA_BINARY_PACKED" as const) : i === 0 ? ("DELTA_BYTE_ARRAY" as const) : ("PLAIN" as const),
  }));
  const nested = [
    { name: "id", data: list((i) => i) },
    { name: "tags", data: list((i) => ({ a: [i, i + 1] })), type: "JSON" },
  ];
  return [
    ...whole,
    Buffer.from(parquetWriteBuffer({ columnData: delta, codec: "UNCOMPRESSED" })),
    Buffer.from(parquetWriteBuffer({ columnData: nested as typeof columnData })),
  ];
}

export const parquet: FuzzFormat = {
  name: "parquet",
  async prepare(folder) {
    const corpus = parquetFiles();
    const plain = await tableTarget(join(folder, "table.parquet"), corpus);
    return {
      ...plain,
      /** Half of them are changed in the footer alone: it says what everything else is. */
      mutant(random) {
        if (random.below(2) === 0) return plain.mutant(random);
        const file = Buffer.from(oneOf(corpus, random));
        const footer = file.length - 8 - file.readUInt32LE(file.length - 8);
        const changed = mutated([file.subarray(footer, -8)], random);
        const length = Buffer.alloc(4);
        length.writeUInt32LE(changed.length);
        return Buffer.concat([file.subarray(0, footer), changed, length, Buffer.from("PAR1")]);
      },
    };
  },
};
