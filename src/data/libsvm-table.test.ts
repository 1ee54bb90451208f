import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { numericColumn } from "./columns.ts";
import { readCsvText } from "./csv-table.ts";
import { tableLimits } from "./limits.ts";
import type { TableReading } from "./table-reading.ts";

/** In pieces of a few characters, as from a file. */
async function* pieces(text: string, size = 7): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

const read = (text: string, reading: TableReading = {}, limits = tableLimits) =>
  readCsvText("a.txt", pieces(text), limits, reading);

describe("LIBSVM's text format", () => {
  test("is recognised by its first line: features by their indices, what is absent is missing", async () => {
    const table = await read("1 0:2.5 3:1e2\n\n0 3:7 # a comment\r\n-1 1:0 0:-4\n");
    expect(table.names).toEqual(["row", "label", "f0", "f1", "f2", "f3"]);
    expect(table.columns[0]).toEqual(["1", "2", "3"]);
    expect(table.columns[1]).toEqual(["1", "0", "-1"]);
    expect([...numericColumn(table, 2, new Set())]).toEqual([2.5, NaN, -4]);
    expect([...numericColumn(table, 3, new Set())]).toEqual([NaN, NaN, 0]);
    expect([...numericColumn(table, 4, new Set())]).toEqual([NaN, NaN, NaN]);
    expect([...numericColumn(table, 5, new Set())]).toEqual([100, 7, NaN]);
    expect([0, 1, 2].map((row) => table.lineOf(row))).toEqual([1, 3, 4]);
    expect(table.aside).toEqual(["row", "label"]);
  });

  test("weights and queries have separate columns, which are not features by default", async () => {
    const table = await read("1:0.5 qid:3 0:1\n0 qid:3 0:2\n");
    expect(table.names).toEqual(["row", "label", "weight", "qid", "f0"]);
    expect(table.columns.slice(2)).toEqual([
      ["0.5", "1"],
      ["3", "3"],
      ["1", "2"],
    ]);
    expect(table.aside).toEqual(["row", "label", "weight", "qid"]);
  });

  test("CSV is not mistaken for it, unless the format is given", async () => {
    expect((await read("at,what\n12:30 4:1,x\n")).names).toEqual(["at", "what"]);
    expect((await read("a b:c\n1\n")).names).toEqual(["a b:c"]);
    expect((await read("1 0:2\n", { format: "csv", header: false })).names).toEqual(["f0"]);
    await expectError(() => read("a,b\n1,2\n", { format: "libsvm" }), "FILE_FORMAT", /has labels but no features/);
  });

  test.each([
    ["1 0:1\n0 1:2 word\n", /a\.txt, line 2: .*index:value/],
    ["1 0:1\n0 -1:2\n", /line 2: .*index:value/],
    ["1 0:1\n0 0:\n", /line 2: .*index:value/],
    ["1 0:1\n0 4:1 4:2\n", /line 2: a feature stands there twice/],
    ["1 0:1\n0 65536:1\n", /line 2: a feature has an index of 65536 or above/],
    ["1 0:1\n0:1:1 0:1\n", /line 2: the label must be a number, or label:weight/],
    ["# nothing\n", /is empty/],
  ])("%j is refused, with its line and without its cells", async (text, message) => {
    await expectError(() => read(text, { format: "libsvm" }), "FILE_FORMAT", message);
  });

  test("few lines with high indices do not exceed the memory limit", async () => {
    const limits = { ...tableLimits, memoryBytes: 10_000 };
    const text = "1 0:1\n".repeat(3) + "1 900:1\n";
    await expectError(() => read(text, {}, limits), "FILE_FORMAT", /line 4: the table does not fit into memory/);
    await expectError(() => read(text, {}, { ...tableLimits, rows: 2 }), "FILE_FORMAT", /line 3: .*over 2 rows/);
    const long = { ...tableLimits, rowChars: 50 };
    await expectError(() => read(`1 0:1\n1 ${"0".repeat(99)}`, {}, long), "FILE_FORMAT", /over 50 characters/);
  });
});
