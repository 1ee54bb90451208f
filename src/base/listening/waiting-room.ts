/**
 * Connections that have not proven who they are. They wait in a room with few seats, and for a short time. When it is
 * full nobody is refused: whoever has waited longest without a step forward has to leave. A flood of silent
 * connections then drives out itself, and whoever does speak is through the room before its turn comes, even where it
 * comes from the same address as the flood.
 *
 * A step forward is the first answer that a server gave it: for TLS, that a whole hello has come. Bytes alone are none,
 * or one byte a second would be a seat for ever. An address has some of the seats at most, and where the room as a
 * whole is full the address with the most guests loses one.
 */
import type { Socket } from "node:net";

export interface RoomLimits {
  readonly seats: number;
  readonly seatsPerAddress: number;
  /** How long a guest may stay in all; 0: somebody else looks after that. */
  readonly stayMsMax: number;
}

/** Who has left without proving anything, and why. */
export type OnTurnedAway = (address: string, why: string) => void;

/** What identifies a connection at this end, also where TLS has been put around its socket. */
export type Remote = Pick<Socket, "remoteAddress" | "remotePort">;

interface Guest {
  readonly key: string;
  readonly network: string;
  readonly socket: Socket;
  readonly address: string;
  readonly deadline: NodeJS.Timeout | undefined;
  /** Its one step forward has been seen. */
  hasStepped: boolean;
  why: string;
}

/** Oldest first. */
type Group = Map<string, Guest>;

export class WaitingRoom {
  readonly #limits: RoomLimits;
  readonly #onTurnedAway: OnTurnedAway;
  /** By address; a network of 2^64 addresses counts as one. */
  readonly #groups = new Map<string, Group>();
  #count = 0;

  constructor(limits: RoomLimits, onTurnedAway: OnTurnedAway = () => {}) {
    this.#limits = limits;
    this.#onTurnedAway = onTurnedAway;
  }

  get count(): number {
    return this.#count;
  }

  /** A new connection sits down; somebody else may have to leave for it. */
  enter(socket: Socket): void {
    const key = keyOf(socket);
    if (key === null) return; // it is gone again
    const address = socket.remoteAddress ?? "";
    const network = networkOf(address);
    const group: Group = this.#groups.get(network) ?? new Map<string, Guest>();
    this.#groups.set(network, group);
    const { seats, seatsPerAddress, stayMsMax } = this.#limits;
    const guest: Guest = {
      key,
      network,
      socket,
      address,
      deadline:
        stayMsMax === 0
          ? undefined
          : setTimeout(() => this.#drop(guest, `it did not say who it is within ${stayMsMax / 1000} s`), stayMsMax),
      hasStepped: false,
      why: "it left without saying who it is",
    };
    group.set(key, guest);
    this.#count++;
    socket.once("close", () => {
      if (this.#remove(guest)) this.#onTurnedAway(address, guest.why);
    });
    if (group.size > seatsPerAddress) this.#makeRoom(group, guest);
    else if (this.#count > seats) this.#makeRoom(this.#largestGroup(), guest);
  }

  /** It has proven who it is, and is a guest no more. @returns whether it was still here */
  leave(remote: Remote): boolean {
    const guest = this.#find(remote);
    return guest !== undefined && this.#remove(guest);
  }

  /** Why it will be turned away, if it is known better. */
  explain(remote: Remote, why: string): void {
    const guest = this.#find(remote);
    if (guest !== undefined) guest.why = why;
  }

  /** It has shown that it does not belong here: whoever refuses it closes its connection. */
  refuse(remote: Remote, why: string): void {
    const guest = this.#find(remote);
    if (guest !== undefined && this.#remove(guest)) this.#onTurnedAway(guest.address, why);
  }

  /** Everybody out. */
  clear(): void {
    for (const group of this.#groups.values()) for (const { socket } of group.values()) socket.destroy();
  }

  #find(remote: Remote): Guest | undefined {
    const key = keyOf(remote);
    return key === null ? undefined : this.#groups.get(networkOf(remote.remoteAddress ?? ""))?.get(key);
  }

  #largestGroup(): Group {
    let largest: Group = new Map();
    for (const group of this.#groups.values()) if (group.size > largest.size) largest = group;
    return largest;
  }

  /** Drops the guest that has been longest without a step. One that has made its step since goes to the end, once. */
  #makeRoom(group: Group, newcomer: Guest): void {
    for (const [key, guest] of group) {
      if (guest === newcomer) continue;
      if (!guest.hasStepped && guest.socket.bytesWritten > 0) {
        guest.hasStepped = true;
        group.delete(key);
        group.set(key, guest);
        continue;
      }
      this.#drop(guest, "others wanted its place");
      return;
    }
  }

  #drop(guest: Guest, why: string): void {
    guest.socket.destroy();
    // Its close comes later: the seat is free now.
    if (this.#remove(guest)) this.#onTurnedAway(guest.address, why);
  }

  #remove(guest: Guest): boolean {
    const { network, key } = guest;
    const group = this.#groups.get(network);
    if (group?.get(key) !== guest) return false;
    clearTimeout(guest.deadline);
    group.delete(key);
    if (group.size === 0) this.#groups.delete(network);
    this.#count--;
    return true;
  }
}

function keyOf({ remoteAddress, remotePort }: Remote): string | null {
  return remoteAddress === undefined || remotePort === undefined ? null : `${remoteAddress} ${remotePort}`;
}

/** One customer of an IPv6 provider has 2^64 addresses. */
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
