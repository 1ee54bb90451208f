/**
 * A relay whose operator is hostile: it accepts every token, joins whom it likes, sees all bytes, and changes messages.
 */
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type WebSocket, WebSocketServer } from "ws";
import { pairedWord, relayProtocol, type RelayEnd } from "../../../src/transport/pipes/relay-terms.ts";

export interface Deviation {
  /** What is passed on in place of a message; null: the message itself. */
  readonly changed?: (message: Buffer, to: RelayEnd, index: number) => readonly Buffer[] | null;
  /** The room that a connection is put into, where it is another one. */
  readonly roomOf?: (room: string, end: RelayEnd) => string;
  /** Takes a connection of the active end for itself, instead of joining it. */
  readonly taken?: (active: WebSocket) => void;
}

export class HostileRelay {
  readonly port: number;
  /** All bytes that passed, in both directions. */
  readonly seen: Buffer[] = [];
  pairCount = 0;
  readonly #server: Server;
  readonly #sockets: Set<WebSocket>;

  private constructor(port: number, server: Server, sockets: Set<WebSocket>) {
    this.port = port;
    this.#server = server;
    this.#sockets = sockets;
  }

  /** @param folder with the certificate and the key of a relay @param deviationOf of each pair, counted from 0 */
  static async start(folder: string, deviationOf: (pair: number) => Deviation = () => ({})): Promise<HostileRelay> {
    const read = (name: string): string => readFileSync(join(folder, name), "utf8");
    const server = createServer({ cert: read("certificate.pem"), key: read("key.pem") });
    const sockets = new Set<WebSocket>();
    const accepting = new WebSocketServer({ noServer: true, handleProtocols: () => relayProtocol });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const relay = new HostileRelay((server.address() as AddressInfo).port, server, sockets);
    const waiting = new Map<string, WebSocket[]>();
    server.on("upgrade", (request, socket, head) =>
      accepting.handleUpgrade(request, socket, head, (opened) => {
        sockets.add(opened);
        opened.on("error", () => {}).once("close", () => sockets.delete(opened));
        const [, given = "", end = "passive"] = /rooms\/(.*)\/(active|passive)$/.exec(request.url ?? "") ?? [];
        const deviation = deviationOf(relay.pairCount);
        const room = deviation.roomOf?.(given, end as RelayEnd) ?? given;
        const own = `${room} ${end}`;
        if (end === "active" && deviation.taken !== undefined) {
          relay.pairCount++;
          opened.send(pairedWord);
          return deviation.taken(opened);
        }
        waiting.set(own, [...(waiting.get(own) ?? []).filter((each) => sockets.has(each)), opened]);
        const other = `${room} ${end === "active" ? "passive" : "active"}`;
        const there = (waiting.get(other) ?? []).findLast((each) => sockets.has(each));
        if (there === undefined) return;
        for (const [key, socketOf] of [
          [own, opened],
          [other, there],
        ] as const)
          waiting.set(
            key,
            (waiting.get(key) ?? []).filter((each) => each !== socketOf),
          );
        relay.#join(...((end === "active" ? [opened, there] : [there, opened]) as [WebSocket, WebSocket]), deviation);
      }),
    );
    return relay;
  }

  #join(active: WebSocket, passive: WebSocket, { changed = () => null }: Deviation): void {
    this.pairCount++;
    for (const [from, to, end] of [
      [active, passive, "passive"],
      [passive, active, "active"],
    ] as const) {
      let index = 0;
      from.on("message", (message: Buffer) => {
        this.seen.push(message);
        for (const passed of changed(message, end, index++) ?? [message]) to.send(passed);
      });
      from.once("close", () => to.close());
      from.send(pairedWord);
    }
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
