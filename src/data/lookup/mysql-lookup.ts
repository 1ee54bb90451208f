/** Features by id from a MySQL or MariaDB server: one prepared statement per batch, with a parameter for each id. */
import { TandemError } from "../../base/error.ts";
import { type MysqlServer, MysqlSession } from "../query/mysql-session.ts";
import { mysqlTrouble } from "../query/mysql-trouble.ts";
import type { TextRow } from "../query/row-batches.ts";
import { rowsMaxFor, tooManyRows } from "./lookup.ts";
import { SessionLookup } from "./session-lookup.ts";

export const mysqlField = "scoring.features.mysql";

export function mysqlLookup(
  server: MysqlServer & { readonly query: string },
  timeoutMs: number,
): SessionLookup<MysqlSession> {
  return new SessionLookup({
    field: mysqlField,
    open: async () => {
      const session = await MysqlSession.connect(server);
      await session.onlyRead(timeoutMs / 1000);
      return session;
    },
    trouble: (error) => mysqlTrouble(error, mysqlField, 0),
    find: async (session, request) => {
      const values = paddedIds(request.ids);
      const marks = values.map(() => "?").join(", ");
      const answer = session.execute(
        server.query.replace("?", () => marks),
        values,
      );
      const rowsMax = rowsMaxFor(request);
      const rows: TextRow[] = [];
      for await (const row of answer.rows) {
        if (rows.push(row) > rowsMax) throw tooManyRows(mysqlField, "the '?'", request);
      }
      if (answer.names().length === 0)
        throw new TandemError("FILE_FORMAT", `${mysqlField}: the query gives no columns: it must be a SELECT`);
      return { names: answer.names(), rows };
    },
  });
}

/**
 * As many parameters as a power of two, so that the server prepares few statements. A repeated id finds nothing more,
 * and null finds nothing.
 */
function paddedIds(ids: readonly string[]): (string | null)[] {
  const count = 2 ** Math.ceil(Math.log2(Math.max(1, ids.length)));
  return Array.from({ length: count }, (_, i) => ids[i] ?? null);
}
