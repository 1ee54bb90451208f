/** Serves a passive party over TLS. connection-gate.ts admits connections before any call is read. */
import { createSecureServer, type ServerHttp2Session } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  type ContextValues,
  createContextValues,
  type MethodImplSpec,
} from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import type { OnRejected } from "../base/listening/pending-connections.ts";
import { type Caller, callerKey } from "./caller.ts";
import { registered } from "./calls/registered-methods.ts";
import { ServedCalls } from "./calls/serve-calls.ts";
import { ConnectionGate } from "./connection-gate.ts";
import { type HeldBytes, PartyAccounts } from "./held-bytes.ts";
import { heartbeatKey, heartbeatMs as usualHeartbeatMs } from "./heartbeat.ts";
import type { PinnedParty } from "./pinned-certificate.ts";
import { separateCalls } from "./separate-calls.ts";
import { type Address, callsPath, pingIntervalMs, type TlsIdentity, tlsOptions, windowBytes } from "./tls-settings.ts";

/** Active parties ping: a connection that has been silent for this long is dead. */
const silenceMs = 6 * pingIntervalMs;
/** How long open calls may take to end when a server closes. */
const closeGraceMs = 1000;
/** Calls that one connection may have open. */
const callsMax = 128;
/** Connections that the system has accepted and we have not: large, so that a flood does not lock out our party. */
const backlog = 4096;

export interface ListeningServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Called for each connection that was not admitted. */
  readonly onRejected?: OnRejected;
  readonly heartbeatMs?: number;
  /** What the calls of each party hold. */
  readonly accounts?: PartyAccounts;
  /** Of one party; default: enough for two running jobs. */
  readonly connectionsMax?: number;
}

/** Serves a passive party to the holders of the pinned certificates only. */
export async function listenTls(
  service: { readonly routes: (router: ConnectRouter) => void },
  identity: TlsIdentity,
  pinnedActives: readonly PinnedParty[],
  address: Address,
  {
    onRejected = () => {},
    heartbeatMs = usualHeartbeatMs,
    accounts = new PartyAccounts(),
    connectionsMax,
  }: ListenOptions = {},
): Promise<ListeningServer> {
  const callers = new WeakMap<object, Caller>();
  const methods = new Map<string, MethodImplSpec>();
  const callStreams = new Map<object, ServedCalls>();
  const callerOf = (session: object | undefined): { readonly values: ContextValues; readonly account: HeldBytes } => {
    const caller = session === undefined ? undefined : callers.get(session);
    if (caller === undefined) throw new ConnectError("not a pinned party", Code.Unauthenticated);
    const values = createContextValues().set(callerKey, caller).set(heartbeatKey, heartbeatMs);
    return { values, account: accounts.of(caller.name) };
  };
  const serveSeparate = separateCalls(registered(service.routes, methods), ({ stream }) => callerOf(stream.session));
  const server = createSecureServer(
    {
      ...tlsOptions(identity),
      requestCert: true,
      settings: { initialWindowSize: windowBytes, maxConcurrentStreams: callsMax, maxFrameSize: 1 << 20 },
    },
    (request, response) => {
      if (request.url !== callsPath) return serveSeparate(request, response);
      const { session } = request.stream;
      // One stream per connection: the limit of unread bytes is per stream.
      if (session === undefined || !callers.has(session) || callStreams.has(session)) return request.stream.close();
      request.stream.respond({ ":status": 200 });
      const { values, account } = callerOf(session);
      callStreams.set(session, new ServedCalls(request.stream, methods, values, account));
      session.once("close", () => callStreams.delete(session));
    },
  );
  const gate = new ConnectionGate(pinnedActives, onRejected, connectionsMax);
  const sockets = new Set<Socket>();
  const port = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    gate.accept(socket, () => server.emit("connection", socket));
  });
  server.on("session", (session: ServerHttp2Session) => {
    session.on("error", () => {}); // a broken connection ends its streams, which the service notices
    const party = gate.admit(session);
    if (party === null) return;
    const closing = new AbortController();
    callers.set(session, { ...party, gone: closing.signal });
    session.setLocalWindowSize(windowBytes);
    session.setTimeout(silenceMs, () => session.destroy());
    session.once("close", () => closing.abort());
  });
  server.on("unknownProtocol", (socket: TLSSocket) => socket.destroy());
  // A failed handshake of an unknown peer is not an error of this party.
  server.on("tlsClientError", (error, socket) => gate.handshakeFailed(socket, error));
  await listening(port, address);
  const bound = port.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : address.port,
    close: () =>
      new Promise((resolve) => {
        const deadline = setTimeout(() => sockets.forEach((socket) => socket.destroy()), closeGraceMs);
        port.close(() => {
          clearTimeout(deadline);
          resolve();
        });
        for (const calls of callStreams.values()) calls.close();
        gate.close();
      }),
  };
}

/** Listens for a moment. @throws TandemError USAGE if that is not possible */
export async function canListen(address: Address): Promise<void> {
  const server = createServer();
  await listening(server, address);
  await new Promise((resolve) => server.close(resolve));
}

const listenTrouble: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port",
  EADDRNOTAVAIL: "it is no address of this machine",
  EACCES: "ports below 1024 need a privilege of the operating system",
  ENOTFOUND: "there is no such host name",
};

function listening(server: Server, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const why = listenTrouble[cause.code ?? ""] ?? cause.message;
      reject(new TandemError("USAGE", `cannot listen on ${host}:${port}: ${why}`, { cause }));
    });
    server.listen({ port, host, backlog }, () => resolve());
  });
}
