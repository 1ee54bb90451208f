/** Against a real server, where one is installed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { password, PostgresServer, withoutPostgres } from "../../../test/support/postgres-server.ts";
import { ServerQueries } from "../../../test/support/server-queries.ts";
import { idColumn, numericColumn } from "../columns.ts";
import { tableLimits } from "../limits.ts";
import { type TableSink, TextSink } from "../table-sink.ts";
import { readTable, tableVersion } from "../table-source.ts";
import { type PostgresSource, streamPostgres } from "./postgres-table.ts";

describe.skipIf(withoutPostgres !== null)("a PostgreSQL server", () => {
  let server: PostgresServer;
  const queries = new ServerQueries<PostgresSource>("postgres", () => server, password);
  const { expectRefused } = queries;
  const reading = queries.reading.bind(queries);

  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.run(
      `create table people (id text, age int, income numeric, ratio float8, active bool, since date, note text)`,
      `insert into people values
         ('a', 31, 1200.50, 0.1, true, '2020-01-31', 'x, "y"'),
         ('b', null, null, -1.5e-7, false, null, ''),
         ('ü', 47, 0.00, 1e30, null, '1999-12-01', E'two\\nlines')`,
      `create table many as select 'p' || i as id, i as x from generate_series(1, 30000) i`,
    );
  });
  afterAll(() => server.stop());

  test("gives the cells that it would print as CSV; null is an empty cell", async () => {
    const table = await queries.read("select * from people order by age");
    expect(table).toMatchObject({ path: "the PostgreSQL query", rowCount: 3, lineNoun: "row" });
    expect(table.names).toEqual(["id", "age", "income", "ratio", "active", "since", "note"]);
    expect(table.columns).toEqual([
      ["a", "ü", "b"],
      ["31", "47", ""],
      ["1200.50", "0.00", ""],
      ["0.1", "1e+30", "-1.5e-07"],
      ["1", "", "0"],
      ["2020-01-31", "1999-12-01", ""],
      ['x, "y"', "two\nlines", ""],
    ]);
    expect(numericColumn(table, 3, new Set())).toEqual(Float32Array.of(0.1, 1e30, -1.5e-7));
    expect(await tableVersion({ postgres: queries.source("select 1 as id") })).toBeNull();
  });

  test("more rows than a batch, and only the needed columns", async () => {
    const table = await queries.read("select * from many order by x");
    expect(table.rowCount).toBe(30_000);
    expect(idColumn(table, "id").at(-1)).toBe("p30000");
    const taken: number[] = [];
    const sink: TableSink = {
      rowBytes: 4,
      sizeBytes: 0,
      begin: () => [null, { take: ({ table: piece, index }) => taken.push(piece.columns[index].length) }],
    };
    expect((await streamPostgres(queries.source("select * from many"), sink)).rowCount).toBe(30_000);
    expect(taken.length).toBeGreaterThan(3);
    expect(Math.max(...taken)).toBeLessThanOrEqual(10_000);
  });

  test("closes the connection cleanly: the server's log has no lost connection", async () => {
    const { rowCount } = await queries.read("table many");
    expect(rowCount).toBe(30_000);
    await server.run(
      `do $$ begin while exists (select from pg_stat_activity where application_name = 'tandem')
       loop perform pg_sleep(0.01); end loop; end $$`,
    );
    expect(server.log()).not.toMatch(/unexpected EOF|could not receive/);
  });

  test("over a socket, and without a password where the server asks for one", async () => {
    const who = `owner:${encodeURIComponent(password)}`;
    const socket = `postgres://${who}@localhost:${server.port}/postgres?host=${server.folder}`;
    const query = "select 7 as id";
    expect((await queries.read(query, { url_file: queries.secretFile(socket) })).columns).toEqual([["7"]]);
    const plain = { url_file: queries.secretFile(server.url(null)) };
    await expectRefused(reading(query, plain), "FILE_UNREADABLE", /asks for a password/);
  });

  test("a query that writes, is wrong, or gives no table", async () => {
    await expectRefused(
      reading("delete from people returning id"),
      "FILE_UNREADABLE",
      /the query writes, but must be read-only/,
    );
    await expectRefused(reading("select setval('s', 1) as id"), "FILE_UNREADABLE", /relation "s" does not exist/);
    await expectRefused(reading("create table t (x int)"), "FILE_UNREADABLE", /the query writes/);
    await expectRefused(reading("select 1 as id; drop table people"), "FILE_UNREADABLE", /multiple commands/);
    await expectRefused(reading("commit"), "FILE_FORMAT", /query: it gives no columns: it must be a SELECT/);
    await expectRefused(
      reading("selec 1"),
      "FILE_UNREADABLE",
      /server says: syntax error at or near "selec" \(SQLSTATE 42601\)/,
    );
    await expectRefused(reading("select id from persons"), "FILE_UNREADABLE", /relation "persons" does not exist/);
    await expectRefused(
      reading("select id from people where false"),
      "FILE_FORMAT",
      /the PostgreSQL query gives no rows/,
    );
    await expectRefused(
      reading("select id, age as id from people"),
      "FILE_FORMAT",
      /two columns are named 'id' \(#0 and #1\)/,
    );
    expect((await queries.read("select count(*) as id from people")).columns).toEqual([["3"]]);
  });

  test("no message contains a value of a row", async () => {
    const read = reading("select note::int as id from people order by age");
    await expectRefused(read, "FILE_UNREADABLE", /^data\.postgres: the query failed \(SQLSTATE 22P02\)$/);
    await expectRefused(reading("select 1 / (x - 5) as id from many"), "FILE_UNREADABLE", /SQLSTATE 22012/);
  });

  test("limits of a table hold", async () => {
    const limited = (query: string, changed: Partial<typeof tableLimits>) => () =>
      streamPostgres(queries.source(query), new TextSink(), { ...tableLimits, ...changed });
    const long =
      "select case when x = 20 then repeat('x', 2000000) else 'x' end as id from many where x < 30 order by x";
    await expectRefused(
      reading(long),
      "FILE_FORMAT",
      /query, row 20: the cell of column #0 has over 1048576 characters/,
    );
    await expectRefused(limited("table many", { rows: 100 }), "FILE_FORMAT", /gives over 100 rows/);
    await expectRefused(limited("table many", { columns: 1 }), "FILE_FORMAT", /over 1 columns/);
    await expectRefused(limited("table many", { memoryBytes: 1000 }), "FILE_FORMAT", /does not fit into memory/);
  });

  test("a rejected login, and a query that takes too long", async () => {
    const wrong = { url_file: queries.secretFile(server.url("wrong-guess")) };
    await expectRefused(reading("select 1", wrong), "FILE_UNREADABLE", /does not accept this user with this password/);
    const other = { url_file: queries.secretFile(server.url(password, "nothing")) };
    await expectRefused(reading("select 1", other), "FILE_UNREADABLE", /database "nothing" does not exist/);
    const slow = reading("select pg_sleep(30) as id", { timeout_seconds: 1 });
    await expectRefused(slow, "FILE_UNREADABLE", /it took longer than timeout_seconds/);
    const open = { url_file: queries.secretFile(server.url(), 0o644) };
    await expectRefused(reading("select 1", open), "FILE_UNREADABLE", /is a secret.*insecure_key_file under tls/);
    expect((await queries.read("select 1 as id", { ...open, insecureFiles: true })).rowCount).toBe(1);
    await expectRefused(
      reading("select 1", { url_file: `${queries.file}x` }),
      "FILE_UNREADABLE",
      /cannot be read \(ENOENT\)/,
    );
  });

  test("an untrusted certificate, and none at all", async () => {
    const { authority: _, ...alone } = queries.source("select 1 as id");
    await expectRefused(
      () => readTable({ postgres: alone }),
      "FILE_UNREADABLE",
      /certificate is not trusted \([A-Z_]+\)/,
    );
    const named = { url_file: queries.secretFile(server.url().replace("127.0.0.1", "localhost")) };
    await expectRefused(
      reading("select 1 as id", named),
      "FILE_UNREADABLE",
      /certificate is not trusted \(ERR_TLS_CERT_ALTNAME/,
    );
    expect((await queries.read("select 1 as id", { tls: "off" })).rowCount).toBe(1);
    const away = { url_file: queries.secretFile("postgres://owner@127.0.0.1:1/postgres") };
    await expectRefused(
      reading("select 1", away),
      "FILE_UNREADABLE",
      /the server cannot be reached, or was lost \(ECONNREFUSED\)/,
    );
  });

  test("a server that goes in the middle", async () => {
    const sink: TableSink = {
      rowBytes: 4,
      sizeBytes: 0,
      begin: () => [{ take: () => void (ended ??= server.run(end)) }],
    };
    const end = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tandem'";
    let ended: Promise<void> | undefined;
    const endless = queries.source("select a.x as id from many a cross join many b");
    const lost =
      /the (connection to the server was lost|server has ended|server cannot be reached).* \(after \d+ rows\)/;
    await expectRefused(() => streamPostgres(endless, sink), "FILE_UNREADABLE", lost);
    await ended;
  });
});
