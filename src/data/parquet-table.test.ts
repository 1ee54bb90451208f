/** Malicious files: each is rejected with its name, and does not affect this thread. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { tableLimits } from "./limits.ts";
import { readParquetTable } from "./parquet-table.ts";

const folder = scratchDirectory();

function parquet(name: string, columnData: Parameters<typeof parquetWriteBuffer>[0]["columnData"]): string {
  const path = join(folder, name);
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, codec: "UNCOMPRESSED" })));
  return path;
}

/** The footer's length stands before the last four bytes. */
function withFooter(name: string, footer: Uint8Array): string {
  const path = join(folder, name);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  writeFileSync(path, Buffer.concat([Buffer.from("PAR1"), footer, length, Buffer.from("PAR1")]));
  return path;
}

const three = parquet("three.parquet", [
  { name: "id", data: ["a", "b", "c"] },
  { name: "x", data: [1.5, null, 3] },
]);

describe("limits", () => {
  test.each([
    [{ rows: 2 }, /three\.parquet: it has over 2 rows/],
    [{ columns: 1 }, /three\.parquet: it has over 1 columns/],
    [{ cellChars: 0 }, /three\.parquet, row 1: a cell has over 0 characters/],
    [{ memoryBytes: 40 }, /three\.parquet: the table does not fit into memory.*--max-old-space-size/],
    [{ pageBytes: -1 }, null],
  ])("%j", async (changed, says) => {
    const reading = (): Promise<unknown> => readParquetTable(three, { ...tableLimits, ...changed });
    // An uncompressed page is as long as it is.
    if (says === null) expect(await reading()).toMatchObject({ rowCount: 3 });
    else await expectError(reading, "FILE_FORMAT", says);
  });

  test("a compressed page that says it is longer than a page may be", async () => {
    const path = join(folder, "page.parquet");
    const data = Array.from({ length: 500 }, (_, i) => i / 7);
    writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData: [{ name: "x", data }], codec: "SNAPPY" })));
    expect((await readParquetTable(path)).rowCount).toBe(500);
    const reading = (): Promise<unknown> => readParquetTable(path, { ...tableLimits, pageBytes: 3999 });
    await expectError(reading, "FILE_FORMAT", /page\.parquet is damaged, or uses a Parquet feature/);
  });
});

describe("a hostile footer", () => {
  test("a number without an end: its square would take hours", async () => {
    // Field 3, a 64-bit integer of ten million bytes.
    const footer = Buffer.alloc(10_000_002, 0x80);
    footer[0] = 0x36;
    await expectError(
      () => readParquetTable(withFooter("endless.parquet", footer)),
      "FILE_FORMAT",
      /endless\.parquet (takes longer to read than a file of its size may|is not a Parquet file)/,
    );
  });

  test("structures within structures", async () => {
    const path = withFooter("deep.parquet", Buffer.alloc(300_000, 0x1c));
    await expectError(() => readParquetTable(path), "FILE_FORMAT", /deep\.parquet is not a Parquet file/);
  });

  test("a list of more elements than there is memory for", async () => {
    const footer = Buffer.from([0x29, 0xfc, 0xff, 0xff, 0xff, 0x7f, 0x00]);
    const path = withFooter("list.parquet", footer);
    await expectError(() => readParquetTable(path), "FILE_FORMAT", /list\.parquet/);
  });

  test.each([0, 1, 4, 8, 11])("only %i bytes", async (length) => {
    const path = join(folder, `short-${length}.parquet`);
    writeFileSync(path, readFileSync(three).subarray(0, length));
    await expectError(() => readParquetTable(path), "FILE_FORMAT", /short-\d+\.parquet is not a Parquet file/);
  });
});
