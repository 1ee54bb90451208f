/** A kept table has the cells, numbers and messages of the same table as strings. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { seedCount } from "../../test/support/campaign.ts";
import { scratchDirectory } from "../../test/support/command.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { SeededRandom } from "../base/random.ts";
import { CategoryBook } from "./category-book.ts";
import type { CsvTable } from "./csv-table.ts";
import { featureColumns } from "./feature-columns.ts";
import { KeptSink, readKeptTable } from "./kept-table.ts";
import { tableLimits } from "./limits.ts";
import { streamParquet } from "./parquet-table.ts";
import { readTable } from "./table-source.ts";
import { csvChunks, writeCsv } from "./write-csv.ts";

const folder = scratchDirectory();
const path = join(folder, "table.csv");
const copy = join(folder, "copy.csv");

const words = [
  "1",
  "-0",
  "2.5e3",
  " 7 ",
  "",
  "NA",
  "?",
  "é",
  "日本",
  "x".repeat(40),
  '"a,b"',
  '"say ""x"""',
  '" 3"',
  "1e39",
];

function csv(random: SeededRandom): string {
  const columns = 2 + random.below(4);
  // Some columns have nothing but numbers.
  const choices = Array.from({ length: columns }, () => (random.below(2) === 0 ? 7 : words.length));
  const row = (): string => choices.map((count) => words[random.below(count)]).join(",");
  return `${choices.map((_, i) => `c${i}`).join(",")}\n${Array.from({ length: 80 }, row).join("\n")}\n`;
}

/** All that is made of a table: features and notices, or the message of an error. */
function read(table: CsvTable, text: "categories" | "refuse"): unknown {
  const notices: string[] = [];
  const book = new CategoryBook();
  const columns = [...table.names.keys()];
  const wanted = { columns, names: table.names, missing: ["?"], categorical: [], text, book };
  try {
    return [featureColumns(table, { ...wanted, notice: (words) => notices.push(words) }), notices];
  } catch (error) {
    return String(error);
  }
}

test("random tables: the same cells, features, notices and errors", async () => {
  const random = new SeededRandom("kept");
  for (let round = 0; round < seedCount({ test: 30, campaign: 2000 }); round++) {
    writeFileSync(path, csv(random));
    const [kept, strings] = [await readKeptTable({ path }), await readTable({ path })];
    expect([...kept.columns]).toEqual(strings.columns);
    for (const text of ["categories", "refuse"] as const) expect(read(kept, text)).toEqual(read(strings, text));
    const rows = Uint32Array.from({ length: 200 }, () => random.below(80));
    const selected = kept.kept.map((cells) => cells.select(rows));
    await writeCsv(copy, kept.names, selected);
    const ofStrings = strings.columns.map((column) => Array.from(rows, (row) => column[row]));
    expect(selected.map((column) => [...column])).toEqual(ofStrings);
    expect(readFileSync(copy, "utf8")).toBe([...csvChunks(strings.names, ofStrings)].join(""));
  }
});

test("a cell longer than what is written at once", async () => {
  const long = "7".repeat((1 << 18) + 3);
  writeFileSync(path, `a,b\n1,${long}\n${long},2\n`);
  const { names, kept } = await readKeptTable({ path });
  await writeCsv(
    copy,
    names,
    kept.map((cells) => cells.select(Uint32Array.of(0, 1, 1))),
  );
  expect(readFileSync(copy, "utf8")).toBe(`a,b\n1,${long}\n${long},2\n${long},2\n`);
});

test("Parquet: numbers and texts", async () => {
  const parquet = join(folder, "both.parquet");
  const columnData = [
    { name: "x", data: [0.1, -1.5e-7, null, 3], type: "DOUBLE" as const },
    { name: "name", data: ["ü", "", "b", "日本"], type: "STRING" as const },
  ];
  writeFileSync(parquet, Buffer.from(parquetWriteBuffer({ columnData })));
  const [kept, strings] = [await readKeptTable({ path: parquet }), await readTable({ path: parquet })];
  expect([...kept.columns]).toEqual(strings.columns);
  expect(read(kept, "categories")).toEqual(read(strings, "categories"));
  await expectError(
    () => streamParquet(parquet, new KeptSink(), { ...tableLimits, memoryBytes: 20 }),
    "FILE_FORMAT",
    /does not fit into memory/,
  );
});
