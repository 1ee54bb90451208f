/**
 * Where a table comes from: a CSV or Parquet file, or a program that prints CSV, which is how a database is asked:
 * `psql --csv -c "select ..."`, `mysql --batch`, `duckdb -csv -c "..."`, ... The program is started as it is named,
 * without a shell, so nothing in its arguments is interpreted by anybody but itself.
 */
import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { TandemError } from "../base/error.ts";
import { type CsvTable, readCsvTable, readCsvText } from "./csv-table.ts";
import { utf8Text } from "./csv-text.ts";
import type { Notice } from "./feature-columns.ts";
import { noHeaderAdvice } from "./header.ts";
import { tableLimits } from "./limits.ts";
import type { TableReading } from "./table-reading.ts";

export type TableSource = { readonly path: string } | { readonly command: readonly string[] };

/**
 * @param notice hears that a file's first line was taken for names, though it looks like a row
 * @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming file and, where there is one, line
 */
export async function readTable(
  source: TableSource,
  reading: TableReading = {},
  notice: Notice = () => {},
): Promise<CsvTable> {
  const table = await tableOf(source, reading);
  if (table.isHeaderDoubtful === true)
    notice(`${table.path}: the first line was taken for names of columns, but looks like a row. ${noHeaderAdvice}`);
  return table;
}

async function tableOf(source: TableSource, reading: TableReading): Promise<CsvTable> {
  if ("command" in source) return readCommand(source.command, reading);
  const { format = source.path.endsWith(".parquet") ? "parquet" : undefined } = reading;
  if (format !== "parquet") return readCsvTable(source.path, tableLimits, { ...reading, format });
  // Some fifty modules, which most starts of the command never need.
  const { readParquetTable } = await import("./parquet-table.ts");
  return readParquetTable(source.path);
}

/** Something that changes when the table may have changed, or null if only reading it tells. */
export async function tableVersion(source: TableSource): Promise<string | null> {
  if ("command" in source) return null;
  try {
    const { mtimeMs, size, ino } = await stat(source.path);
    return `${mtimeMs}/${size}/${ino}`;
  } catch {
    return null; // reading it will say what is wrong
  }
}

function readCommand([program, ...args]: readonly string[], reading: TableReading): Promise<CsvTable> {
  const title = `the output of '${program}'`;
  return readCsvText(title, utf8Text(title, commandOutput(title, program, args)), tableLimits, reading);
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
