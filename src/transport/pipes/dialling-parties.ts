/**
 * Passive parties that dial their active party. It authenticates each connection when it arrives, as TLS's client, and
 * keeps it until a job needs one: a connection that waits has shown a pinned certificate, so that unknown peers cannot
 * take places. All connections of this process to one address share its listener; it is closed some time after the last
 * of them, and does not keep the process alive.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { PendingConnections, type PendingLimits, type Remote } from "../../base/listening/pending-connections.ts";
import { StepError } from "../connection-trouble.ts";
import { listening } from "../../base/listening/listening.ts";
import { CertificateRefused, checkCertificate, type PinnedParty } from "../pinned-certificate.ts";
import { recognisedSocket } from "../pinned-socket.ts";
import type { Address, TlsIdentity } from "../tls-settings.ts";
import { openMsMax } from "./dial.ts";

/** Each of them costs a TLS engine: as its client we speak first. */
const unauthenticated: PendingLimits = { connectionsMax: 128, perAddressMax: 64, authenticateMsMax: 5000 };
/** Connections of one party that wait to be used; the oldest is closed for a newer one. */
const waitingMax = 4;
/** A party dials again within five seconds. */
const absentMs = 10_000;
/** Between two attempts at a job there is no lease. */
const lingerMs = 30_000;

export interface Lease {
  /** A connection of the party. @throws StepError if it does not connect within the time limit */
  take(timeoutMs?: number): Promise<TLSSocket>;
  release(): void;
}

const listeners = new Map<string, DiallingParties>();

/** @param identity of this party, the same for all leases of an address */
export function leaseListener(address: Address, identity: TlsIdentity, party: PinnedParty): Lease {
  const key = `${address.host}:${address.port}`;
  const listener = listeners.get(key) ?? new DiallingParties(address, () => listeners.delete(key));
  listeners.set(key, listener);
  return listener.lease(identity, party);
}

interface Awaited {
  /** Of the leases: the pins may differ where a config has changed. */
  readonly leases: Set<PinnedParty>;
  /** Authenticated, the newest last. */
  readonly waiting: TLSSocket[];
  readonly takers: ((socket: TLSSocket) => void)[];
}

class DiallingParties {
  readonly #address: Address;
  readonly #server: Server;
  readonly #ready: Promise<void>;
  readonly #onClosed: () => void;
  readonly #pending: PendingConnections;
  readonly #parties = new Map<string, Awaited>();
  #identity: TlsIdentity | null = null;
  #lingering: NodeJS.Timeout | undefined;
  /** Why a connection was refused last: it may have been the one that is waited for. */
  #refused = "";

  constructor(address: Address, onClosed: () => void) {
    this.#address = address;
    this.#onClosed = onClosed;
    this.#pending = new PendingConnections(unauthenticated, (from, why) => (this.#refused = `${from}: ${why}`));
    this.#server = createServer(
      { noDelay: true, keepAlive: true, keepAliveInitialDelay: openMsMax },
      (socket) => void this.#accept(socket),
    );
    this.#server.unref();
    this.#ready = listening(this.#server, address).catch((cause: unknown) => {
      this.#onClosed();
      throw new StepError(
        {
          step: "TCP",
          words: cause instanceof Error ? cause.message : String(cause),
          by: "own",
          todo:
            "correct 'listen' in its config, or stop the other program " +
            "(of one company, commands that run at the same time need configs with different ports, or a relay)",
          isLasting: false,
        },
        { cause },
      );
    });
    this.#ready.catch(() => {}); // reported to those who take a connection
  }

  lease(identity: TlsIdentity, party: PinnedParty): Lease {
    clearTimeout(this.#lingering);
    this.#identity = identity;
    const awaited: Awaited = this.#parties.get(party.name) ?? { leases: new Set(), waiting: [], takers: [] };
    this.#parties.set(party.name, awaited);
    awaited.leases.add(party);
    return {
      take: (timeoutMs = absentMs) => this.#take(party, awaited, timeoutMs),
      release: () => {
        awaited.leases.delete(party);
        if ([...this.#parties.values()].some(({ leases }) => leases.size > 0)) return;
        this.#lingering = setTimeout(() => this.#close(), lingerMs).unref();
      },
    };
  }

  async #take(party: PinnedParty, { waiting, takers }: Awaited, timeoutMs: number): Promise<TLSSocket> {
    await this.#ready;
    for (let socket = waiting.pop(); socket !== undefined; socket = waiting.pop()) {
      if (!socket.destroyed && isPinned(socket, party)) return inUse(socket);
      socket.destroy();
    }
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        takers.splice(takers.indexOf(take), 1);
        reject(this.#absent(party.name, timeoutMs));
      }, timeoutMs);
      const take = (socket: TLSSocket): void => {
        clearTimeout(deadline);
        resolve(inUse(socket));
      };
      takers.push(take);
    });
  }

  #absent(name: string, timeoutMs: number): StepError {
    const { host, port } = this.#address;
    const refused = this.#refused === "" ? "" : ` (a connection was refused: ${this.#refused})`;
    return new StepError({
      step: "TCP",
      words: `${name} has not connected to ${host}:${port} within ${timeoutMs / 1000} s${refused}`,
      by: "partner",
      todo: "start its party, with this machine's address as host and port under 'active' in its config",
      isLasting: false,
    });
  }

  async #accept(socket: Socket): Promise<void> {
    socket.on("error", () => {});
    this.#pending.add(socket);
    // TLS takes the socket over: after an error it has no address any more.
    const { remoteAddress, remotePort, localPort } = socket;
    const remote = { remoteAddress, remotePort, localPort } as Remote;
    const parties = [...this.#parties.values()].flatMap(({ leases }) => [...leases]);
    try {
      if (this.#identity === null) throw new Error("no job needs it");
      const { socket: secure, party } = await recognisedSocket(parties, this.#identity, socket);
      this.#pending.remove(remote);
      this.#arrived(secure, party.name);
    } catch (error) {
      this.#pending.reject(remote, error instanceof Error ? error.message : "no TLS connection");
      socket.destroy();
    }
  }

  #arrived(socket: TLSSocket, name: string): void {
    const awaited = this.#parties.get(name);
    if (awaited === undefined) return void socket.destroy();
    const taker = awaited.takers.shift();
    if (taker !== undefined) return taker(socket);
    const { waiting } = awaited;
    if (waiting.length >= waitingMax) waiting.shift()?.destroy();
    waiting.push(socket);
    socket.unref();
    socket.once("close", () => {
      const index = waiting.indexOf(socket);
      if (index !== -1) waiting.splice(index, 1);
    });
  }

  #close(): void {
    this.#onClosed();
    this.#server.close();
    this.#pending.clear();
    for (const { waiting } of this.#parties.values()) for (const socket of waiting) socket.destroy();
  }
}

/** Its pin may have been removed while it waited. */
function isPinned(socket: TLSSocket, party: PinnedParty): boolean {
  return !(checkCertificate(socket.getPeerCertificate().raw, [party]) instanceof CertificateRefused);
}

function inUse(socket: TLSSocket): TLSSocket {
  socket.ref();
  return socket;
}
