/** Malicious tables. Limits are lowered where reaching the real ones would take long. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { readCsvTable, readCsvText } from "./csv-table.ts";
import { type TableLimits, tableLimits } from "./limits.ts";

const folder = scratchDirectory();

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  yield* texts.map((text) => Buffer.from(text));
}

const read = (text: string, changed: Partial<TableLimits> = {}): Promise<unknown> =>
  readCsvText("x.csv", pieces(...(text.match(/[^]{1,65536}/g) ?? [])), { ...tableLimits, ...changed });

function file(name: string, contents: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, contents);
  return path;
}

describe("limits", () => {
  test.each<[string, string, Partial<TableLimits>, RegExp]>([
    ["rows", "id\n1\n2\n3\n", { rows: 2 }, /^x\.csv, line 4: there are over 2 rows/],
    ["columns", "a,b,c\n1,2,3\n", { columns: 2 }, /^x\.csv, line 1: the header has over 2 columns/],
    ["a cell", "a,b\n1,12345\n", { cellChars: 4 }, /^x\.csv, line 2: the cell of column #1 has over 4 characters/],
    ["a name", "a,bcdef\n1,1\n", { cellChars: 4 }, /^x\.csv, line 1: the cell of column #1 has over 4 characters/],
    ["blank lines", `a\n1\n${"\n".repeat(9)}2\n`, { blankLines: 7 }, /^x\.csv, line 11: there are over 8 blank lines/],
    ["memory", "a,b\nxx,yy\n", { memoryBytes: 40 }, /^x\.csv, line 3: the table does not fit.*max-old-space-size/],
  ])("%s", async (_what, text, changed, says) => {
    await expectError(() => read(text, changed), "FILE_FORMAT", says);
    await read(text);
  });

  test("as many as allowed are read", async () => {
    const exact = { rows: 2, columns: 2, cellChars: 4, blankLines: 1 };
    expect(await read("a,b\n1,2\n\n\n1234,\n\n", exact)).toMatchObject({ rowCount: 2 });
  });
});

describe("bombs", () => {
  test.each<[string, string, RegExp]>([
    ["a first line without an end", "a".repeat(5_000_000), /no header within 4194304 characters/],
    [
      "a quote without an end",
      `a,b\n1,"${"x".repeat(5_000_000)}`,
      /line 2: a row of over 4194304 characters; is a quote/,
    ],
    ["quotes within quotes", `a,b\n1,${'"'.repeat(5_000_001)}`, /line 2: a (row of over|quote \("\) is not closed)/],
    ["commas without an end", `a,b\n${",".repeat(5_000_000)}`, /line 2: (a row of over|has \d+ cells)/],
    ["a million columns", `${Array.from({ length: 500_000 }, (_, i) => i).join(",")}\n1\n`, /over 65536 columns/],
    ["blank lines", `a\n${"\n".repeat(3_000_000)}`, /there are over 1048576 blank lines/],
    ["blank lines before the header", `${"\n".repeat(5_000_000)}a\n1\n`, /no header within/],
    ["blanks of other kinds", `a\r${"\r".repeat(2_000_000)}`, /there are over 1048576 blank lines/],
    ["a row of another length", `a,b\n${"1,2\n".repeat(100_000)}3\n`, /line 100002: has 1 cell, but the header has 2/],
  ])("%s", async (_what, text, says) => {
    await expectError(() => read(text), "FILE_FORMAT", says);
  });

  test("line breaks that were nearly nothing before", async () => {
    const table = Buffer.concat([Buffer.from("id,x\n1,2\n"), Buffer.alloc(1 << 21, "\n")]);
    const path = file("breaks.csv.gz", gzipSync(table, { level: 9 }));
    await expectError(() => readCsvTable(path), "FILE_FORMAT", /breaks\.csv\.gz, line \d+: there are over \d+ blank/);
    const patient = { ...tableLimits, blankLines: Infinity, ratioFreeBytes: 1 << 20 };
    await expectError(() => readCsvTable(path, patient), "FILE_FORMAT", /decompresses to over 900 times its size/);
  });

  test("a table that is mostly zeros is no bomb", async () => {
    const zeros = ",0".repeat(3000);
    const rows = Array.from({ length: 3000 }, (_, i) => `${createHash("md5").update(`${i}`).digest("hex")}${zeros}\n`);
    const names = Array.from({ length: 3000 }, (_, i) => `,c${i}`).join("");
    const path = file("sparse.csv.gz", gzipSync(`id${names}\n${rows.join("")}`));
    expect((await readCsvTable(path)).rowCount).toBe(3000);
  });

  test("gzip in gzip", async () => {
    const path = file("twice.csv.gz", gzipSync(gzipSync("id\n1\n")));
    await expectError(() => readCsvTable(path), "FILE_FORMAT", /twice\.csv\.gz is compressed twice/);
  });

  test("bytes that are no text", async () => {
    await expectError(() => readCsvTable(file("nul.csv", "id\n1\n\0\n")), "FILE_FORMAT", /nul\.csv.*zero bytes/);
    const latin = file("latin.csv", Buffer.from("id\nM\u00fcller\n", "latin1"));
    await expectError(() => readCsvTable(latin), "FILE_FORMAT", /latin\.csv is not UTF-8/);
    const cut = file("cut.csv", Buffer.from("id\nM\u00fc", "utf8").subarray(0, -1));
    await expectError(() => readCsvTable(cut), "FILE_FORMAT", /cut\.csv is not UTF-8/);
    const wide = file("wide.csv", Buffer.from("\ufeffid\n1\n", "utf16le"));
    await expectError(() => readCsvTable(wide), "FILE_FORMAT", /wide\.csv is not UTF-8/);
  });

  test("one byte order mark is none, a second one is text; carriage returns alone end lines", async () => {
    const path = file("marks.csv", "\ufeff\ufeffid,x\r1,2\r3,4\r");
    expect(await readCsvTable(path)).toMatchObject({
      names: ["id", "x"],
      columns: [
        ["1", "3"],
        ["2", "4"],
      ],
    });
  });
});
