/**
 * Serves a passive party over TLS: on connections that arrive at its port, and on those that it has dialled itself.
 * connection-gate.ts admits them before any call is read.
 */
import { setMaxListeners } from "node:events";
import { createSecureServer, type ServerHttp2Session } from "node:http2";
import { createServer, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  type ContextValues,
  createContextValues,
  type MethodImplSpec,
} from "@connectrpc/connect";
import type { OnRejected } from "../base/listening/pending-connections.ts";
import { type Caller, callerKey } from "./caller.ts";
import { registered } from "./calls/registered-methods.ts";
import { ServedCalls } from "./calls/serve-calls.ts";
import { ConnectionGate } from "./connection-gate.ts";
import { type HeldBytes, PartyAccounts } from "./held-bytes.ts";
import { heartbeatKey, heartbeatMs as usualHeartbeatMs } from "./heartbeat.ts";
import { listening } from "../base/listening/listening.ts";
import type { PinnedParty, RecognisedParty } from "./pinned-certificate.ts";
import { separateCalls } from "./separate-calls.ts";
import { type Address, callsPath, pingIntervalMs, type TlsIdentity, tlsOptions, windowBytes } from "./tls-settings.ts";

/** Active parties ping: a connection that has been silent for this long is dead. */
const silenceMs = 6 * pingIntervalMs;
/** How long open calls may take to end when a server closes. */
const closeGraceMs = 1000;
/** Calls that one connection may have open. */
const callsMax = 128;

export interface ListeningServer {
  /** 0: it does not listen. */
  readonly port: number;
  /** Serves a TCP connection that was dialled from here. @returns settles with whether calls came before it closed */
  serveSocket(socket: Socket): Promise<boolean>;
  /** The same for one whose other end is in this process. @param from where its bytes come from, for the log */
  servePipe(pipe: Socket, from: string): void;
  /** New connections are shown this certificate; those that are open stay. */
  renew(identity: TlsIdentity): void;
  /** From now on these parties may connect, with these certificates; other connections are closed. */
  repin(pinned: readonly PinnedParty[]): void;
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Called for each connection of a pinned party. */
  readonly onAdmitted?: (party: RecognisedParty) => void;
  /** Called for each connection that was not admitted. */
  readonly onRejected?: OnRejected;
  readonly heartbeatMs?: number;
  /** What the calls of each party hold. */
  readonly accounts?: PartyAccounts;
  /** Of one party; default: enough for two running jobs. */
  readonly connectionsMax?: number;
}

/** Serves a passive party to the holders of the pinned certificates only. @param address null: it does not listen */
export async function listenTls(
  service: { readonly routes: (router: ConnectRouter) => void },
  identity: TlsIdentity,
  pinnedActives: readonly PinnedParty[],
  address: Address | null,
  {
    onRejected = () => {},
    onAdmitted = () => {},
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
  const accept = (socket: Socket, from?: string): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    gate.accept(socket, () => server.emit("connection", socket), from);
  };
  const port = createServer((socket) => accept(socket));
  /** Of the sockets that were dialled from here and wait for calls: what to do when the first comes. */
  const waiting = new Map<string, () => void>();
  server.on("session", (session: ServerHttp2Session) => {
    session.on("error", () => {}); // a broken connection ends its streams, which the service notices
    const party = gate.admit(session);
    if (party === null) return;
    onAdmitted(party);
    const key = keyOf(session.socket);
    session.once("remoteSettings", () => waiting.get(key)?.());
    const closing = new AbortController();
    setMaxListeners(0, closing.signal); // one per open call
    callers.set(session, { ...party, gone: closing.signal });
    session.setLocalWindowSize(windowBytes);
    session.setTimeout(silenceMs, () => session.destroy());
    session.once("close", () => closing.abort());
  });
  server.on("unknownProtocol", (socket: TLSSocket) => socket.destroy());
  // A failed handshake of an unknown peer is not an error of this party.
  server.on("tlsClientError", (error, socket) => gate.handshakeFailed(socket, error));
  if (address !== null) await listening(port, address);
  const bound = port.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    renew: (renewed) => server.setSecureContext(tlsOptions(renewed)),
    repin: (parties) => gate.repin(parties),
    serveSocket: (socket) =>
      new Promise((resolve) => {
        const key = keyOf(socket);
        waiting.set(key, () => resolve(true));
        socket.once("close", () => {
          waiting.delete(key);
          resolve(false);
        });
        accept(socket);
      }),
    servePipe: accept,
    close: async () => {
      const deadline = setTimeout(() => sockets.forEach((socket) => socket.destroy()), closeGraceMs);
      const closed = Promise.all([
        new Promise((resolve) => port.close(resolve)),
        ...[...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve))),
      ]);
      for (const calls of callStreams.values()) calls.close();
      gate.close();
      await closed;
      clearTimeout(deadline);
    },
  };
}

function keyOf({ localAddress, localPort }: Pick<Socket, "localAddress" | "localPort">): string {
  return `${localAddress} ${localPort}`;
}
