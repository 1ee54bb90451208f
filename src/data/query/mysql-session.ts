/**
 * A connection to a MySQL or MariaDB server that can only read. Statements are prepared, so that a query is one
 * statement, and parameters are never a part of its text.
 */
import { connect, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { type Connection, type ConnectionOptions, createConnection, type FieldPacket } from "mysql2";
import { type MysqlField, mysqlCell } from "./mysql-cells.ts";
import type { TextRow } from "./row-batches.ts";
import { type AddressSource, mysqlForm, readAddress, type ServerAddress } from "./server-address.ts";
import { type CertificateFiles, readCertificates } from "./server-identity.ts";

export interface MysqlServer extends AddressSource, CertificateFiles {
  readonly tls: "verify" | "insecure_off";
}

/** What a statement gives: the names of its columns, then its rows. */
export interface MysqlRows {
  names(): readonly string[];
  readonly rows: AsyncIterable<TextRow>;
}

const connectMs = 30_000;
const leaveMs = 1000;
/** Prepared statements that the server keeps for the connection. */
const statementsMax = 32;
/** Rows that wait to be read, before the server is made to wait. */
const rowsWaiting = 1000;

export class MysqlSession {
  readonly #connection: Connection;
  /** Of the last statement: an error of the connection does not reach it otherwise. */
  #rows: Readable | null = null;

  private constructor(connection: Connection) {
    this.#connection = connection;
    connection.on("error", (error) => this.#rows?.destroy(error));
  }

  /** @throws an error for mysqlTrouble, or TandemError FILE_UNREADABLE or FILE_FORMAT */
  static async connect(server: MysqlServer): Promise<MysqlSession> {
    const address = await readAddress(server, mysqlForm);
    // A Unix socket never leaves the machine, and has no TLS.
    const isPlain = server.tls === "insecure_off" || address.host.startsWith("/");
    const ssl = isPlain ? undefined : { verifyIdentity: true, ...(await readCertificates(server)) };
    const session = new MysqlSession(createConnection({ ...optionsFor(address), ...(ssl && { ssl }) }));
    try {
      await new Promise<void>((resolve, reject) =>
        session.#connection.connect((error) => (error === null ? resolve() : reject(error))),
      );
      return session;
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  /** Begins a transaction that reads one state of the database. @param seconds for a statement with all its rows */
  async beginReading(seconds: number): Promise<void> {
    await this.onlyRead(seconds);
    await this.#run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
  }

  /** From now on. Not a transaction alone: statements that define tables end one first. */
  async onlyRead(seconds: number): Promise<void> {
    const { names, rows } = this.execute("SELECT VERSION() AS version");
    const versions: TextRow[] = [];
    for await (const row of rows) versions.push(row);
    const isMaria = /mariadb/i.test(versions[0]?.[names().indexOf("version")] ?? "");
    await this.#run(
      isMaria
        ? `SET SESSION max_statement_time = ${seconds}`
        : `SET SESSION max_execution_time = ${Math.ceil(seconds * 1000)}`,
    );
    await this.#run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  }

  /** Rows are read as they are asked for. @throws an error for mysqlTrouble */
  execute(sql: string, values: readonly (string | null)[] = []): MysqlRows {
    const command = this.#connection.execute({
      sql,
      values: [...values],
      rowsAsArray: true,
      typeCast: (field, next) => mysqlCell(field as MysqlField, next),
    });
    let names: readonly string[] = [];
    let resultCount = 0;
    const rows = command.stream({ highWaterMark: rowsWaiting });
    rows.on("fields", (fields: readonly FieldPacket[] | undefined) => {
      if (resultCount++ === 0) names = (fields ?? []).map(({ name }) => name.trim());
      else rows.destroy(new Error("several results"));
    });
    this.#rows = rows;
    return { names: () => names, rows: rows as AsyncIterable<TextRow> };
  }

  /** Cleanly: the server's log would otherwise report a lost connection. Waits a second at most. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leaveMs);
      this.#connection.end(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.destroy();
  }

  /** At once. The server rolls back what reads only. */
  destroy(): void {
    this.#connection.destroy();
  }

  #run(sql: string): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#connection.query(sql, (error) => (error === null ? resolve() : reject(error))),
    );
  }
}

function optionsFor({ host, port, user, password, database }: ServerAddress): ConnectionOptions {
  const way = host.startsWith("/") ? { socketPath: host } : { host, port, stream: () => socketTo(host, port) };
  return {
    ...way,
    user,
    password,
    database,
    connectTimeout: connectMs,
    charset: "utf8mb4",
    connectAttributes: { program_name: "tandem" },
    // The server could ask for a file of this machine.
    flags: ["-LOCAL_FILES"],
    maxPreparedStatements: statementsMax,
    // Values stay as exact as they are: no Date, no rounded number, no parsed JSON.
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    jsonStrings: true,
    disableEval: true,
  };
}

/**
 * mysql2 names no host to TLS where it is an IP address, and Node then compares the certificate with the host of the
 * socket, which it only notes for names: an address would be compared with "localhost".
 */
function socketTo(host: string, port: number): Socket {
  return Object.assign(connect({ host, port, keepAlive: true, noDelay: true }), { _host: host });
}
