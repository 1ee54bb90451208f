/**
 * A table from a PostgreSQL server: one query, in a read-only transaction, its rows fetched batch by batch with a
 * cursor. Cells are the text that `psql --csv` would print, but for true and false, which are 1 and 0 as everywhere
 * here.
 */
import { type TableLimits, tableLimits } from "../limits.ts";
import type { TableRows, TableSink } from "../table-sink.ts";
import { nextRows, type PostgresServer, PostgresSession } from "./postgres-session.ts";
import { postgresTrouble } from "./postgres-trouble.ts";
import { nextRowCount, RowBatches } from "./row-batches.ts";

export interface PostgresSource extends PostgresServer {
  readonly query: string;
  /** For the query with all of its rows. */
  readonly timeout_seconds: number;
}

const title = "the PostgreSQL query";
/** How much longer than the server's timeout we wait. */
const graceMs = 10_000;
const firstRows = 16;

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT, in words without a secret; and what `sink` throws */
export async function streamPostgres(
  source: PostgresSource,
  sink: TableSink,
  limits: TableLimits = tableLimits,
): Promise<TableRows> {
  const batches = new RowBatches(title, sink, limits);
  let session: PostgresSession | null = null;
  try {
    const opened = (session = await PostgresSession.connect(source));
    await opened.beginReading(source.timeout_seconds);
    await readRows(opened, source, batches);
    const rows = batches.finish();
    await opened.close();
    return rows;
  } catch (error) {
    throw postgresTrouble(error, "data.postgres", batches.rowCount);
  } finally {
    session?.destroy();
  }
}

async function readRows(session: PostgresSession, source: PostgresSource, batches: RowBatches): Promise<void> {
  const cursor = session.cursor(source.query);
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
