/** A table from a MySQL or MariaDB server: one query, in a read-only transaction, its rows read batch by batch. */
import { TandemError } from "../../base/error.ts";
import { type TableLimits, tableLimits } from "../limits.ts";
import type { TableRows, TableSink } from "../table-sink.ts";
import { type MysqlRows, type MysqlServer, MysqlSession } from "./mysql-session.ts";
import { mysqlTrouble } from "./mysql-trouble.ts";
import { nextRowCount, RowBatches, type TextRow } from "./row-batches.ts";

export interface MysqlSource extends MysqlServer {
  readonly query: string;
  /** For the query with all of its rows. */
  readonly timeout_seconds: number;
}

const title = "the MySQL query";
/** How much longer than the server's timeout we wait. */
const graceMs = 10_000;
const timerMsMax = 2 ** 31 - 1;
const firstRows = 16;

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT, in words without a secret; and what `sink` throws */
export async function streamMysql(
  source: MysqlSource,
  sink: TableSink,
  limits: TableLimits = tableLimits,
): Promise<TableRows> {
  const batches = new RowBatches(title, sink, limits);
  let session: MysqlSession | null = null;
  let timer: NodeJS.Timeout | undefined;
  try {
    const opened = (session = await MysqlSession.connect(source));
    const patienceMs = Math.min(source.timeout_seconds * 1000 + graceMs, timerMsMax);
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("timeout")), patienceMs);
    });
    await Promise.race([late, readRows(opened, source, batches)]);
    const rows = batches.finish();
    await opened.close();
    return rows;
  } catch (error) {
    throw mysqlTrouble(error, "data.mysql", batches.rowCount);
  } finally {
    clearTimeout(timer);
    session?.destroy();
  }
}

async function readRows(session: MysqlSession, source: MysqlSource, batches: RowBatches): Promise<void> {
  await session.beginReading(source.timeout_seconds);
  const answer = session.execute(source.query);
  let wanted = firstRows;
  let rows: TextRow[] = [];
  let hasBegun = false;
  const take = (): void => {
    if (!hasBegun) batches.begin(namesOf(answer));
    hasBegun = true;
    if (rows.length === 0) return;
    batches.add(rows.length, (row, column) => rows[row][column] ?? "");
    wanted = nextRowCount(rows);
    rows = [];
  };
  for await (const row of answer.rows) if (rows.push(row) >= wanted) take();
  take();
}

/** Without a result set there is one row, of other things. */
function namesOf(answer: MysqlRows): readonly string[] {
  const names = answer.names();
  if (names.length === 0) throw new TandemError("FILE_FORMAT", `${title}: it gives no columns: it must be a SELECT`);
  return names;
}
