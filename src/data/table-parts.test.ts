import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { numericColumn } from "./columns.ts";
import { readTable, tableVersion } from "./table-source.ts";

const scratch = scratchDirectory();

function folder(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  const path = join(scratch, name);
  mkdirSync(path, { recursive: true });
  for (const [file, contents] of Object.entries(files)) writeFileSync(join(path, file), contents);
  return path;
}

function parquet(...columns: [name: string, data: unknown[], type?: "STRING" | "INT32"][]): Buffer {
  const columnData = columns.map(([name, data, type]) => ({ name, data, ...(type ? { type } : {}) }));
  return Buffer.from(parquetWriteBuffer({ columnData }));
}

describe("a folder of parts is one table", () => {
  const kinds: Record<string, string> = {
    parquet: folder("parquet", {
      "part-10.parquet": parquet(["id", ["d"]], ["x", [4]]),
      "part-00.parquet": parquet(["id", ["a", "b"]], ["x", [1, 2]]),
      "part-01.parquet": parquet(["id", ["c"]], ["x", ["three"]]),
      "part-02.parquet": parquet(["id", [], "STRING"], ["x", [], "INT32"]),
      _SUCCESS: "",
      ".part-00.parquet.crc": "?",
      "readme.txt": "not a part",
    }),
    csv: folder("csv", {
      "part-10.csv": "id,x\nd,4\n",
      "part-00.csv": "id,x\na,1\nb,2\n",
      "part-01.csv.gz": gzipSync("id,x\r\n\r\nc,three\r\n"),
      "part-02.csv": "id,x\n",
    }),
  };

  test.each(["parquet", "csv"])("%s: by name, without what is none of them", async (kind) => {
    const table = await readTable({ path: kinds[kind] });
    expect(table).toMatchObject({ path: kinds[kind], names: ["id", "x"], rowCount: 4 });
    expect(table.columns).toEqual([
      ["a", "b", "c", "d"],
      ["1", "2", "three", "4"],
    ]);
  });

  test.each([
    ["parquet", /part-01\.parquet, row 1, column 'x': the cell is text/],
    ["csv", /part-01\.csv\.gz, line 3, column 'x': the cell is text/],
  ])("%s: a wrong cell is named by its part and the place in it", async (kind, says) => {
    const table = await readTable({ path: kinds[kind] });
    await expectError(() => numericColumn(table, 1, new Set()), "CELL_UNPARSABLE", says);
  });

  test("a list has the order that it has", async () => {
    const path = ["part-10.csv", "part-00.csv"].map((name) => join(kinds["csv"], name));
    expect((await readTable({ path })).columns[0]).toEqual(["d", "a", "b"]);
  });

  test("another part, or a change in one, makes another version", async () => {
    const path = folder("versions", { "a.csv": "id\n1\n" });
    const before = await tableVersion({ path });
    expect(await tableVersion({ path })).toBe(before);
    folder("versions", { "b.csv": "id\n2\n" });
    const two = await tableVersion({ path });
    expect(two).not.toBe(before);
    folder("versions", { "b.csv": "id\n23\n" });
    expect(await tableVersion({ path })).not.toBe(two);
    expect(await tableVersion({ path: folder("none", {}) })).toBeNull();
  });
});

describe("invalid parts", () => {
  test.each<[string, Record<string, string | Uint8Array>, "FILE_FORMAT" | "FILE_UNREADABLE", RegExp]>([
    [
      "empty",
      { "notes.txt": "" },
      "FILE_UNREADABLE",
      /empty: the folder has no file named \.parquet, \.csv, \.csv\.gz/,
    ],
    [
      "fewer",
      { "a.csv": "id,x\n1,2\n", "b.csv": "id\n3\n" },
      "FILE_FORMAT",
      /b\.csv is not a part of the same table as .*a\.csv: its columns are 1, not 2/,
    ],
    [
      "renamed",
      { "a.csv": "id,x\n1,2\n", "b.csv": "id,y\n3,4\n" },
      "FILE_FORMAT",
      /b\.csv is not a part of the same table as .*a\.csv: its column #1 is 'y', not 'x'$/,
    ],
    [
      "without a header",
      { "a.csv": "id,x\n1,2\n", "b.csv": "secret,4\n" },
      "FILE_FORMAT",
      /b\.csv is not a part of the same table as .*a\.csv: its column #0 has another name$/,
    ],
    [
      "two kinds",
      { "a.csv": "id\n1\n", "b.parquet": parquet(["id", [2]]) },
      "FILE_FORMAT",
      /two kinds is Parquet and CSV at once: .*a\.csv and .*b\.parquet/,
    ],
    ["no rows", { "a.csv": "id\n", "b.csv": "id\n" }, "FILE_FORMAT", /no rows: none of its 2 parts has a row/],
    ["cut", { "a.parquet": parquet(["id", [2]]), "b.parquet": "PAR1" }, "FILE_FORMAT", /b\.parquet is not a Parquet/],
  ])("%s", async (name, files, code, says) => {
    await expectError(() => readTable({ path: folder(name, files) }), code, says);
  });

  test("a part that is not there, or twice", async () => {
    const path = join(folder("list", { "a.csv": "id\n1\n" }), "a.csv");
    await expectError(() => readTable({ path: [path, `${path}x`] }), "FILE_UNREADABLE", /a\.csvx: no such file/);
    await expectError(() => readTable({ path: [path, path] }), "FILE_FORMAT", /a\.csv is named twice/);
  });
});
