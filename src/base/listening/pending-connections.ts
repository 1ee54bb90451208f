/**
 * Connections that have not authenticated yet: limited in number, per address, and in time. When the limit is reached a
 * new connection is not refused; the one that has been pending longest without progress is dropped. A flood of silent
 * connections then displaces itself, and a peer that does speak has authenticated before it is displaced, even if it
 * shares the flood's address.
 *
 * Progress is the first response that the server has written to it (in TLS: a complete ClientHello has arrived).
 * Received bytes do not count, or one byte per second would hold a slot for ever. When all slots are taken, the address
 * with the most pending connections loses one.
 */
import type { Socket } from "node:net";

export interface PendingLimits {
  readonly connectionsMax: number;
  readonly perAddressMax: number;
  /** 0: no limit here; the server has a timeout of its own. */
  readonly authenticateMsMax: number;
}

/** Called for a connection that ended unauthenticated. */
export type OnRejected = (address: string, reason: string) => void;

/** Identifies a connection at this end, also after TLS has wrapped its socket. */
export type Remote = Pick<Socket, "remoteAddress" | "remotePort" | "localPort">;

interface Pending {
  readonly key: string;
  readonly network: string;
  readonly socket: Socket;
  readonly address: string;
  readonly deadline: NodeJS.Timeout | undefined;
  /** It was moved to the end of the queue for its progress, which happens once. */
  hasProgressed: boolean;
  reason: string;
}

/** Oldest first. */
type Queue = Map<string, Pending>;

export class PendingConnections {
  readonly #limits: PendingLimits;
  readonly #onRejected: OnRejected;
  /** By address; an IPv6 /64 counts as one address. */
  readonly #queues = new Map<string, Queue>();
  /** The queues of connections that do not come from their addresses, by their keys. */
  readonly #elsewhere = new Map<string, string>();
  #count = 0;

  constructor(limits: PendingLimits, onRejected: OnRejected = () => {}) {
    this.#limits = limits;
    this.#onRejected = onRejected;
  }

  get count(): number {
    return this.#count;
  }

  /** May drop an older connection. @param from in place of its address, in reports and limits */
  add(socket: Socket, from?: string): void {
    const key = keyOf(socket);
    if (key === null) return; // already closed
    const address = from ?? socket.remoteAddress ?? "";
    const network = networkOf(address);
    if (from !== undefined) this.#elsewhere.set(key, network);
    const queue: Queue = this.#queues.get(network) ?? new Map<string, Pending>();
    this.#queues.set(network, queue);
    const { connectionsMax, perAddressMax, authenticateMsMax: limitMs } = this.#limits;
    const pending: Pending = {
      key,
      network,
      socket,
      address,
      deadline:
        limitMs === 0
          ? undefined
          : setTimeout(() => this.#drop(pending, `it did not authenticate within ${limitMs / 1000} s`), limitMs),
      hasProgressed: false,
      reason: "it disconnected before it authenticated",
    };
    queue.set(key, pending);
    this.#count++;
    socket.once("close", () => {
      if (this.#forget(pending)) this.#onRejected(address, pending.reason);
    });
    if (queue.size > perAddressMax) this.#dropOldest(queue, pending);
    else if (this.#count > connectionsMax) this.#dropOldest(this.#longestQueue(), pending);
  }

  /** The connection has authenticated. @returns whether it was still pending */
  remove(remote: Remote): boolean {
    const pending = this.#find(remote);
    return pending !== undefined && this.#forget(pending);
  }

  /** Sets the reason that is reported when the connection closes. */
  setReason(remote: Remote, reason: string): void {
    const pending = this.#find(remote);
    if (pending !== undefined) pending.reason = reason;
  }

  /** Reports the connection as rejected; the caller closes it. */
  reject(remote: Remote, reason: string): void {
    const pending = this.#find(remote);
    if (pending !== undefined && this.#forget(pending)) this.#onRejected(pending.address, reason);
  }

  /** Closes all. */
  clear(): void {
    for (const queue of this.#queues.values()) for (const { socket } of queue.values()) socket.destroy();
  }

  #find(remote: Remote): Pending | undefined {
    const key = keyOf(remote);
    if (key === null) return undefined;
    return this.#queues.get(this.#elsewhere.get(key) ?? networkOf(remote.remoteAddress ?? ""))?.get(key);
  }

  #longestQueue(): Queue {
    let longest: Queue = new Map();
    for (const queue of this.#queues.values()) if (queue.size > longest.size) longest = queue;
    return longest;
  }

  /** Drops the connection that has been pending longest. One that has progressed since goes to the end, once. */
  #dropOldest(queue: Queue, newest: Pending): void {
    for (const [key, pending] of queue) {
      if (pending === newest) continue;
      if (!pending.hasProgressed && pending.socket.bytesWritten > 0) {
        pending.hasProgressed = true;
        queue.delete(key);
        queue.set(key, pending);
        continue;
      }
      this.#drop(pending, "displaced by newer connections");
      return;
    }
  }

  #drop(pending: Pending, reason: string): void {
    pending.socket.destroy();
    // Its close event comes later: the slot is free now.
    if (this.#forget(pending)) this.#onRejected(pending.address, reason);
  }

  #forget(pending: Pending): boolean {
    const { network, key } = pending;
    const queue = this.#queues.get(network);
    if (queue?.get(key) !== pending) return false;
    clearTimeout(pending.deadline);
    this.#elsewhere.delete(key);
    queue.delete(key);
    if (queue.size === 0) this.#queues.delete(network);
    this.#count--;
    return true;
  }
}

/** The local port too: of connections that were dialled from here several may go to one port. */
function keyOf({ remoteAddress, remotePort, localPort }: Remote): string | null {
  if (remoteAddress === undefined || remotePort === undefined) return null;
  return `${remoteAddress} ${remotePort} ${localPort}`;
}

/** An IPv6 subscriber usually has a /64. */
function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head, tail = ""] = address.split("%", 1)[0].split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === "" ? [] : tail.split(":");
  const zeros = address.includes("::") ? Math.max(0, 8 - front.length - back.length) : 0;
  return [...front, ...Array.from({ length: zeros }, () => "0"), ...back].slice(0, 4).join(":");
}
