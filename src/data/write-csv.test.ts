import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedCount } from "../../test/support/campaign.ts";
import { readCsvTable } from "./csv-table.ts";
import { writeCsv } from "./write-csv.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-write-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Text that is as awkward as CSV cells get; a zero byte is not text. */
const awkwardCell = fc.oneof(
  fc.string({
    unit: fc.constantFrom('"', ",", ";", "\t", "\n", "\r", " ", "a", "é", "\uFEFF", "'", "#", "7"),
    maxLength: 8,
  }),
  fc.string({ unit: "grapheme", maxLength: 6 }).filter((text) => !text.includes("\0")),
);
const nameList = fc.uniqueArray(
  awkwardCell.map((text) => text.trim()).filter((text) => text !== ""),
  { minLength: 1, maxLength: 5 },
);
const awkwardTable = nameList.chain((names) => {
  const lone = names.length === 1;
  const cell = lone ? awkwardCell.filter((text) => text.trim() !== "") : awkwardCell;
  const row = fc.array(cell, { minLength: names.length, maxLength: names.length });
  return fc.record({ names: fc.constant(names), rows: fc.array(row, { minLength: 1, maxLength: 6 }) });
});

describe("writeCsv", () => {
  it("gives readCsvTable back the same cells", async () => {
    const path = join(folder, "round-trip.csv");
    await fc.assert(
      fc.asyncProperty(awkwardTable, async ({ names, rows }) => {
        const columns = names.map((_, column) => rows.map((row) => row[column]));
        await writeCsv(path, names, columns);
        const table = await readCsvTable(path);
        expect(table.names).toEqual(names);
        expect(table.columns).toEqual(columns);
        const text = await readFile(path, "utf8");
        // A row's line: one more than the line breaks before its first cell.
        const before = [names, ...rows.slice(0, -1)].flat().join("").split("\n").length - 1;
        expect(table.lineOf(rows.length - 1), text).toBe(1 + rows.length + before);
      }),
      { numRuns: seedCount({ test: 60, campaign: 200 }) },
    );
  });

  it("quotes only where needed", async () => {
    const path = join(folder, "plain.csv");
    await writeCsv(
      path,
      ["", "b"],
      [
        ["1", 'say "x"'],
        ["", "a,b"],
      ],
    );
    expect(await readFile(path, "utf8")).toBe(',b\n1,\n"say ""x""","a,b"\n');
  });

  it("writes tables larger than one chunk", async () => {
    const path = join(folder, "large.csv");
    const cells = Array.from({ length: 40_000 }, (_, i) => `cell ${i}`);
    await writeCsv(path, ["a", "b"], [cells, cells]);
    expect((await readCsvTable(path)).columns).toEqual([cells, cells]);
  });

  it.skipIf(process.platform === "win32")("applies the mode, also to a file that was there before", async () => {
    const path = join(folder, "private.csv");
    await writeFile(path, "an older and longer file", { mode: 0o644 });
    await writeCsv(path, ["a"], [["1"]], { mode: 0o600 });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).toBe("a\n1\n");
  });

  it("names a file that cannot be written", async () => {
    const path = join(folder, "no-such-folder", "x.csv");
    await expect(writeCsv(path, ["a"], [["1"]])).rejects.toMatchObject({
      name: "TandemError",
      message: `${path} cannot be written (ENOENT)`,
    });
  });

  it("asserts that the table is one", async () => {
    const path = join(folder, "wrong.csv");
    await expect(writeCsv(path, ["a"], [])).rejects.toThrow("one name per column");
    await expect(writeCsv(path, ["a", "b"], [["1"], []])).rejects.toThrow("columns of one length");
    await expect(writeCsv(path, ["a"], [["1", ""]])).rejects.toThrow("no empty cell in a table of one column");
  });
});
