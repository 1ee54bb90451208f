/**
 * gRPC over HTTP/2 and TLS 1.3 with certificates on both sides. A peer must show a certificate of the agreed authority
 * AND the very one that was pinned: an authority that goes wrong, or another customer of it, cannot join.
 *
 * HTTP/2's default window of 64 KB would cap a stream at a few MB/s on any real network, so both ends open theirs to
 * 8 MB. Ciphertexts do not compress: compression is off.
 */
import { createHash, X509Certificate } from "node:crypto";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session, type ClientHttp2Stream, type Http2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { connectNodeAdapter, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { TandemError } from "../base/error.ts";
import type { PassivePeer } from "../protocol/peer.ts";
import { messageBytesMax } from "../protocol/version.ts";
import type { Identity } from "./certificates.ts";
import type { PassiveService } from "./passive-service.ts";
import { peerOver } from "./peer-client.ts";

const windowBytes = 8 << 20;
const pingIntervalMs = 20_000;
const pingTimeoutMs = 20_000;
/** Active parties ping: a connection that has been silent for this long leads nowhere. */
const silenceMs = 6 * pingIntervalMs;
/** How long open calls may take to end when a server closes. */
const closeGraceMs = 1000;
/** One active party needs one connection, and a second while it reconnects; strangers get no more than the rest. */
const connectionsMax = 32;

/** What one party needs to speak TLS with one other. */
export interface TlsIdentity extends Identity {
  /** PEM of the agreed certificate authority. */
  readonly authority: string;
}

/** SHA-256 of a certificate's DER form, in lowercase hex. */
export function certificateFingerprint(pem: string): string {
  return createHash("sha256").update(new X509Certificate(pem).raw).digest("hex");
}

export interface ListeningServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves a passive party to the holder of the pinned certificate, and to nobody else. */
export async function listenTls(
  service: PassiveService,
  identity: TlsIdentity,
  pinnedActive: string,
  address: { readonly host: string; readonly port: number },
): Promise<ListeningServer> {
  const limits = { readMaxBytes: messageBytesMax, writeMaxBytes: messageBytesMax, acceptCompression: [] };
  const server = createSecureServer(
    {
      ca: identity.authority,
      cert: identity.certificate,
      key: identity.key,
      minVersion: "TLSv1.3",
      requestCert: true,
      rejectUnauthorized: true,
      settings: { initialWindowSize: windowBytes },
    },
    connectNodeAdapter({ routes: service.routes, ...limits }),
  );
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("session", (session: ServerHttp2Session) => {
    if (!isPinned((session.socket as TLSSocket).getPeerCertificate().raw, pinnedActive)) {
      session.destroy();
      return;
    }
    session.setLocalWindowSize(windowBytes);
    session.setTimeout(silenceMs, () => session.destroy());
    session.on("error", () => {}); // a broken connection ends its streams, which is how the service notices
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  server.maxConnections = connectionsMax;
  server.on("tlsClientError", () => {}); // a stranger at the door is not our failure
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

function listening(server: Http2SecureServer, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(new TandemError("USAGE", `cannot listen on ${host}:${port}: ${cause.message}`, { cause })));
    server.listen(port, host, () => resolve());
  });
}

export interface TlsPeer extends PassivePeer {
  close(): void;
}

/** A passive party at host:port that must show the pinned certificate. */
export function connectTls(name: string, identity: TlsIdentity, pinnedPassive: string, address: { readonly host: string; readonly port: number }): TlsPeer {
  const baseUrl = `https://${address.host}:${address.port}`;
  const sessionManager = new WideSessionManager(baseUrl, { pingIntervalMs, pingTimeoutMs }, {
    ca: identity.authority,
    cert: identity.certificate,
    key: identity.key,
    minVersion: "TLSv1.3",
    settings: { initialWindowSize: windowBytes },
    checkServerIdentity: (_host, certificate) =>
      isPinned(certificate.raw, pinnedPassive) ? undefined : new Error(`certificate of ${name} is not the pinned one`),
  });
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager,
    acceptCompression: [],
    readMaxBytes: messageBytesMax,
    writeMaxBytes: messageBytesMax,
  });
  return { ...peerOver(name, transport), close: () => sessionManager.abort() };
}

function isPinned(der: Uint8Array | undefined, fingerprint: string): boolean {
  return der !== undefined && createHash("sha256").update(der).digest("hex") === fingerprint;
}

/** A session manager whose connections have wide receive windows. */
class WideSessionManager extends Http2SessionManager {
  readonly #widened = new WeakSet<Http2Session>();

  override async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    const stream = await super.request(...request);
    if (stream.session !== undefined && !this.#widened.has(stream.session)) {
      this.#widened.add(stream.session);
      stream.session.setLocalWindowSize(windowBytes);
      // The streams of a broken connection fail by themselves. A connection that the other side closes in good order after
      // the last stream fails here only, and nobody would listen.
      stream.session.on("error", () => {});
    }
    return stream;
  }
}
