/** Against a real server, where one is installed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { password, MariadbServer, withoutMariadb } from "../../../test/support/mariadb-server.ts";
import { ServerQueries } from "../../../test/support/server-queries.ts";
import { idColumn, numericColumn } from "../columns.ts";
import { tableLimits } from "../limits.ts";
import { type TableSink, TextSink } from "../table-sink.ts";
import { readTable, tableVersion } from "../table-source.ts";
import { type MysqlSource, streamMysql } from "./mysql-table.ts";

describe.skipIf(withoutMariadb !== null)("a MySQL server", () => {
  let server: MariadbServer;
  const queries = new ServerQueries<MysqlSource>("mysql", () => server, password);
  const { expectRefused } = queries;
  const reading = queries.reading.bind(queries);

  beforeAll(async () => {
    server = await MariadbServer.start();
    await server.run(
      `create table crm.people (id text, age int, income decimal(9, 2), ratio double, small float, active bool,
         flag bit, big bigint unsigned, since date, seen datetime, kind enum('new', 'old'), note text)`,
      `insert into crm.people values
         ('a', 31, 1200.50, 0.1, 0.1, true, 1, 18446744073709551615, '2020-01-31', '2020-01-31 10:00:00', 'new',
          'x, "y"'),
         ('b', null, null, -1.5e-7, 16777217, false, 0, 9007199254740993, null, null, 'old', ''),
         ('ü', 47, 0.00, 1e30, 0.3333333333, null, null, null, '1999-12-01', null, null, 'two\\nlines')`,
      "create table crm.many as select concat('p', seq) as id, seq as x from seq_1_to_30000",
    );
  });
  afterAll(() => server.stop());

  test("gives the cells that it would print as CSV; null is an empty cell", async () => {
    const table = await queries.read("select * from people order by id");
    expect(table).toMatchObject({ path: "the MySQL query", rowCount: 3, lineNoun: "row" });
    const names = ["id", "age", "income", "ratio", "small", "active", "flag", "big", "since", "seen", "kind", "note"];
    expect(table.names).toEqual(names);
    expect(table.columns).toEqual([
      ["a", "b", "ü"],
      ["31", "", "47"],
      ["1200.50", "", "0.00"],
      ["0.1", "-1.5e-7", "1e+30"],
      ["0.1", "16777216", "0.33333334"],
      ["1", "0", ""],
      ["1", "0", ""],
      ["18446744073709551615", "9007199254740993", ""],
      ["2020-01-31", "", "1999-12-01"],
      ["2020-01-31 10:00:00", "", ""],
      ["new", "old", ""],
      ['x, "y"', "", "two\nlines"],
    ]);
    expect(numericColumn(table, 3, new Set())).toEqual(Float32Array.of(0.1, -1.5e-7, 1e30));
    expect(await tableVersion({ mysql: queries.source("select 1 as id") })).toBeNull();
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
    expect((await streamMysql(queries.source("select * from many"), sink)).rowCount).toBe(30_000);
    expect(taken.length).toBeGreaterThan(3);
    expect(Math.max(...taken)).toBeLessThanOrEqual(10_000);
  });

  test("closes the connection cleanly: the server's log has no lost connection", async () => {
    const { rowCount } = await queries.read("select * from many");
    expect(rowCount).toBe(30_000);
    await server.run("select 1");
    expect(server.log()).not.toMatch(/Aborted connection.*user: 'owner'/);
  });

  test("over a socket, and without a password where the server asks for one", async () => {
    const socket = `mysql://owner:${encodeURIComponent(password)}@localhost/crm?socket=${server.socket}`;
    const query = "select 7 as id";
    expect((await queries.read(query, { url_file: queries.secretFile(socket) })).columns).toEqual([["7"]]);
    const plain = { url_file: queries.secretFile(server.url(null)) };
    await expectRefused(reading(query, plain), "FILE_UNREADABLE", /does not accept this user with this password/);
  });

  test("a query that writes, is wrong, or gives no table", async () => {
    const writes = /^data\.mysql: the query writes, but must be read-only$/;
    await expectRefused(reading("delete from people"), "FILE_UNREADABLE", writes);
    await expectRefused(reading("create table t (x int)"), "FILE_UNREADABLE", writes);
    await expectRefused(reading("drop table people"), "FILE_UNREADABLE", writes);
    await expectRefused(reading("select 1 as id; drop table people"), "FILE_UNREADABLE", /syntax error near/);
    await expectRefused(reading("commit"), "FILE_FORMAT", /query: it gives no columns: it must be a SELECT/);
    await expectRefused(reading("set @x = 1"), "FILE_FORMAT", /it gives no columns/);
    await expectRefused(reading("load data local infile '/etc/passwd' into table people"), "FILE_UNREADABLE", /^data/);
    await expectRefused(
      reading("selec 1"),
      "FILE_UNREADABLE",
      /^data\.mysql: the server says: syntax error near 'selec 1' at line 1 \(error 1064\)$/,
    );
    await expectRefused(reading("select id from persons"), "FILE_UNREADABLE", /Table 'crm\.persons' doesn't exist/);
    await expectRefused(reading("select ib from people"), "FILE_UNREADABLE", /Unknown column 'ib'/);
    await expectRefused(reading("select id from people where false"), "FILE_FORMAT", /the MySQL query gives no rows/);
    await expectRefused(
      reading("select id, age as id from people"),
      "FILE_FORMAT",
      /two columns are named 'id' \(#0 and #1\)/,
    );
    expect((await queries.read("select count(*) as id from people")).columns).toEqual([["3"]]);
  });

  test("of a procedure with several results nothing is taken", async () => {
    await server.run("create procedure crm.two() begin select 1 as id; select 2 as id; end");
    await expectRefused(reading("call two()"), "FILE_UNREADABLE", /^data\.mysql: the query failed/);
  });

  test("no message contains a value of a row", async () => {
    const read = reading("select st_geomfromtext(note) + exp(1000000 + age) as id from people");
    await expectRefused(read, "FILE_UNREADABLE", /^data\.mysql: the query failed \(error \d+\)( \(after \d+ rows\))?$/);
  });

  test("limits of a table hold", async () => {
    const limited = (query: string, changed: Partial<typeof tableLimits>) => () =>
      streamMysql(queries.source(query), new TextSink(), { ...tableLimits, ...changed });
    const long =
      "select case when x = 20 then repeat('x', 2000000) else 'x' end as id from many where x < 30 order by x";
    await expectRefused(
      reading(long),
      "FILE_FORMAT",
      /query, row 20: the cell of column #0 has over 1048576 characters/,
    );
    await expectRefused(limited("select * from many", { rows: 100 }), "FILE_FORMAT", /gives over 100 rows/);
    await expectRefused(limited("select * from many", { columns: 1 }), "FILE_FORMAT", /over 1 columns/);
    await expectRefused(
      limited("select * from many", { memoryBytes: 1000 }),
      "FILE_FORMAT",
      /does not fit into memory/,
    );
  });

  test("a rejected login, and a query that takes too long", async () => {
    const wrong = { url_file: queries.secretFile(server.url("wrong-guess")) };
    await expectRefused(reading("select 1", wrong), "FILE_UNREADABLE", /does not accept this user with this password/);
    const other = { url_file: queries.secretFile(server.url(password, "nothing")) };
    await expectRefused(reading("select 1", other), "FILE_UNREADABLE", /Unknown database 'nothing'/);
    const slow = reading("select sleep(30) as id, x from many", { timeout_seconds: 1 });
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
    await expectRefused(() => readTable({ mysql: alone }), "FILE_UNREADABLE", /certificate is not trusted/);
    const named = { url_file: queries.secretFile(server.url().replace("127.0.0.1", "localhost")) };
    await expectRefused(reading("select 1 as id", named), "FILE_UNREADABLE", /certificate is not trusted/);
    expect((await queries.read("select 1 as id", { tls: "insecure_off" })).rowCount).toBe(1);
    const away = { url_file: queries.secretFile("mysql://owner@127.0.0.1:1/crm") };
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
    const end = "kill user owner";
    let ended: Promise<void> | undefined;
    const endless = queries.source("select a.x as id from many a cross join many b");
    const lost =
      /the (connection to the server was lost|server has ended|server cannot be reached).* \(after \d+ rows\)/;
    await expectRefused(() => streamMysql(endless, sink), "FILE_UNREADABLE", lost);
    await ended;
  });
});
