/**
 * nats-server as a company runs it, with the config that `tandem init crew` writes: one, or three that keep everything
 * three times. Ports stay the same when one is started again.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { crewFiles } from "../../../src/party/crew-files/crew-names.ts";
import { freePort } from "../tandem-process.ts";

/** TANDEM_NATS_SERVER names one in another place. Null where there is none on this machine. */
export function natsServerProgram(): string | null {
  const given = process.env["TANDEM_NATS_SERVER"] ?? "";
  const places = given === "" ? ["nats-server", "/usr/sbin/nats-server"] : [given];
  return places.find((path) => spawnSync(path, ["--version"]).status === 0) ?? null;
}

interface Ports {
  readonly clients: number;
  readonly monitor: number;
  readonly routes: number;
}

/** What a server says of a stream. */
export interface StreamState {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  /** Of a cluster: which server decides. */
  readonly leader: string | null;
}

export class EngineServers {
  readonly #program: string;
  /** The crew's: certificates, and the config as it was written. */
  readonly #folder: string;
  readonly #ports: readonly Ports[];

  private constructor(program: string, folder: string, ports: readonly Ports[]) {
    this.#program = program;
    this.#folder = folder;
    this.#ports = ports;
  }

  static async plan(program: string, folder: string, count: number): Promise<EngineServers> {
    const ports: Ports[] = [];
    for (let i = 0; i < count; i++)
      ports.push({ clients: await freePort(), monitor: await freePort(), routes: await freePort() });
    return new EngineServers(program, folder, ports);
  }

  get count(): number {
    return this.#ports.length;
  }

  /** As in a config. */
  get urls(): string[] {
    return this.#ports.map(({ clients }) => `tls://127.0.0.1:${clients}`);
  }

  static nameOf(server: number): string {
    return `server-${server}`;
  }

  /** With the files that it had. It says what it does in a log beside them. */
  start(server: number): ChildProcess {
    const name = EngineServers.nameOf(server);
    mkdirSync(join(this.#folder, name), { recursive: true });
    writeFileSync(join(this.#folder, `${name}.conf`), this.#configText(server));
    const log = openSync(join(this.#folder, `${name}.log`), "a", 0o600);
    const child = spawn(this.#program, ["-c", `${name}.conf`], { cwd: this.#folder, stdio: ["ignore", log, log] });
    closeSync(log); // it has its own
    return child;
  }

  /** Settles when all of them serve. */
  async ready(): Promise<void> {
    for (let server = 0; server < this.count; server++)
      while (!(await this.#isHealthy(server))) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  /** What the first server that answers knows of all streams; null where none does. */
  async streams(): Promise<readonly StreamState[] | null> {
    for (const { monitor } of this.#ports) {
      const figures = (await answerOf(monitor, "/jsz?accounts=true&streams=true")) as Jsz | null;
      if (figures === null) continue;
      return (figures.account_details ?? []).flatMap(({ stream_detail: streams = [] }) =>
        streams.map(({ name, state, cluster }) => ({
          name,
          messages: state.messages,
          bytes: state.bytes,
          leader: cluster?.leader ?? null,
        })),
      );
    }
    return null;
  }

  /** Bytes that clients have sent to the first server so far, by what they call themselves. */
  async bytesSent(): Promise<ReadonlyMap<string, number>> {
    const figures = (await answerOf(this.#ports[0].monitor, "/connz?limit=1000")) as Connz | null;
    const sent = new Map<string, number>();
    for (const { name = "", in_bytes: bytes } of figures?.connections ?? [])
      sent.set(name, (sent.get(name) ?? 0) + bytes);
    return sent;
  }

  async #isHealthy(server: number): Promise<boolean> {
    return (await answerOf(this.#ports[server].monitor, "/healthz")) !== null;
  }

  #configText(server: number): string {
    const name = EngineServers.nameOf(server);
    const { clients, monitor, routes } = this.#ports[server];
    const written = readFileSync(join(this.#folder, crewFiles.serverConfig), "utf8")
      .replace(/^listen: .*$/m, `listen: "127.0.0.1:${clients}"`)
      .replace(/^http: .*$/m, `http: "127.0.0.1:${monitor}"`)
      .replace(/store_dir: "\."/, `store_dir: "${name}"`);
    if (this.count === 1) return written;
    const others = this.#ports.map((port) => `"nats://127.0.0.1:${port.routes}"`).join(", ");
    const cluster = `cluster { name: "tandem", listen: "127.0.0.1:${routes}", routes: [${others}] }`;
    return `server_name: "${name}"\n${written}\n${cluster}\n`;
  }
}

interface Jsz {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly {
      readonly name: string;
      readonly state: { readonly messages: number; readonly bytes: number };
      readonly cluster?: { readonly leader?: string };
    }[];
  }[];
}

interface Connz {
  readonly connections?: readonly { readonly name?: string; readonly in_bytes: number }[];
}

/** Null without an answer, or with an error status. */
function answerOf(port: number, path: string): Promise<unknown> {
  return new Promise((resolve) => {
    const asked = get({ host: "127.0.0.1", port, path, timeout: 1000, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve(response.statusCode === 200 ? JSON.parse(text) : null));
      response.on("error", () => resolve(null));
    });
    asked.on("timeout", () => asked.destroy()).on("error", () => resolve(null));
  });
}
