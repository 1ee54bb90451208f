/**
 * Where a table comes from: a CSV or Parquet file or several; a PostgreSQL server or DuckDB (query/); or a program that
 * prints CSV, which is how other databases are asked: `mysql --batch`, `sqlite3 -csv`, ... The program is started as it
 * is named, without a shell, so nothing in its arguments is interpreted by anybody but itself.
 */
import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { TandemError } from "../base/error.ts";
import { withPackages } from "../base/optional-package.ts";
import { streamCsvText } from "./csv-table.ts";
import { csvText, utf8Text } from "./csv-text.ts";
import type { Notice } from "./feature-columns.ts";
import { noHeaderAdvice } from "./header.ts";
import { tableLimits } from "./limits.ts";
import type { PostgresSource } from "./query/postgres-table.ts";
import type { SqlSource } from "./query/duckdb-table.ts";
import { partsOf, streamParts, type TablePath } from "./table-parts.ts";
import type { TableReading } from "./table-reading.ts";
import { type CsvTable, type TableRows, type TableSink, TextSink } from "./table-sink.ts";

export type TableSource =
  | { readonly path: TablePath }
  | { readonly command: readonly string[] }
  | { readonly postgres: PostgresSource }
  | { readonly sql: SqlSource };

/**
 * @param notice hears that a file's first line was taken for names, though it looks like a row
 * @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming file and, where there is one, line
 */
export async function readTable(
  source: TableSource,
  reading: TableReading = {},
  notice: Notice = () => {},
): Promise<CsvTable> {
  const sink = new TextSink();
  const rows = await streamTable(source, sink, reading, notice);
  return { ...rows, columns: sink.columns };
}

/** The same, for whoever takes the cells piece by piece. @throws as readTable does, and what `sink` throws */
export async function streamTable(
  source: TableSource,
  sink: TableSink,
  reading: TableReading = {},
  notice: Notice = () => {},
): Promise<TableRows> {
  const rows = await rowsOf(source, sink, reading);
  if (rows.isHeaderDoubtful === true)
    notice(`${rows.path}: the first line was taken for names of columns, but looks like a row. ${noHeaderAdvice}`);
  return rows;
}

async function rowsOf(source: TableSource, sink: TableSink, reading: TableReading): Promise<TableRows> {
  if ("command" in source) return streamCommand(source.command, sink, reading);
  if ("postgres" in source) {
    const needed = { feature: "data.postgres", packages: ["pg", "pg-cursor"] };
    const { streamPostgres } = await withPackages(needed, () => import("./query/postgres-table.ts"));
    return streamPostgres(source.postgres, sink);
  }
  if ("sql" in source) {
    const { streamSql } = await import("./query/duckdb-table.ts");
    return streamSql(source.sql, sink);
  }
  const { path } = source;
  const parts = await partsOf(path);
  const stream = (file: string, into: TableSink): Promise<TableRows> => streamFile(file, into, reading);
  return parts === null ? stream(String(path), sink) : streamParts(path, parts, sink, stream);
}

async function streamFile(path: string, sink: TableSink, reading: TableReading): Promise<TableRows> {
  const { format = path.endsWith(".parquet") ? "parquet" : undefined } = reading;
  if (format !== "parquet") return streamCsvText(path, csvText(path), sink, tableLimits, { ...reading, format });
  // Some fifty modules, which most starts of the command never need.
  const { streamParquet } = await import("./parquet-table.ts");
  return streamParquet(path, sink);
}

/** Something that changes when the table may have changed, or null if only reading it tells. */
export async function tableVersion(source: TableSource): Promise<string | null> {
  if (!("path" in source)) return null;
  try {
    const files = (await partsOf(source.path)) ?? [String(source.path)];
    const versions = files.map(async (file) => {
      const { mtimeMs, size, ino } = await stat(file);
      return `${mtimeMs}/${size}/${ino}`;
    });
    return (await Promise.all(versions)).join(" ");
  } catch {
    return null; // reading it will say what is wrong
  }
}

function streamCommand(
  [program, ...args]: readonly string[],
  sink: TableSink,
  reading: TableReading,
): Promise<TableRows> {
  const title = `the output of '${program}'`;
  return streamCsvText(title, utf8Text(title, commandOutput(title, program, args)), sink, tableLimits, reading);
}

async function* commandOutput(title: string, program: string, args: readonly string[]): AsyncGenerator<Buffer> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], shell: false });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-2000)));
  const ended = new Promise<string | null>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(`it cannot be started (${error.code ?? error.message})`),
    );
    child.once("close", (code, signal) =>
      resolve(
        code === 0
          ? null
          : `it ended with ${signal ?? `exit code ${code}`}: ${complaint.trim().split("\n").at(-1) ?? ""}`,
      ),
    );
  });
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const trouble = await ended;
    if (trouble !== null) throw new TandemError("FILE_UNREADABLE", `${title}: ${trouble}`);
  } finally {
    child.kill();
  }
}
