import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { columnIndex, idColumn, numericColumn } from "./columns.ts";
import { readTable, tableVersion } from "./table-source.ts";

const folder = scratchDirectory();

type Column = { readonly name: string; readonly data: readonly unknown[]; readonly type?: string };

function parquet(
  name: string,
  columns: readonly Column[],
  options: { readonly codec?: "SNAPPY" | "UNCOMPRESSED"; readonly rowGroupSize?: number } = {},
): string {
  const path = join(folder, name);
  const columnData = columns.map((column) => ({ ...column })) as Parameters<typeof parquetWriteBuffer>[0]["columnData"];
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, ...options })));
  return path;
}

describe("Parquet", () => {
  const numbers = [0.1, -1.5e-7, 3, null, 1e30];
  const columns: Column[] = [
    { name: "id", data: ["a", "b", "ü", "d", "e"], type: "STRING" },
    { name: "x", data: numbers, type: "DOUBLE" },
    { name: "n", data: [1n, 2n, 9007199254740993n, -4n, 5n], type: "INT64" },
    { name: "flag", data: [true, false, true, null, false], type: "BOOLEAN" },
  ];

  test.each(["SNAPPY", "UNCOMPRESSED"] as const)("%s: the same cells as the same table in CSV", async (codec) => {
    const table = await readTable({ path: parquet(`good-${codec}.parquet`, columns, { codec, rowGroupSize: 2 }) });
    expect(table.names).toEqual(["id", "x", "n", "flag"]);
    expect(table.rowCount).toBe(5);
    expect(idColumn(table, "id")).toEqual(["a", "b", "ü", "d", "e"]);
    expect(numericColumn(table, 1, new Set())).toEqual(Float32Array.from(numbers, (value) => value ?? Number.NaN));
    expect(table.columns[2][2]).toBe("9007199254740993");
    expect(table.columns[3]).toEqual(["1", "0", "1", "", "0"]);
  });

  test("messages name file and row", async () => {
    const path = parquet("bad.parquet", [
      { name: "id", data: ["a", "b", "a"] },
      { name: "x", data: ["1", "2", "secret"] },
    ]);
    const table = await readTable({ path });
    await expectError(
      () => numericColumn(table, columnIndex(table, "x"), new Set()),
      "CELL_UNPARSABLE",
      /bad\.parquet, row 3, column 'x'(?!.*secret)/,
    );
    await expectError(() => idColumn(table, "id"), "ID_DUPLICATE", /bad\.parquet: rows 1 and 3 have the same id/);
    await expectError(() => columnIndex(table, "y"), "COLUMN_UNKNOWN", /bad\.parquet has no column 'y'/);
  });

  test("what is no Parquet file, is cut off, or is not there", async () => {
    const path = join(folder, "text.parquet");
    writeFileSync(path, "id,x\n1,2\n");
    await expectError(() => readTable({ path }), "FILE_FORMAT", /text\.parquet is not a Parquet file/);
    await expectError(
      () => readTable({ path: join(folder, "none.parquet") }),
      "FILE_UNREADABLE",
      /none\.parquet: no such file/,
    );
    await expectError(() => readTable({ path: [folder] }), "FILE_UNREADABLE", /is a folder/);
  });
});

describe("a command", () => {
  const print = (script: string): { command: string[] } => ({ command: [process.execPath, "-e", script] });

  test("its standard output is the table; nothing is interpreted by a shell", async () => {
    const table = await readTable({
      command: [process.execPath, "-e", "console.log('id,x\\n1,' + process.argv[1])", "$HOME; `x`"],
    });
    expect(table.columns).toEqual([["1"], ["$HOME; `x`"]]);
  });

  test("errors", async () => {
    await expectError(
      () => readTable(print("console.log('id\\n1'); console.error('no such database'); process.exit(3)")),
      "FILE_UNREADABLE",
      /ended with exit code 3: no such database/,
    );
    await expectError(
      () => readTable({ command: ["tandem-no-such-program"] }),
      "FILE_UNREADABLE",
      /tandem-no-such-program.*cannot be started \(ENOENT\)/,
    );
    await expectError(() => readTable(print("console.log('id,x\\n1,2\\n3')")), "FILE_FORMAT", /line 3: has 1 cell/);
    await expectError(() => readTable(print("")), "FILE_FORMAT", /is empty/);
  });

  test("may always give something new; a file only when it has changed", async () => {
    expect(await tableVersion(print(""))).toBeNull();
    const path = join(folder, "v.csv");
    writeFileSync(path, "id\n1\n");
    const version = await tableVersion({ path });
    expect(await tableVersion({ path })).toBe(version);
    writeFileSync(path, "id\n1\n2\n");
    expect(await tableVersion({ path })).not.toBe(version);
  });
});
