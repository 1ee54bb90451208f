/** A MariaDB server of its own for a test file, where one is installed: over TCP with TLS, and over a socket. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createConnection } from "mysql2";
import { createAuthority } from "../../src/transport/certificates.ts";
import { freePort } from "../world/tandem-process.ts";

export const password = "s3cret/%:@ word";

/** TANDEM_MARIADB names its folder of programs where that stands elsewhere. */
const given = process.env["TANDEM_MARIADB"] ?? "";
const folders = given === "" ? [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/bin"] : [given];

/** Its path, or undefined. Distributions put the two into different folders. */
const program = (name: string): string | undefined =>
  folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
const [serverProgram, installProgram] = [program("mariadbd"), program("mariadb-install-db")];

/** Why there is no server; null: there can be one. */
export const withoutMariadb =
  serverProgram === undefined || installProgram === undefined
    ? "no MariaDB server is installed here (mariadbd): the tests against one are skipped"
    : null;
if (withoutMariadb !== null) console.warn(withoutMariadb);

export class MariadbServer {
  readonly folder: string;
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(folder: string, port: number, server: ChildProcess) {
    this.folder = folder;
    this.port = port;
    this.#process = server;
  }

  static async start(): Promise<MariadbServer> {
    const folder = mkdtempSync(join(tmpdir(), "tandem-mariadb-"));
    const authority = await createAuthority("database authority", 1);
    const { certificate, key } = await authority.issue("database", ["127.0.0.1"]);
    for (const [name, text] of [
      ["authority.pem", authority.certificate],
      ["server.pem", certificate],
      ["server.key", key],
    ])
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    const data = join(folder, "data");
    const user = process.getuid?.() === 0 ? ["--user=root"] : [];
    const small = ["--innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M", "--innodb-flush-method=nosync"];
    execFileSync(
      installProgram ?? "",
      [
        "--no-defaults",
        ...user,
        `--datadir=${data}`,
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        ...small,
      ],
      { cwd: folder, stdio: "ignore" },
    );
    const port = await freePort();
    const settings = [
      "--no-defaults",
      ...user,
      `--datadir=${data}`,
      `--socket=${join(folder, "socket")}`,
      `--pid-file=${join(folder, "pid")}`,
      "--bind-address=127.0.0.1",
      `--port=${port}`,
      "--skip-name-resolve",
      "--log-warnings=9",
      "--character-set-server=utf8mb4",
      `--ssl-ca=${join(folder, "authority.pem")}`,
      `--ssl-cert=${join(folder, "server.pem")}`,
      `--ssl-key=${join(folder, "server.key")}`,
      ...small,
    ];
    const log = openSync(join(folder, "log"), "a");
    const server = spawn(serverProgram ?? "", settings, { cwd: folder, stdio: ["ignore", log, log] });
    const started = new MariadbServer(folder, port, server);
    await started.#ready();
    await started.#run(
      undefined,
      `create user 'owner'@'%' identified by '${password}'`,
      "grant all on *.* to 'owner'@'%'",
      "create database crm",
    );
    return started;
  }

  /** As the owner of everything. */
  url(secret: string | null = password, database = "crm"): string {
    const who = secret === null ? "owner" : `owner:${encodeURIComponent(secret)}`;
    return `mysql://${who}@127.0.0.1:${this.port}/${database}`;
  }

  /** Of the socket, for connection strings. */
  get socket(): string {
    return join(this.folder, "socket");
  }

  run(...statements: string[]): Promise<void> {
    return this.#run("crm", ...statements);
  }

  async #run(database: string | undefined, ...statements: string[]): Promise<void> {
    const use = database === undefined ? {} : { database };
    const connection = createConnection({ socketPath: this.socket, user: "root", multipleStatements: true, ...use });
    try {
      for (const statement of statements) await connection.promise().query(statement);
    } finally {
      connection.destroy();
    }
  }

  /** What it has written so far. */
  log(): string {
    return readFileSync(join(this.folder, "log"), "utf8");
  }

  /** At once, as when the machine goes. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    if (this.#process.exitCode === null) this.#process.kill("SIGKILL");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    for (;;) {
      try {
        await this.#run(undefined, "select 1");
        return;
      } catch (error) {
        if (this.#process.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}
