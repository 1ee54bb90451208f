/** A relay in this process, with a certificate and one room or more, and what parties need to use it. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createHash } from "node:crypto";
import type { RelayAccess } from "../../src/transport/pipes/relay-pipe.ts";
import type { RelayEnd } from "../../src/transport/pipes/relay-terms.ts";
import { initRelay, initRoom } from "../../src/party/relay-files/init-relay.ts";
import type { RelayEvent, RelayLimits } from "../../src/relay/relay-options.ts";
import { type RunningRelay, startRelay } from "../../src/relay/relay-server.ts";

const host = "127.0.0.1";

export const usualLimits: RelayLimits = {
  connectionsPerEnd: 64,
  connectionsPerMinute: 1000,
  connections: 512,
  frameBytes: 2 << 20,
  waitingBytes: 1 << 20,
  bytesPerSecond: 0,
  absentMs: 5000,
  pingMs: 20_000,
};

/** The fields of `relay:` in a party's config. */
export interface RelayFields {
  readonly url: string;
  readonly room: string;
  readonly token_file: string;
  readonly fingerprint: string;
}

export class TestRelay {
  readonly folder: string;
  readonly fingerprint: string;
  readonly events: RelayEvent[] = [];
  readonly #rooms: readonly string[];
  #running: RunningRelay | null = null;
  port = 0;

  private constructor(folder: string, fingerprint: string, rooms: readonly string[]) {
    this.folder = folder;
    this.fingerprint = fingerprint;
    this.#rooms = rooms;
  }

  static async found(folder: string, rooms: readonly string[] = ["room"]): Promise<TestRelay> {
    mkdirSync(folder, { recursive: true });
    const [first, ...others] = rooms;
    const { fingerprint } = await initRelay({ host, port: 443, room: first, directory: folder });
    for (const room of others) await initRoom({ room, directory: folder });
    return new TestRelay(folder, fingerprint, rooms);
  }

  /** Starts it, or starts it again on the same port. */
  async start(limits: Partial<RelayLimits> = {}): Promise<RunningRelay> {
    const read = (name: string): string => readFileSync(join(this.folder, name), "utf8");
    this.#running = await startRelay({
      listen: { host, port: this.port },
      tls: { certificate: read("certificate.pem"), key: read("key.pem") },
      rooms: this.#rooms.map((name) => ({
        name,
        tokens: { active: [this.#digest(name, "active")], passive: [this.#digest(name, "passive")] },
      })),
      limits: { ...usualLimits, ...limits },
      onEvent: (event) => this.events.push(event),
    });
    this.port = this.#running.port;
    return this.#running;
  }

  token(room: string, end: RelayEnd): string {
    return readFileSync(this.#tokenFile(room, end), "utf8").trim();
  }

  #digest(room: string, end: RelayEnd): string {
    return createHash("sha256").update(this.token(room, end)).digest("hex");
  }

  #tokenFile(room: string, end: RelayEnd): string {
    return join(this.folder, `${room}.${end}.token`);
  }

  fields(end: RelayEnd, room = this.#rooms[0]): RelayFields {
    return {
      url: `wss://${host}:${this.port}`,
      room,
      token_file: this.#tokenFile(room, end),
      fingerprint: this.fingerprint,
    };
  }

  access(end: RelayEnd, room = this.#rooms[0]): RelayAccess {
    return {
      host,
      port: this.port,
      prefix: "",
      room,
      end,
      tokenFile: this.#tokenFile(room, end),
      insecureFiles: false,
      fingerprints: [this.fingerprint],
      frameBytesMax: 2 << 20,
      proxy: null,
    };
  }

  async stop(): Promise<void> {
    await this.#running?.close();
    this.#running = null;
  }
}
