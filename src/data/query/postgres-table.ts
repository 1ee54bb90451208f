/**
 * A table from a PostgreSQL server: one query, in a read-only transaction, its rows fetched batch by batch with a
 * cursor. Cells are the text that `psql --csv` would print, but for true and false, which are 1 and 0 as everywhere
 * here.
 */
import { readFile } from "node:fs/promises";
import Cursor from "pg-cursor";
import Client from "pg/lib/client.js";
import { TandemError } from "../../base/error.ts";
import { readSecretFile } from "../../base/files/secret-file.ts";
import { type TableLimits, tableLimits } from "../limits.ts";
import type { TableRows, TableSink } from "../table-sink.ts";
import { type AddressSource, type PostgresAddress, readAddress } from "./postgres-address.ts";
import { postgresTrouble } from "./postgres-trouble.ts";
import { RowBatches } from "./row-batches.ts";

export interface PostgresSource extends AddressSource {
  readonly query: string;
  readonly tls: "verify" | "off";
  /** PEM files: who has signed the server's certificate, and what to show the server. */
  readonly authority?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** For the query with all of its rows. */
  readonly timeout_seconds: number;
}

type Row = readonly (string | null)[];

const title = "the PostgreSQL query";
const connectMs = 30_000;
/** How much longer than the server's timeout we wait. */
const graceMs = 10_000;
const leaveMs = 1000;
const firstRows = 16;
const rowsMax = 10_000;
const batchChars = 1 << 22;
const booleanType = 16;

/** Every value as the text that the server sends. */
const types = {
  getTypeParser: (type: number) => (text: string) => (type === booleanType ? (text === "t" ? "1" : "0") : text),
};

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT, in words without a secret; and what `sink` throws */
export async function streamPostgres(
  source: PostgresSource,
  sink: TableSink,
  limits: TableLimits = tableLimits,
): Promise<TableRows> {
  const batches = new RowBatches(title, sink, limits);
  const client = new Client({
    ...(await addressOf(source)),
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    application_name: "tandem",
  });
  // Pending reads fail with it too.
  client.on("error", () => {});
  try {
    await client.connect();
    await beginReading(client, source.timeout_seconds);
    await readRows(client, source, batches);
    const rows = batches.finish();
    await closeCleanly(client);
    return rows;
  } catch (error) {
    throw postgresTrouble(error, batches.rowCount);
  } finally {
    // After an error no answer is awaited. The server rolls back the read-only transaction.
    client.connection.stream.destroy();
  }
}

/**
 * Closes the connection cleanly, because the server's log would otherwise report a lost connection. The wait is short:
 * all rows are read.
 */
async function closeCleanly(client: Client): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, leaveMs)));
  await Promise.race([client.end().catch(() => {}), late]);
  clearTimeout(timer);
}

async function addressOf(source: PostgresSource): Promise<PostgresAddress & { readonly ssl: object | false }> {
  const address = await readAddress(source);
  const { authority: ca, certificate: cert, key } = source;
  // A Unix socket never leaves the machine, and has no TLS.
  if (source.tls === "off" || address.host.startsWith("/")) return { ...address, ssl: false };
  const ssl = {
    rejectUnauthorized: true,
    host: address.host, // whom the certificate must name, also where it is a number
    ...(ca === undefined ? {} : { ca: await pem(ca, readFile(ca, "utf8")) }),
    ...(cert === undefined ? {} : { cert: await pem(cert, readFile(cert, "utf8")) }),
    ...(key === undefined ? {} : { key: await pem(key, readSecretFile(key, { insecure: source.insecureFiles })) }),
  };
  return { ...address, ssl };
}

async function pem(path: string, reading: Promise<string>): Promise<string> {
  try {
    return await reading;
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw new TandemError("FILE_UNREADABLE", `${path} cannot be read`, { cause });
  }
}

/** In the transaction, and not as options of the connection: those do not pass a pool of connections. */
async function beginReading(client: Client, timeoutSeconds: number): Promise<void> {
  await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
  await client.query(`SET LOCAL statement_timeout = ${Math.ceil(timeoutSeconds * 1000)}`);
  // Floating-point numbers so that they read back as the same, and unambiguous dates.
  await client.query("SET LOCAL extra_float_digits = 3");
  await client.query("SET LOCAL datestyle = 'ISO'");
}

async function readRows(client: Client, source: PostgresSource, batches: RowBatches): Promise<void> {
  const cursor = client.query(new Cursor<Row>(source.query, [], { rowMode: "array", types }));
  const patienceMs = source.timeout_seconds * 1000 + graceMs;
  let wanted = firstRows;
  for (let isFirst = true; ; isFirst = false) {
    const { rows, names } = await nextRows(cursor, wanted, patienceMs);
    if (isFirst) batches.begin(names);
    if (rows.length === 0) return;
    batches.add(rows.length, (row, column) => rows[row][column] ?? "");
    wanted = nextCount(rows);
  }
}

/** As many as make a batch of some megabytes. */
function nextCount(rows: readonly Row[]): number {
  const chars = rows.reduce((sum, row) => row.reduce((all, cell) => all + (cell?.length ?? 0), sum), 0);
  return Math.max(1, Math.min(rowsMax, Math.floor((batchChars * rows.length) / (chars + 1))));
}

function nextRows(
  cursor: Cursor<Row>,
  count: number,
  patienceMs: number,
): Promise<{ readonly rows: readonly Row[]; readonly names: readonly string[] }> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("timeout")), Math.min(patienceMs, 2 ** 31 - 1));
    cursor.read(count, (error, rows, result) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve({ rows, names: (result?.fields ?? []).map(({ name }) => name.trim()) });
    });
  });
}
