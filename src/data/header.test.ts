import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { columnIndex, numericColumn } from "./columns.ts";
import type { TableReading } from "./table-reading.ts";
import { readTable } from "./table-source.ts";

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "tandem-header-"))));
afterAll(() => rm(folder, { recursive: true }));

async function read(text: string | Buffer, reading: TableReading = {}, name = "rows.csv") {
  const path = join(folder, name);
  await writeFile(path, text);
  const notices: string[] = [];
  const table = await readTable({ path }, reading, (words) => notices.push(words));
  return { table, notices };
}

describe("a CSV file without a header", () => {
  test("its first line is a row, and columns are named as XGBoost names them", async () => {
    const { table, notices } = await read("5.1,3.5,a\n4.9,,b\n", { header: false });
    expect(table.names).toEqual(["f0", "f1", "f2"]);
    expect(table.rowCount).toBe(2);
    expect([0, 1].map((row) => table.lineOf(row))).toEqual([1, 2]);
    expect([...numericColumn(table, 1, new Set())]).toEqual([3.5, NaN]);
    expect(columnIndex(table, "f2")).toBe(2);
    expect(notices).toEqual([]);
    await expectError(
      () => read("1,2\n3\n", { header: false }),
      "FILE_FORMAT",
      /line 2: has 1 cell, .*first row has 2/,
    );
  });

  test.each(["5.1,3.5,setosa\n4.9,3,setosa\n", "17,2\n18,3\n", "1,0.5\n2,0.25\n"])(
    "taken as one with a header, %j is noticed, without a cell in the message",
    async (text) => {
      const { notices, table } = await read(text);
      expect(notices).toEqual([expect.stringMatching(/rows\.csv: the first line.*looks like a row\. .*--no-header/)]);
      expect(notices[0]).not.toMatch(/5\.1|setosa|17|0\.5/);
      await expectError(
        () => numericColumn({ ...table, columns: [["x"]], rowCount: 1 }, 0, new Set()),
        "CELL_UNPARSABLE",
        /column #0:/,
      );
    },
  );

  test("a header that was asked for is not questioned", async () => {
    const { table, notices } = await read("17,2\n18,3\n", { header: true });
    expect([table.names, table.rowCount, notices]).toEqual([["17", "2"], 1, []]);
  });

  test.each([
    "id,y\n1,2\n",
    "0,1,2\n5,6,7\n",
    ",0,1\n0,5,6\n",
    "1,2,3\n5,6,7\n",
    "id,2001,2002\n7,1,2\n",
    "a,b\nx,y\n",
  ])("%j has one", async (text) => {
    expect((await read(text)).notices).toEqual([]);
  });

  test("names that repeat are refused, with what helps; a number is not shown", async () => {
    await expectError(() => read("7,7,3\n1,2,3\n"), "FILE_FORMAT", /^(?!.*'7').*line 1.*#0 and #1\)\. .*--no-header/);
    await expectError(
      () => read("a,a\n1,2\n"),
      "FILE_FORMAT",
      /two columns are named 'a' \(#0 and #1\)\. .*--no-header/,
    );
  });
});

test.each([
  ["ARROW1\0\0abc", /an Arrow file \(Feather\).*Save it as Parquet/],
  ["FEA1", /a Feather file.*Save it as Parquet/],
  ["PAR1", /a Parquet file.*\.parquet.*--format parquet/],
  ["BZh91AY", /bzip2.*gzip/],
])("what cannot be CSV is named: %j", async (text, message) => {
  await expectError(() => read(text), "FILE_FORMAT", message);
});

test("a format that is named counts, whatever the file is called", async () => {
  await expectError(() => read("a,b\n", { format: "parquet" }), "FILE_FORMAT", /not a Parquet file/);
  const { table } = await read("a,b\n1,2\n", { format: "csv" }, "rows.parquet");
  expect(table.names).toEqual(["a", "b"]);
});
