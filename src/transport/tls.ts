/**
 * gRPC over HTTP/2 and TLS 1.3 with certificates on both sides. A peer must show the very certificate that was pinned:
 * an authority that goes wrong, or another customer of it, cannot join. Where an authority is named the certificate
 * must be one of its own as well; without one the pinned certificate vouches for itself, and only its dates are checked
 * besides.
 *
 * HTTP/2's default window of 64 KB would cap a stream at a few MB/s on any real network, so both ends open theirs to
 * 8 MB. Ciphertexts do not compress: compression is off.
 */
import { createHash, X509Certificate } from "node:crypto";
import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ClientHttp2Stream,
  type Http2Session,
} from "node:http2";
import { isIP, isIPv6, type Socket } from "node:net";
import { connect as connectSocket, type TLSSocket } from "node:tls";
import { Code, ConnectError, type ConnectRouter, createContextValues, type Transport } from "@connectrpc/connect";
import { connectNodeAdapter, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { AlignmentPeer } from "../align/alignment-peer.ts";
import { TandemError } from "../base/error.ts";
import type { PassivePeer } from "../wire/peer.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { messageBytesMax } from "../wire/version.ts";
import { alignmentPeerOver } from "./alignment-client.ts";
import { type Caller, callerKey } from "./caller.ts";
import type { Identity } from "./certificates.ts";
import { peerOver } from "./peer-client.ts";
import { scoringPeerOver } from "./scoring-client.ts";

const windowBytes = 8 << 20;
const pingIntervalMs = 20_000;
const pingTimeoutMs = 20_000;
/** Active parties ping: a connection that has been silent for this long leads nowhere. */
const silenceMs = 6 * pingIntervalMs;
/** How long a connection may take until the other side has shown its certificate. */
const openMsMax = 20_000;
/** How long open calls may take to end when a server closes. */
const closeGraceMs = 1000;
/** One active party needs one connection, and a second while it reconnects; strangers get no more than the rest. */
const connectionsMax = 32;

/** What one party needs to speak TLS with the others. */
export interface TlsIdentity extends Identity {
  /** PEM of the agreed certificate authority, if there is one. */
  readonly authority?: string | undefined;
}

/** A party that may connect, and how it is recognised. */
export interface PinnedParty {
  readonly name: string;
  readonly fingerprint: string;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** SHA-256 of a certificate's DER form, in lowercase hex. */
export function certificateFingerprint(pem: string): string {
  return createHash("sha256").update(new X509Certificate(pem).raw).digest("hex");
}

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
  const limits = { readMaxBytes: messageBytesMax, writeMaxBytes: messageBytesMax, acceptCompression: [] };
  const callers = new WeakMap<object, Caller>();
  const server = createSecureServer(
    {
      ...tlsOptions(identity),
      requestCert: true,
      settings: { initialWindowSize: windowBytes },
    },
    connectNodeAdapter({
      routes: service.routes,
      ...limits,
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

/** Without an authority nothing is decided here: whoever uses these options compares fingerprints, and must. */
function tlsOptions({ authority, certificate, key }: TlsIdentity) {
  return {
    cert: certificate,
    key,
    minVersion: "TLSv1.3",
    rejectUnauthorized: authority !== undefined,
    ...(authority === undefined ? {} : { ca: authority }),
  } as const;
}

function listening(server: Http2SecureServer, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new TandemError("USAGE", `cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, () => resolve());
  });
}

export interface TlsPeer extends PassivePeer {
  /** The same party, over the same connection, for the alignment before a job. */
  alignment(job: string, validationFile?: boolean): AlignmentPeer;
  close(): void;
}

/** How a connection that stalls is noticed. */
export interface Liveness {
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

/** A passive party at host:port that must show the pinned certificate. */
export function connectTls(
  name: string,
  identity: TlsIdentity,
  pinnedPassive: string,
  address: Address,
  liveness?: Liveness,
): TlsPeer {
  const { transport, sessions } = transportTo(name, identity, pinnedPassive, address, {
    isReplaced: false,
    ...liveness,
  });
  return {
    ...peerOver(name, transport),
    alignment: (job, validationFile) => alignmentPeerOver(name, transport, job, validationFile),
    close: () => sessions.abort(),
  };
}

export interface TlsScoringPeer extends ScoringPeer {
  close(): void;
}

/** The same for scores. They belong to no job and to no connection: one that is lost, or leads nowhere, is replaced. */
export function connectScoring(
  name: string,
  identity: TlsIdentity,
  pinnedPassive: string,
  address: Address,
): TlsScoringPeer {
  const { transport, sessions } = transportTo(name, identity, pinnedPassive, address, { isReplaced: true });
  return { ...scoringPeerOver(name, transport, () => sessions.abort()), close: () => sessions.abort() };
}

function transportTo(
  name: string,
  identity: TlsIdentity,
  pinnedPassive: string,
  address: Address,
  options: { readonly isReplaced: boolean } & Partial<Liveness>,
): { readonly transport: Transport; readonly sessions: PinnedSessionManager } {
  const baseUrl = `https://${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`;
  const sessions = new PinnedSessionManager(baseUrl, { pingIntervalMs, pingTimeoutMs, ...options }, () =>
    pinnedSocket(name, identity, pinnedPassive, address),
  );
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: sessions,
    acceptCompression: [],
    readMaxBytes: messageBytesMax,
    writeMaxBytes: messageBytesMax,
  });
  return { transport, sessions };
}

/** A connection to the pinned party, and to nobody else. */
function pinnedSocket(
  name: string,
  identity: TlsIdentity,
  pinnedPassive: string,
  { host, port }: Address,
): Promise<TLSSocket> {
  const trouble = (der: Uint8Array | undefined): Error | undefined => {
    const checked = checkCertificate(der, [{ name, fingerprint: pinnedPassive }]);
    return typeof checked === "string" ? new Error(`certificate of ${name}: ${checked}`) : undefined;
  };
  return new Promise((resolve, reject) => {
    const socket = connectSocket({
      ...tlsOptions(identity),
      host,
      port,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["h2"],
      // The name in the certificate is of no interest: the certificate itself is known.
      checkServerIdentity: (_host, certificate) => trouble(certificate.raw),
    });
    socket.on("error", reject);
    // Somebody who takes the connection and says nothing, or nobody at all.
    const deadline = setTimeout(() => socket.destroy(new Error(`no answer within ${openMsMax / 1000} s`)), openMsMax);
    socket.once("close", () => clearTimeout(deadline));
    socket.once("secureConnect", () => {
      // Asked again, because without an authority Node has not asked the function above.
      const error = trouble(socket.getPeerCertificate().raw);
      clearTimeout(deadline);
      if (error === undefined) resolve(socket);
      else socket.destroy(error);
    });
  });
}

/** @returns the pinned party whose certificate this is, or why it is nobody's */
function checkCertificate(der: Uint8Array | undefined, pinned: readonly PinnedParty[]): PinnedParty | string {
  if (der === undefined) return "it shows no certificate";
  const fingerprint = createHash("sha256").update(der).digest("hex");
  const party = pinned.find((candidate) => candidate.fingerprint === fingerprint);
  if (party === undefined) return `it is not the pinned one; its fingerprint is ${fingerprint}`;
  const { validFrom, validTo } = new X509Certificate(der);
  if (Date.now() < Date.parse(validFrom)) return `it is valid only from ${validFrom}`;
  if (Date.now() > Date.parse(validTo)) return `it expired at ${validTo}`;
  return party;
}

/**
 * A session manager that speaks HTTP/2 only over sockets whose other end has been checked, with wide receive windows. A
 * connection of a job that is lost is not replaced behind its user's back: what was under way on it belonged to it, and
 * a new attempt begins with a new one.
 */
class PinnedSessionManager extends Http2SessionManager {
  readonly #widened = new WeakSet<Http2Session>();
  readonly #checked: { socket: TLSSocket | null };
  readonly #open: () => Promise<TLSSocket>;
  readonly #isReplaced: boolean;
  #opening: Promise<void> | null = null;
  #wasOpen = false;

  constructor(
    url: string,
    { isReplaced, ...liveness }: Liveness & { readonly isReplaced: boolean },
    open: () => Promise<TLSSocket>,
  ) {
    const checked: { socket: TLSSocket | null } = { socket: null };
    super(url, liveness, {
      settings: { initialWindowSize: windowBytes },
      createConnection() {
        const { socket } = checked;
        checked.socket = null;
        if (socket === null || socket.destroyed) throw new ConnectError("the connection was lost", Code.Unavailable);
        return socket;
      },
    });
    this.#checked = checked;
    this.#isReplaced = isReplaced;
    this.#open = open;
  }

  override async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    if (this.state() === "closed" || this.state() === "error") {
      if (this.#wasOpen && !this.#isReplaced) throw new ConnectError("the connection was lost", Code.Unavailable);
      await (this.#opening ??= this.#connectChecked());
    }
    const stream = await super.request(...request);
    if (stream.session !== undefined && !this.#widened.has(stream.session)) {
      this.#widened.add(stream.session);
      stream.session.setLocalWindowSize(windowBytes);
      // The streams of a broken connection fail by themselves. A connection that the other side closes in good order
      // after the last stream fails here only, and nobody would listen.
      stream.session.on("error", () => {});
    }
    return stream;
  }

  async #connectChecked(): Promise<void> {
    try {
      this.#checked.socket = await this.#open();
      if ((await this.connect()) === "error") throw this.error();
      this.#wasOpen = true;
    } catch (cause) {
      throw ConnectError.from(cause, Code.Unavailable);
    } finally {
      this.#opening = null;
    }
  }
}
