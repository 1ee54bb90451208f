import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "../base/error.ts";
import { readCsvTable, type CsvTable } from "./csv-table.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-csv-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function tableOf(content: string | Uint8Array, name = "table.csv"): Promise<CsvTable> {
  const path = join(folder, name);
  await writeFile(path, content);
  return readCsvTable(path);
}

async function expectError(
  content: string | Uint8Array,
  code: ErrorCode,
  message: RegExp,
  name?: string,
): Promise<void> {
  await expect(tableOf(content, name)).rejects.toMatchObject({
    name: "TandemError",
    code,
    message: expect.stringMatching(message),
  });
}

function linesOf(table: CsvTable): number[] {
  return Array.from({ length: table.rowCount }, (_, row) => table.lineOf(row));
}

describe("readCsvTable", () => {
  it("keeps raw cells by column, with names and lines", async () => {
    const table = await tableOf("id,age, city \nA, 31 ,NA\nB,,x\n");
    expect(table.names).toEqual(["id", "age", "city"]);
    expect(table.columns).toEqual([
      ["A", "B"],
      [" 31 ", ""],
      ["NA", "x"],
    ]);
    expect(table.rowCount).toBe(2);
    expect(linesOf(table)).toEqual([2, 3]);
  });

  it("reads gzip by name and by content", async () => {
    const packed = gzipSync("a,b\n1,2\n");
    expect((await tableOf(packed, "packed.csv.gz")).columns).toEqual([["1"], ["2"]]);
    expect((await tableOf(packed, "misnamed.csv")).columns).toEqual([["1"], ["2"]]);
  });

  it("drops a byte order mark, also before a quoted name", async () => {
    expect((await tableOf("\uFEFFid,a\n1,2\n")).names).toEqual(["id", "a"]);
    expect((await tableOf('\uFEFF"id","a"\n1,2\n')).names).toEqual(["id", "a"]);
  });

  it("allows the first column to have no name", async () => {
    expect((await tableOf(",y\n1,0\n")).names).toEqual(["", "y"]);
    expect((await tableOf('"",y\n1,0\n')).names).toEqual(["", "y"]);
  });

  it.each([["\n"], ["\r\n"], ["\r"]])(
    "counts lines after blank lines and quoted line breaks with %j",
    async (newline) => {
      const lines = ["", "a,b", '1,"x', "", 'y"', "", "2,z", "  ", '3,"say ""hi"", you"'];
      const table = await tableOf(lines.join(newline));
      expect(table.columns).toEqual([
        ["1", "2", "3"],
        [`x${newline}${newline}y`, "z", 'say "hi", you'],
      ]);
      expect(linesOf(table)).toEqual([3, 7, 9]);
    },
  );

  it("takes the separator from the header", async () => {
    expect((await tableOf("a;b;c,d\n1;2;3,4\n")).names).toEqual(["a", "b", "c,d"]);
    expect((await tableOf("a\tb\n1\t2\n")).columns).toEqual([["1"], ["2"]]);
    expect((await tableOf('"a;b;c","d"\n1,2\n')).names).toEqual(["a;b;c", "d"]);
    expect((await tableOf('size 5",b\n1,2\n')).names).toEqual(['size 5"', "b"]);
  });

  it("reads a single column", async () => {
    expect((await tableOf("a\n1\n2")).columns).toEqual([["1", "2"]]);
  });

  it("joins chunks: a table of many reads, with multi-byte and quoted cells across their borders", async () => {
    const rows = Array.from({ length: 30_000 }, (_, i) => [
      `é${i}`,
      i % 3 === 0 ? `"q,""${i}""\r\nr"` : `p${i}`,
      `"${i}"`,
    ]);
    const table = await tableOf(`id,a,b\r\n${rows.map((row) => row.join(",")).join("\r\n")}\r\n`);
    expect(table.rowCount).toBe(30_000);
    expect(table.columns[0].every((cell, i) => cell === `é${i}`)).toBe(true);
    expect(table.columns[1].every((cell, i) => cell === (i % 3 === 0 ? `q,"${i}"\r\nr` : `p${i}`))).toBe(true);
    expect(table.columns[2].every((cell, i) => cell === String(i))).toBe(true);
    expect(table.lineOf(29_999)).toBe(2 + 29_999 + 10_000);
  });

  it("loads 150,000 rows of 12 columns", async () => {
    const line = `${Array.from({ length: 12 }, (_, i) => `${i}.5`).join(",")}\n`;
    const content = `${Array.from({ length: 12 }, (_, i) => `c${i}`).join(",")}\n${line.repeat(150_000)}`;
    expect((await tableOf(content)).rowCount).toBe(150_000);
  });
});

describe("readCsvTable refuses", () => {
  it("a missing file and a folder", async () => {
    const path = join(folder, "absent.csv");
    await expect(readCsvTable(path)).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
      message: `${path}: no such file`,
    });
    await expect(readCsvTable(folder)).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
      message: `${folder} is a folder, not a file`,
    });
  });

  it("an empty file, blank lines only, and a header only", async () => {
    await expectError("", "FILE_FORMAT", /table\.csv is empty$/);
    await expectError("\uFEFF\n \n", "FILE_FORMAT", /table\.csv is empty$/);
    await expectError("", "FILE_FORMAT", /table\.csv\.gz is empty$/, "table.csv.gz");
    await expectError("a,b", "FILE_FORMAT", /table\.csv has a header but no rows$/);
    await expectError("a,b\n\n", "FILE_FORMAT", /table\.csv has a header but no rows$/);
  });

  it("rows with too few or too many cells, by line", async () => {
    await expectError("a,b\n1,2\n3\n", "FILE_FORMAT", /table\.csv, line 3: has 1 cell, but the header has 2$/);
    await expectError(
      'a,b\n"1\n\n",2\n\n3,4,5\n',
      "FILE_FORMAT",
      /table\.csv, line 6: has 3 cells, but the header has 2$/,
    );
    const late = `a,b\n${"1,2\n".repeat(200_000)}3\n`;
    await expectError(late, "FILE_FORMAT", /line 200002: has 1 cell,/);
  });

  it("duplicate and missing column names", async () => {
    await expectError(
      "id,age,b, age\n1,2,3,4\n",
      "FILE_FORMAT",
      /table\.csv, line 1: two columns are named 'age' \(#1 and #3\)\. .*--no-header/,
    );
    await expectError("id,,b\n1,2,3\n", "FILE_FORMAT", /line 1: column #1 of the header has no name\. .*--no-header/);
  });

  it("quotes left open or followed by text, without showing the cell", async () => {
    await expectError('a,b\n1,2\n3,"secret\n5,6\n', "FILE_FORMAT", /^(?!.*secret).*line 3: a quote/);
    await expectError('a,b\n1,2\n"secret"x,4\n5,6\n', "FILE_FORMAT", /^(?!.*secret).*line 3: a quote/);
    await expectError(
      `a,b\n1,2\n3,"open\n${"5,6\n".repeat(1_500_000)}`,
      "FILE_FORMAT",
      /line 3: a row of over \d+ characters; is a quote/,
    );
  });

  it("files that are not text, or damaged", async () => {
    await expectError(
      "a,b\n1,2\n",
      "FILE_FORMAT",
      /plain\.csv\.gz is named \.gz but is not gzip-compressed$/,
      "plain.csv.gz",
    );
    const packed = gzipSync(`a,b\n${"1,2\n".repeat(10_000)}`);
    await expectError(packed.subarray(0, packed.length - 20), "FILE_FORMAT", /damaged or cut off/, "cut.csv.gz");
    const corrupt = Buffer.from(packed);
    corrupt.fill(0xaa, 20, 40);
    await expectError(corrupt, "FILE_FORMAT", /damaged or cut off/, "corrupt.csv.gz");
    await expectError(Buffer.from("a,b\n1,\0\n"), "FILE_FORMAT", /zero bytes/);
    const parquet = Buffer.concat([Buffer.from("PAR1"), Buffer.from([0x15, 0xff])]);
    await expectError(
      parquet,
      "FILE_FORMAT",
      /t\.parquet is a Parquet file, not CSV\. Let its name end in/,
      "t.parquet",
    );
    const sheet = Buffer.from("PK\u0003\u0004\0");
    await expectError(sheet, "FILE_FORMAT", /t\.xlsx is a spreadsheet or a ZIP archive, not CSV\. Save/, "t.xlsx");
    await expectError(Buffer.from("a,b\n1,caf\xe9\n", "latin1"), "FILE_FORMAT", /not UTF-8/);
    await expectError(Buffer.concat([Buffer.from("a,b\n1,x"), Buffer.from([0xc3])]), "FILE_FORMAT", /not UTF-8/);
  });
});
