import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { tableLimits } from "../limits.ts";
import { TextSink } from "../table-sink.ts";
import { readTable } from "../table-source.ts";
import { streamSql } from "./duckdb-table.ts";

const name: string = "@duckdb/node-api";
const isInstalled = await import(name).then(
  () => true,
  () => false,
);
if (!isInstalled) console.warn(`DuckDB is not installed here (${name}): the tests with it are skipped`);

const folder = scratchDirectory();
mkdirSync(join(folder, "it's"));
writeFileSync(join(folder, "people.csv"), 'id,age,active\na,31,true\nb,,false\n"c, d",47,\n');
const columnData = [
  { name: "id", data: ["b", "a"] },
  { name: "ratio", data: [0.1, 1e30], type: "FLOAT" as const },
];
writeFileSync(join(folder, "it's", "ratios.parquet"), Buffer.from(parquetWriteBuffer({ columnData })));

const source = (query: string) => ({ sql: { query, folder } });
const reading = (query: string) => () => readTable(source(query));

test("without the package the message says what to install", async () => {
  const missing = Object.assign(new Error(`Cannot find package '${name}'`), { code: "ERR_MODULE_NOT_FOUND" });
  const load = (): Promise<never> => Promise.reject(missing);
  await expectError(
    () => streamSql({ query: "select 1", folder }, new TextSink(), { load }),
    "USAGE",
    /^data\.sql needs @duckdb\/node-api, which is not installed here; run: npm install @duckdb\/node-api$/,
  );
});

describe.skipIf(!isInstalled)("DuckDB", () => {
  test("joins files, and gives the cells that CSV would have", async () => {
    const table = await readTable(
      source(`select p.*, r.ratio, date '2020-01-31' as since, 12.50::decimal(9, 2) as sum
        from 'people.csv' p left join 'it''s/ratios.parquet' r using (id) order by id; `),
    );
    expect(table).toMatchObject({ path: "the SQL query", rowCount: 3, lineNoun: "row" });
    expect(table.names).toEqual(["id", "age", "active", "ratio", "since", "sum"]);
    expect(table.columns).toEqual([
      ["a", "b", "c, d"],
      ["31", "", "47"],
      ["1", "0", ""],
      ["1e+30", "0.1", ""],
      ["2020-01-31", "2020-01-31", "2020-01-31"],
      ["12.50", "12.50", "12.50"],
    ]);
  });

  test("more rows than a chunk, and names that need quotes", async () => {
    const table = await readTable(source('select i as "a ""b"" c" from range(5000) t(i) -- all of them'));
    expect(table.names).toEqual(['a "b" c']);
    expect(table.columns[0].at(-1)).toBe("4999");
  });

  test.each([
    ["no file", "select * from 'none.csv'", "FILE_UNREADABLE", /DuckDB says: IO Error: No files found.*none\.csv/],
    ["no table", "select * from people", "FILE_UNREADABLE", /DuckDB says: Catalog Error: Table.*people does not exist/],
    ["no syntax", "selec 1", "FILE_UNREADABLE", /DuckDB says: Parser Error: syntax error/],
    ["two statements", "select 1 as id; select 2 as id", "FILE_FORMAT", /is 2 statements, and must be one SELECT/],
    ["nothing", "-- nothing", "FILE_UNREADABLE", /the SQL query is none that DuckDB understands$/],
    ["writing", "copy (select 1 as id) to 'out.csv'", "FILE_UNREADABLE", /DuckDB says: Parser Error/],
    ["leaving the brackets", "select 1) to 'out.csv' --", "FILE_UNREADABLE", /DuckDB says: Parser Error/],
    ["making", "create table t as select 1 as id", "FILE_UNREADABLE", /DuckDB says: Parser Error/],
    ["no rows", "select id from 'people.csv' where false", "FILE_FORMAT", /the SQL query gives no rows/],
    [
      "an invalid value",
      "select cast(id as int) as id from 'people.csv'",
      "FILE_UNREADABLE",
      /says: Conversion Error$/,
    ],
    ["the network", "select * from 'https://localhost:1/x.csv'", "FILE_UNREADABLE", /DuckDB says: \w+/],
  ] as const)("%s", async (_what, query, code, says) => {
    const { message } = await expectError(reading(query), code, says);
    expect(message).not.toContain("c, d");
    expect(readdirSync(folder).toSorted()).toEqual(["it's", "people.csv"]);
  });

  test("limits of a table hold", async () => {
    await expectError(
      reading("select repeat('x', 2000000) as id"),
      "FILE_FORMAT",
      /query, row 1: the cell of column #0/,
    );
    const limits = { ...tableLimits, rows: 100 };
    await expectError(
      () => streamSql({ query: "select i as id from range(5000) t(i)", folder }, new TextSink(), { limits }),
      "FILE_FORMAT",
      /gives over 100 rows/,
    );
  });
});
