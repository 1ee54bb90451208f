/**
 * A table that DuckDB makes of local CSV and Parquet files with a query. DuckDB is a separate package of about seventy
 * megabytes: users install it if they need it, and it is loaded only if a config uses it.
 */
import { TandemError } from "../../base/error.ts";
import { withPackages } from "../../base/optional-package.ts";
import { type TableLimits, tableLimits } from "../limits.ts";
import type { TableRows, TableSink } from "../table-sink.ts";
import { RowBatches } from "./row-batches.ts";

export interface SqlSource {
  readonly query: string;
  /** What names of files in the query are relative to. */
  readonly folder: string;
}

/** The used part of the package, whose own types are not installed by default. */
export interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options: Readonly<Record<string, string>>): Promise<DuckDbInstance>;
  };
}
interface DuckDbInstance {
  connect(): Promise<DuckDbConnection>;
  closeSync(): void;
}
interface DuckDbConnection {
  run(sql: string): Promise<unknown>;
  stream(sql: string): Promise<DuckDbResult>;
  extractStatements(sql: string): Promise<{ readonly count: number }>;
  closeSync(): void;
}
interface DuckDbResult {
  columnNames(): string[];
  columnTypes(): { toString(): string }[];
  fetchChunk(): Promise<{ readonly rowCount: number; getColumnValues(column: number): unknown[] } | null>;
}

const title = "the SQL query";
const packageName = "@duckdb/node-api";
const needed = { feature: "data.sql", packages: [packageName] };
const messageCharsMax = 200;

/** No network access, and no temporary files. */
const settings = {
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  allow_community_extensions: "false",
  temp_directory: "",
};

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT; and what `sink` throws */
export async function streamSql(
  { query, folder }: SqlSource,
  sink: TableSink,
  {
    limits = tableLimits,
    load = loadDuckDb,
  }: { readonly limits?: TableLimits; readonly load?: () => Promise<unknown> } = {},
): Promise<TableRows> {
  const { DuckDBInstance } = (await withPackages(needed, load)) as DuckDb;
  const batches = new RowBatches(title, sink, limits);
  const instance = await DuckDBInstance.create(":memory:", settings);
  const connection = await instance.connect();
  try {
    await connection.run(`SET file_search_path = ${quoted(folder, "'")}`);
    await readRows(connection, query, batches);
    return batches.finish();
  } catch (error) {
    throw troubleOf(error);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** The name is a variable, so that bundlers ignore it. */
function loadDuckDb(name: string = packageName): Promise<unknown> {
  return import(name);
}

async function readRows(connection: DuckDbConnection, query: string, batches: RowBatches): Promise<void> {
  const text = query.trim().replace(/;\s*$/, "");
  const { count } = await connection.extractStatements(text);
  if (count !== 1) throw new TandemError("FILE_FORMAT", `${title} is ${count} statements, and must be one SELECT`);
  // As a part of another query it can only read. On lines of its own: it may end in a comment.
  const table = `FROM (\n${text}\n)`;
  const shape = await connection.stream(`SELECT * ${table} LIMIT 0`);
  const names = shape.columnNames();
  const types = shape.columnTypes().map(String);
  batches.begin(names.map((name) => name.trim()));
  const result = await connection.stream(`SELECT ${names.map((name, i) => asText(name, types[i])).join()} ${table}`);
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    const columns = names.map((_, column) => chunk?.getColumnValues(column) ?? []);
    batches.add(chunk.rowCount, (row, column) => cellText(columns[column][row]));
  }
}

/** The text that CSV would have, with 1 and 0 for true and false as everywhere here. */
function asText(name: string, type: string): string {
  const column = quoted(name, '"');
  return `CAST(${type === "BOOLEAN" ? `CAST(${column} AS TINYINT)` : column} AS VARCHAR)`;
}

function cellText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function quoted(text: string, mark: "'" | '"'): string {
  return `${mark}${text.replaceAll(mark, mark + mark)}${mark}`;
}

const shownKinds = new Set(["Parser Error", "Binder Error", "Catalog Error", "IO Error", "Permission Error"]);

/** DuckDB's messages about names and syntax are shown; others quote values of rows. */
function troubleOf(error: unknown): TandemError {
  if (error instanceof TandemError) return error;
  const line = error instanceof Error ? error.message.split("\n")[0].slice(0, messageCharsMax) : "";
  const [words = "", kind = ""] = /([A-Z][A-Za-z]* Error): .*$/.exec(line) ?? [];
  if (kind === "") return new TandemError("FILE_UNREADABLE", `${title} is none that DuckDB understands`);
  return new TandemError("FILE_UNREADABLE", `${title}: DuckDB says: ${shownKinds.has(kind) ? words : kind}`);
}
