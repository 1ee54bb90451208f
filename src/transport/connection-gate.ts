/**
 * Admits TLS connections. A connection is pending until it has presented a pinned certificate; after that it holds a
 * slot reserved for that party, which no unauthenticated peer can take. A party has several slots, so that its own dead
 * connections do not lock it out: its oldest connection is closed when all are taken.
 */
import { constants, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type OnRejected, PendingConnections, type PendingLimits } from "../base/listening/pending-connections.ts";
import { onFirstRecord } from "./first-record.ts";
import { CertificateRefused, checkCertificate, type PinnedParty, type RecognisedParty } from "./pinned-certificate.ts";
import { rateLimitedLog, type RateLimitedLog } from "./rate-limited-log.ts";

const unauthenticated: PendingLimits = { connectionsMax: 1024, perAddressMax: 512, authenticateMsMax: 5000 };
/** Two jobs, four that wait, scoring and a probe, each twice while the party reconnects. */
export const connectionsPerParty = 16;
/** Jobs of one party that run by default. */
const usualJobs = 2;
/** How long a refused connection stays open, so that its peer reads why. */
const refusalMs = 500;

/** @param jobs that a party may have running: each of them, too, may have a dead connection beside its own */
export function connectionsFor(jobs: number): number {
  return connectionsPerParty + 2 * Math.max(0, jobs - usualJobs);
}

export class ConnectionGate {
  #pinned: readonly PinnedParty[];
  readonly #connectionsMax: number;
  readonly #log: RateLimitedLog;
  readonly #pending: PendingConnections;
  /** By the name of the party, oldest first. */
  readonly #admitted = new Map<string, Map<ServerHttp2Session, RecognisedParty>>();

  /** @param connectionsMax of one party */
  constructor(pinned: readonly PinnedParty[], onRejected: OnRejected, connectionsMax = connectionsPerParty) {
    this.#pinned = pinned;
    this.#connectionsMax = connectionsMax;
    this.#log = rateLimitedLog(onRejected);
    this.#pending = new PendingConnections(unauthenticated, this.#log.write);
  }

  /**
   * A new TCP connection.
   * @param begin starts the TLS handshake, called once the first record has arrived
   * @param from of one that does not come from its address, such as a relay's
   */
  accept(socket: Socket, begin: () => void, from?: string): void {
    this.#pending.add(socket, from);
    onFirstRecord(socket, begin, (reason) => {
      this.#pending.reject(socket, reason);
      socket.destroy();
    });
  }

  /** The TLS handshake failed: a better reason for the log than a closed connection. */
  handshakeFailed(socket: TLSSocket, error: NodeJS.ErrnoException): void {
    this.#pending.setReason(socket, `no TLS 1.3 connection (${error.code ?? "unknown"})`);
  }

  /** @returns the party whose pinned certificate the session presented; null, and the session is closed, for others */
  admit(session: ServerHttp2Session): RecognisedParty | null {
    const socket = session.socket as TLSSocket;
    const checked = checkCertificate(socket.getPeerCertificate().raw, this.#pinned);
    if (checked instanceof CertificateRefused) {
      // It stays among the pending connections, and within their limits, until it has read why.
      this.#pending.setReason(socket, checked.message);
      session.goaway(constants.NGHTTP2_INADEQUATE_SECURITY, 0, Buffer.from(checked.fault));
      session.close();
      setTimeout(() => session.destroy(), refusalMs).unref();
      return null;
    }
    this.#pending.remove(socket);
    this.#add(checked, session);
    return checked;
  }

  #add(party: RecognisedParty, session: ServerHttp2Session): void {
    const { name } = party;
    const sessions = this.#admitted.get(name) ?? new Map<ServerHttp2Session, RecognisedParty>();
    this.#admitted.set(name, sessions);
    if (sessions.size >= this.#connectionsMax) {
      const [oldest] = sessions.keys();
      sessions.delete(oldest);
      oldest.destroy();
    }
    sessions.set(session, party);
    session.once("close", () => sessions.delete(session));
  }

  /** From now on these are pinned. Connections of a certificate that no longer is are closed. */
  repin(pinned: readonly PinnedParty[]): void {
    this.#pinned = pinned;
    for (const sessions of this.#admitted.values())
      for (const [session, { name, fingerprint }] of sessions)
        if (!pinned.some((party) => party.name === name && party.fingerprints.includes(fingerprint))) session.destroy();
  }

  close(): void {
    for (const sessions of this.#admitted.values()) for (const session of sessions.keys()) session.close();
    this.#pending.clear();
    this.#log.close();
  }
}
