/**
 * A table from a PostgreSQL server: one query, in a read-only transaction, its rows fetched batch by batch with a
 * cursor. Cells are the text that `psql --csv` would print, but for true and false, which are 1 and 0 as everywhere
 * here.
 */
import Cursor from "pg-cursor";
import Client from "pg/lib/client.js";
import { type TableLimits, tableLimits } from "../limits.ts";
import type { TableRows, TableSink } from "../table-sink.ts";
import { postgresTrouble } from "./postgres-trouble.ts";
import { nextRowCount, RowBatches, type TextRow } from "./row-batches.ts";
import { type AddressSource, postgresForm, readAddress, type ServerAddress } from "./server-address.ts";
import { type CertificateFiles, readCertificates } from "./server-identity.ts";

export interface PostgresSource extends AddressSource, CertificateFiles {
  readonly query: string;
  readonly tls: "verify" | "off";
  /** For the query with all of its rows. */
  readonly timeout_seconds: number;
}

const title = "the PostgreSQL query";
const connectMs = 30_000;
/** How much longer than the server's timeout we wait. */
const graceMs = 10_000;
const leaveMs = 1000;
const firstRows = 16;
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

async function addressOf(source: PostgresSource): Promise<ServerAddress & { readonly ssl: object | false }> {
  const address = await readAddress(source, postgresForm);
  // A Unix socket never leaves the machine, and has no TLS.
  if (source.tls === "off" || address.host.startsWith("/")) return { ...address, ssl: false };
  // The host is whom the certificate must name, also where it is a number.
  return { ...address, ssl: { rejectUnauthorized: true, host: address.host, ...(await readCertificates(source)) } };
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
  const cursor = client.query(new Cursor<TextRow>(source.query, [], { rowMode: "array", types }));
  const patienceMs = source.timeout_seconds * 1000 + graceMs;
  let wanted = firstRows;
  for (let isFirst = true; ; isFirst = false) {
    const { rows, names } = await nextRows(cursor, wanted, patienceMs);
    if (isFirst) batches.begin(names);
    if (rows.length === 0) return;
    batches.add(rows.length, (row, column) => rows[row][column] ?? "");
    wanted = nextRowCount(rows);
  }
}

function nextRows(
  cursor: Cursor<TextRow>,
  count: number,
  patienceMs: number,
): Promise<{ readonly rows: readonly TextRow[]; readonly names: readonly string[] }> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("timeout")), Math.min(patienceMs, 2 ** 31 - 1));
    cursor.read(count, (error, rows, result) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve({ rows, names: (result?.fields ?? []).map(({ name }) => name.trim()) });
    });
  });
}
