/** A connection to a PostgreSQL server, for transactions that can only read. */
import Cursor from "pg-cursor";
import Client from "pg/lib/client.js";
import type { TextRow } from "./row-batches.ts";
import { type AddressSource, postgresForm, readAddress, type ServerAddress } from "./server-address.ts";
import { type CertificateFiles, readCertificates } from "./server-identity.ts";

export interface PostgresServer extends AddressSource, CertificateFiles {
  readonly tls: "verify" | "off";
}

/** Rows of a cursor; the names of their columns are there from the first ones on. */
export interface PostgresRows {
  readonly rows: readonly TextRow[];
  readonly names: readonly string[];
}

const connectMs = 30_000;
const leaveMs = 1000;
const booleanType = 16;
const timerMsMax = 2 ** 31 - 1;

/** Every value as the text that the server sends. */
const types = {
  getTypeParser: (type: number) => (text: string) => (type === booleanType ? (text === "t" ? "1" : "0") : text),
};

export class PostgresSession {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
    // Pending reads fail with it too.
    client.on("error", () => {});
  }

  /** @throws an error for postgresTrouble, or TandemError FILE_UNREADABLE or FILE_FORMAT */
  static async connect(server: PostgresServer): Promise<PostgresSession> {
    const session = new PostgresSession(
      new Client({
        ...(await addressOf(server)),
        connectionTimeoutMillis: connectMs,
        keepAlive: true,
        application_name: "tandem",
      }),
    );
    try {
      await session.#client.connect();
      return session;
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  /**
   * In the transaction, and not as options of the connection: those do not pass a pool of connections. Floating-point
   * numbers so that they read back as the same, and unambiguous dates.
   * @param seconds for a statement with all of its rows
   */
  async beginReading(seconds: number): Promise<void> {
    await this.#client.query(
      "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; " +
        `SET LOCAL statement_timeout = ${Math.ceil(seconds * 1000)}; ` +
        "SET LOCAL extra_float_digits = 3; SET LOCAL datestyle = 'ISO'",
    );
  }

  async endReading(): Promise<void> {
    await this.#client.query("ROLLBACK");
  }

  /** @param values of the parameters; a list is an array */
  cursor(query: string, values: readonly (readonly string[])[] = []): Cursor<TextRow> {
    return this.#client.query(new Cursor<TextRow>(query, [...values], { rowMode: "array", types }));
  }

  /**
   * Cleanly, because the server's log would otherwise report a lost connection. The wait is short: all rows are read.
   */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, leaveMs)));
    await Promise.race([this.#client.end().catch(() => {}), late]);
    clearTimeout(timer);
    this.destroy();
  }

  /** At once: no answer is awaited. The server rolls back a transaction that only reads. */
  destroy(): void {
    this.#client.connection.stream.destroy();
  }
}

/** The next rows of a cursor; none at the end. */
export function nextRows(cursor: Cursor<TextRow>, count: number, patienceMs: number): Promise<PostgresRows> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("timeout")), Math.min(patienceMs, timerMsMax));
    cursor.read(count, (error, rows, result) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve({ rows, names: (result?.fields ?? []).map(({ name }) => name.trim()) });
    });
  });
}

async function addressOf(server: PostgresServer): Promise<ServerAddress & { readonly ssl: object | false }> {
  const address = await readAddress(server, postgresForm);
  // A Unix socket never leaves the machine, and has no TLS.
  if (server.tls === "off" || address.host.startsWith("/")) return { ...address, ssl: false };
  // The host is whom the certificate must name, also where it is a number.
  return { ...address, ssl: { rejectUnauthorized: true, host: address.host, ...(await readCertificates(server)) } };
}
