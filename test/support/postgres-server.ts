/** A PostgreSQL server of its own for a test file, where one is installed: over TCP with TLS, and over a socket. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import Client from "pg/lib/client.js";
import { createAuthority } from "../../src/transport/certificates.ts";

export const password = "s3cret/%:@ word";

/** TANDEM_POSTGRES names its folder of programs where that stands elsewhere. */
const given = process.env["TANDEM_POSTGRES"] ?? "";
const usual = [...(process.env["PATH"] ?? "").split(delimiter), ...debianFolders()];

/** Its folder, or undefined. Distributions do not put it on the path. */
const programs = (given === "" ? usual : [given]).find((folder) => existsSync(join(folder, "initdb")));

/** Why there is no server; null: there can be one. */
export const withoutPostgres =
  programs === undefined ? "no PostgreSQL server is installed here (initdb): the tests against one are skipped" : null;
if (withoutPostgres !== null) console.warn(withoutPostgres);

function debianFolders(): string[] {
  const root = "/usr/lib/postgresql";
  return existsSync(root) ? readdirSync(root).map((version) => join(root, version, "bin")) : [];
}

/** It refuses to run as root. */
function otherUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

export class PostgresServer {
  readonly folder: string;
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(folder: string, port: number, server: ChildProcess) {
    this.folder = folder;
    this.port = port;
    this.#process = server;
  }

  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), "tandem-postgres-"));
    const user = otherUser();
    const own = (path: string, mode: number): void => {
      chmodSync(path, mode);
      if (user !== undefined) chownSync(path, user.uid, user.gid);
    };
    own(folder, 0o755);
    const authority = await createAuthority("database authority", 1);
    const { certificate, key } = await authority.issue("database", ["127.0.0.1"]);
    writeFileSync(join(folder, "authority.pem"), authority.certificate);
    for (const [name, text] of [
      ["server.pem", certificate],
      ["server.key", key],
      ["password", password],
    ]) {
      writeFileSync(join(folder, name), text);
      own(join(folder, name), 0o600);
    }
    const data = join(folder, "data");
    const program = (name: string): string => join(programs ?? "", name);
    execFileSync(
      program("initdb"),
      ["-D", data, "-U", "owner", "-A", "scram-sha-256", "--pwfile", join(folder, "password"), "-N", "-E", "UTF8"],
      { ...user, cwd: folder, stdio: "ignore" },
    );
    const port = await freePort();
    const settings = [
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${folder}`,
      "fsync=off",
      "ssl=on",
      `ssl_cert_file=${join(folder, "server.pem")}`,
      `ssl_key_file=${join(folder, "server.key")}`,
    ].flatMap((setting) => ["-c", setting]);
    const server = spawn(program("postgres"), ["-D", data, "-p", String(port), ...settings], {
      ...user,
      cwd: folder,
      stdio: ["ignore", "ignore", openSync(join(folder, "log"), "a")],
    });
    const started = new PostgresServer(folder, port, server);
    await started.#ready();
    return started;
  }

  /** As the owner of everything. */
  url(secret: string | null = password, database = "postgres"): string {
    const who = secret === null ? "owner" : `owner:${encodeURIComponent(secret)}`;
    return `postgres://${who}@127.0.0.1:${this.port}/${database}`;
  }

  async run(...statements: string[]): Promise<void> {
    const client = new Client({ host: "127.0.0.1", port: this.port, user: "owner", password, database: "postgres" });
    client.on("error", () => {});
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  /** What it has written so far. */
  log(): string {
    return readFileSync(join(this.folder, "log"), "utf8");
  }

  /** At once, as when the machine goes. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    if (this.#process.exitCode === null) this.#process.kill("SIGQUIT");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    for (;;) {
      try {
        await this.run("select 1");
        return;
      } catch (error) {
        if (this.#process.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
