/** Serving a passive party over TLS. Who is let in is decided by pinned-certificate.ts, before any call is read. */
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Code, ConnectError, type ConnectRouter, createContextValues } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { TandemError } from "../base/error.ts";
import { type Caller, callerKey } from "./caller.ts";
import { checkCertificate, type PinnedParty } from "./pinned-certificate.ts";
import {
  type Address,
  messageLimits,
  pingIntervalMs,
  type TlsIdentity,
  tlsOptions,
  windowBytes,
} from "./tls-settings.ts";

/** Active parties ping: a connection that has been silent for this long leads nowhere. */
const silenceMs = 6 * pingIntervalMs;
/** How long open calls may take to end when a server closes. */
const closeGraceMs = 1000;
/** One active party needs one connection, and a second while it reconnects; strangers get no more than the rest. */
const connectionsMax = 32;

export interface ListeningServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Who was turned away at the door, for the log. */
export type OnTurnedAway = (address: string, why: string) => void;

/** Serves a passive party to the holders of the pinned certificates, and to nobody else. */
export async function listenTls(
  service: { readonly routes: (router: ConnectRouter) => void },
  identity: TlsIdentity,
  pinnedActives: readonly PinnedParty[],
  address: Address,
  onTurnedAway: OnTurnedAway = () => {},
): Promise<ListeningServer> {
  const callers = new WeakMap<object, Caller>();
  const server = createSecureServer(
    {
      ...tlsOptions(identity),
      requestCert: true,
      settings: { initialWindowSize: windowBytes },
    },
    connectNodeAdapter({
      routes: service.routes,
      ...messageLimits,
      contextValues(request) {
        const caller =
          "stream" in request && request.stream.session !== undefined ? callers.get(request.stream.session) : undefined;
        if (caller === undefined) throw new ConnectError("not a pinned party", Code.Unauthenticated);
        return createContextValues().set(callerKey, caller);
      },
    }),
  );
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("session", (session: ServerHttp2Session) => {
    const socket = session.socket as TLSSocket;
    const checked = checkCertificate(socket.getPeerCertificate().raw, pinnedActives);
    if (typeof checked === "string") {
      onTurnedAway(socket.remoteAddress ?? "", checked);
      session.destroy();
      return;
    }
    const closing = new AbortController();
    callers.set(session, { ...checked, gone: closing.signal });
    session.setLocalWindowSize(windowBytes);
    session.setTimeout(silenceMs, () => session.destroy());
    session.on("error", () => {}); // a broken connection ends its streams, which is how the service notices
    sessions.add(session);
    session.once("close", () => {
      sessions.delete(session);
      closing.abort();
    });
  });
  server.maxConnections = connectionsMax;
  // A stranger at the door is not our failure.
  server.on("tlsClientError", (error, socket) =>
    onTurnedAway(
      socket.remoteAddress ?? "",
      `no TLS 1.3 connection (${(error as NodeJS.ErrnoException).code ?? "unknown"})`,
    ),
  );
  await listening(server, address);
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : address.port,
    close: () =>
      new Promise((resolve) => {
        const deadline = setTimeout(() => sockets.forEach((socket) => socket.destroy()), closeGraceMs);
        server.close(() => {
          clearTimeout(deadline);
          resolve();
        });
        for (const session of sessions) session.close();
      }),
  };
}

function listening(server: Http2SecureServer, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new TandemError("USAGE", `cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, () => resolve());
  });
}
