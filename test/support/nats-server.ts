/**
 * A real nats-server with the config that `tandem init crew` writes, where one is installed. Without one, tests of it
 * are skipped, and say so. TANDEM_NATS_SERVER names one that stands elsewhere, of another version for example.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { partyUser, workerUser } from "../../src/crew/crew-name.ts";
import { accountText, serverConfigText } from "../../src/crew/nats/server-config.ts";
import { createAuthority, type Identity } from "../../src/transport/certificates.ts";
import { afterAll } from "vitest";
import { natsServerProgram } from "../world/crews/engine-servers.ts";
import { scratchDirectory } from "./command.ts";

export const natsProgram = natsServerProgram();

export const hasNatsServer = natsProgram !== null;
if (!hasNatsServer) console.warn("no nats-server here (apt install nats-server): tests against a real one are skipped");

export interface NatsServer {
  readonly folder: string;
  /** As in a config. */
  readonly url: string;
  readonly authority: string;
  /** Certificates of this server's users, by user; and one of no known user. */
  readonly users: ReadonlyMap<string, Identity>;
  /** A user's, of the right authority, that is too old. */
  readonly expired: Identity;
  /** Ends it as a power cut would, or gently. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** On the same port, with the files that it had. */
  start(): Promise<void>;
}

export async function startNatsServer(crews: readonly string[], limits = ""): Promise<NatsServer> {
  const folder = scratchDirectory();
  const running = new RunningServer(folder);
  afterAll(() => running.stop("SIGKILL"));
  const authority = await createAuthority("crew", 1);
  const names = crews.flatMap((crew) => [partyUser(crew), workerUser(crew)]);
  const users = new Map<string, Identity>();
  for (const name of [...names, "unlisted"]) users.set(name, await authority.issue(name, [name]));
  const expired = await authority.issue(names[0], [names[0]], -1 / 48);
  const server = await authority.issue("server", ["localhost", "127.0.0.1"]);
  writeFileSync(join(folder, "ca.pem"), authority.certificate);
  writeFileSync(join(folder, "server.pem"), server.certificate);
  writeFileSync(join(folder, "server.key"), server.key, { mode: 0o600 });
  const [first, ...others] = crews;
  const configOn = (port: number): string =>
    serverConfigText({ crew: first, listen: `127.0.0.1:${port}`, monitor: "127.0.0.1:-1" })
      .replace("\naccounts {", `\naccounts {\n${others.map(accountText).join("\n")}`)
      .replace(
        /max_memory_store: .*\n.*max_file_store: .*/,
        `max_memory_store: 256MB\nmax_file_store: 256MB\n${limits}`,
      );
  let port = await running.start(configOn(-1));
  return {
    folder,
    get url() {
      return `tls://127.0.0.1:${port}`;
    },
    authority: authority.certificate,
    users,
    expired,
    stop: (signal = "SIGKILL") => running.stop(signal),
    async start() {
      port = await running.start(configOn(port));
    },
  };
}

class RunningServer {
  readonly #folder: string;
  #child: ChildProcess | null = null;
  #startCount = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns the port that it listens on */
  async start(config: string): Promise<number> {
    writeFileSync(join(this.#folder, "nats.conf"), config);
    const ports = join(this.#folder, `ports-${this.#startCount++}`);
    mkdirSync(ports);
    let said = "";
    const child = spawn(natsProgram ?? "", ["-c", "nats.conf", "--ports_file_dir", ports], {
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    this.#child = child;
    process.once("exit", () => child.kill("SIGKILL"));
    for (;;) {
      const port = portIn(ports);
      if (port !== null) return port;
      if (child.exitCode !== null) throw new Error(`nats-server: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }
}

function portIn(folder: string): number | null {
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".ports"));
  if (file === undefined) return null;
  try {
    const { nats } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { nats: readonly string[] };
    return Number(/:(\d+)$/.exec(nats[0])?.[1]);
  } catch {
    return null; // it is being written
  }
}
