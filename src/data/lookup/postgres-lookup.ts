/** Features by id from a PostgreSQL server: one query per batch, whose parameter $1 is the array of ids. */
import { nextRows, type PostgresServer, PostgresSession } from "../query/postgres-session.ts";
import { postgresTrouble } from "../query/postgres-trouble.ts";
import { rowsMaxFor, tooManyRows } from "./lookup.ts";
import { SessionLookup } from "./session-lookup.ts";

export const postgresField = "scoring.features.postgres";

export function postgresLookup(
  server: PostgresServer & { readonly query: string },
  timeoutMs: number,
): SessionLookup<PostgresSession> {
  return new SessionLookup({
    field: postgresField,
    open: () => PostgresSession.connect(server),
    trouble: (error) => postgresTrouble(error, postgresField, 0),
    find: async (session, request) => {
      await session.beginReading(timeoutMs / 1000);
      // Text of a PostgreSQL database never has a character 0, and a parameter with one would fail the whole batch.
      const ids = request.ids.filter((id) => !id.includes("\0"));
      const cursor = session.cursor(server.query, [ids]);
      const rowsMax = rowsMaxFor(request);
      const { rows, names } = await nextRows(cursor, rowsMax + 1, timeoutMs);
      await cursor.close();
      await session.endReading();
      if (rows.length > rowsMax) throw tooManyRows(postgresField, "$1", request);
      return { names, rows };
    },
  });
}
