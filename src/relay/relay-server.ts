/**
 * A relay: parties dial it, and it joins the two ends of a room. It is blind: what passes is the TLS that the parties
 * have with each other, whose certificates it does not know. It stores nothing. A connection without a valid token
 * costs it no more than a TLS handshake and one request.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { limitPendingHttp, requestTimeouts } from "../base/listening/pending-http.ts";
import { listening } from "../base/listening/listening.ts";
import {
  type RelayEnd,
  relayEnds,
  relayHeader,
  relayProtocol,
  type RelayRefusal,
  relayRefusals,
  roomPath,
} from "../transport/pipes/relay-terms.ts";
import { RelayConnection } from "./relay-connection.ts";
import type { RelayOptions } from "./relay-options.ts";
import { Room } from "./room.ts";

const requestMsMax = 5000;
/** Parts of a message, and what the library holds of them: our parties send messages whole. */
const fragmentsMax = 256;

export interface RunningRelay {
  readonly port: number;
  readonly rooms: readonly Room[];
  /** Closes all connections with the word that parties take for "try again". */
  close(): Promise<void>;
}

interface Wanted {
  readonly room: Room;
  readonly end: RelayEnd;
}

/** @throws TandemError USAGE if it cannot listen */
export async function startRelay({ listen, tls, rooms: given, limits, onEvent }: RelayOptions): Promise<RunningRelay> {
  const rooms = given.map((room) => new Room(room, { limits, onEvent }));
  let isStopping = false;
  const server = createServer(
    {
      cert: tls.certificate,
      key: tls.key,
      minVersion: "TLSv1.2",
      ALPNProtocols: ["http/1.1"],
      handshakeTimeout: requestMsMax,
      ...requestTimeouts(requestMsMax),
    },
    (request, response) => answer(request, response),
  );
  const pending = limitPendingHttp(server, limits.connections);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frameBytes,
    maxFragments: fragmentsMax,
    maxBufferedChunks: 4096,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: () => relayProtocol,
  });

  const wantedBy = (request: IncomingMessage): Wanted | RelayRefusal => {
    const token = /^Bearer ([\x21-\x7e]{1,256})$/.exec(request.headers.authorization ?? "")?.[1];
    const protocols = (request.headers["sec-websocket-protocol"] ?? "").split(/,\s*/);
    const path = /^(?:\/[^?#]*)?(\/v1\/rooms\/[a-z0-9-]{1,64}\/(?:active|passive))$/.exec(request.url ?? "")?.[1];
    if (path === undefined || !protocols.includes(relayProtocol)) return "request";
    for (const room of rooms)
      for (const end of relayEnds)
        if (roomPath(room.name, end) === path && token !== undefined) {
          if (isStopping) return "stopping";
          if (total(rooms) >= limits.connections) return "full";
          return room.refusal(end, token) ?? { room, end };
        }
    return "token";
  };

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => {});
    const address = request.socket.remoteAddress ?? "";
    const wanted = wantedBy(request);
    if (typeof wanted === "string") {
      onEvent({ type: "refused", reason: wanted, address, why: relayRefusals[wanted].words });
      return refuse(socket, wanted);
    }
    pending.admit(request);
    sockets.handleUpgrade(request, socket, head, (opened) =>
      wanted.room.add(new RelayConnection(wanted.end, address, opened, limits.pingMs)),
    );
  });
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) =>
    onEvent({
      type: "refused",
      reason: "handshake",
      address: socket.remoteAddress ?? "",
      why: `no TLS connection (${error.code ?? "unknown"})`,
    }),
  );
  await listening(server, listen);
  const { port } = server.address() as AddressInfo;
  onEvent({ type: "listening", port, process: process.pid, rooms: rooms.length });
  return {
    port,
    rooms,
    close: () =>
      new Promise((resolve) => {
        isStopping = true;
        onEvent({ type: "stopping" });
        server.close(() => {
          onEvent({ type: "stopped" });
          resolve();
        });
        for (const room of rooms) room.close();
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), requestMsMax).unref();
      }),
  };
}

function total(rooms: readonly Room[]): number {
  return rooms.reduce((sum, { connectionCount }) => sum + connectionCount, 0);
}

/** What is no WebSocket: a health check, or a request that is not for a relay. */
function answer({ method, url }: IncomingMessage, response: ServerResponse): void {
  const isHealth = method === "GET" && url === "/health";
  const { status, words } = isHealth ? { status: 200, words: "ok" } : relayRefusals.request;
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    [relayHeader]: isHealth ? "health" : "request",
    connection: "close",
  });
  response.end(`${words}\n`);
}

function refuse(socket: Duplex, refusal: RelayRefusal): void {
  const { status, words } = relayRefusals[refusal];
  const body = `${words}\n`;
  socket.end(
    [
      `HTTP/1.1 ${status} Refused`,
      `${relayHeader}: ${refusal}`,
      "content-type: text/plain; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
