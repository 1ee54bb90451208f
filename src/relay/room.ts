/** A room: its tokens, the connections that wait in it, and those that are joined. */
import { createHash, timingSafeEqual } from "node:crypto";
import { type RelayEnd, relayClosings, relayEnds, type RelayRefusal } from "../transport/pipes/relay-terms.ts";
import { join } from "./pair.ts";
import type { RelayConnection } from "./relay-connection.ts";
import type { RelayEvent, RelayLimits, RoomOptions } from "./relay-options.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Seconds of its rate that a room may use at once. */
const burstSeconds = 2;

export interface RoomTerms {
  readonly limits: RelayLimits;
  readonly onEvent: (event: RelayEvent) => void;
}

export class Room {
  readonly name: string;
  readonly #tokens: Readonly<Record<RelayEnd, readonly Buffer[]>>;
  readonly #terms: RoomTerms;
  readonly #rate: TokenBucket | null;
  readonly #arrivals: Readonly<Record<RelayEnd, TokenBucket>>;
  readonly #all = { active: new Set<RelayConnection>(), passive: new Set<RelayConnection>() };
  /** Oldest first. */
  readonly #waiting = { active: new Set<RelayConnection>(), passive: new Set<RelayConnection>() };
  pairCount = 0;

  constructor({ name, tokens }: RoomOptions, terms: RoomTerms) {
    const { bytesPerSecond, connectionsPerMinute } = terms.limits;
    const arrivals = (): TokenBucket => new TokenBucket(connectionsPerMinute / 60, connectionsPerMinute);
    this.name = name;
    this.#tokens = { active: tokens.active.map(bytesOf), passive: tokens.passive.map(bytesOf) };
    this.#terms = terms;
    this.#rate = bytesPerSecond === 0 ? null : new TokenBucket(bytesPerSecond, burstSeconds * bytesPerSecond);
    this.#arrivals = { active: arrivals(), passive: arrivals() };
  }

  get connectionCount(): number {
    return this.#all.active.size + this.#all.passive.size;
  }

  get waitingCount(): number {
    return this.#waiting.active.size + this.#waiting.passive.size;
  }

  /** Bytes that were received and not yet taken off by the other end. */
  get heldBytes(): number {
    return relayEnds.reduce(
      (sum, end) => sum + [...this.#all[end]].reduce((held, { socket }) => held + socket.bufferedAmount, 0),
      0,
    );
  }

  /** @returns why a connection with this token is refused; null: it is not */
  refusal(end: RelayEnd, token: string): RelayRefusal | null {
    const digest = createHash("sha256").update(token).digest();
    const isOf = (of: RelayEnd): boolean =>
      this.#tokens[of].map((known) => timingSafeEqual(known, digest)).includes(true);
    const isThisEnd = isOf(end);
    const isOtherEnd = isOf(end === "active" ? "passive" : "active");
    if (!isThisEnd) return isOtherEnd ? "end" : "token";
    if (this.#all[end].size >= this.#terms.limits.connectionsPerEnd) return "full";
    return this.#arrivals[end].take() ? null : "rate";
  }

  /** A connection that was not refused. */
  add(connection: RelayConnection): void {
    const { end, socket, address } = connection;
    const all = this.#all[end];
    all.add(connection);
    this.#terms.onEvent({ type: "connected", room: this.name, end, address });
    socket.once("close", () => {
      all.delete(connection);
      this.#waiting[end].delete(connection);
    });
    this.#waiting[end].add(connection);
    this.#joinWaiting();
    if (end === "active" && this.#waiting.active.has(connection)) this.#awaitPassive(connection);
  }

  #awaitPassive(connection: RelayConnection): void {
    const deadline = setTimeout(() => {
      if (!this.#waiting.active.delete(connection)) return;
      this.#terms.onEvent({ type: "absent", room: this.name, address: connection.address });
      connection.close(relayClosings.absent);
    }, this.#terms.limits.absentMs).unref();
    connection.socket.once("close", () => clearTimeout(deadline));
  }

  /** The newest of the passive end is the one most likely alive; of the active end the oldest has waited longest. */
  #joinWaiting(): void {
    const { active: actives, passive: passives } = this.#waiting;
    for (;;) {
      const [active] = actives;
      const passive = [...passives].at(-1);
      if (active === undefined || passive === undefined) return;
      actives.delete(active);
      passives.delete(passive);
      if (!active.isOpen || !passive.isOpen) {
        if (active.isOpen) actives.add(active);
        if (passive.isOpen) passives.add(passive);
        continue;
      }
      this.#join(active, passive);
    }
  }

  #join(active: RelayConnection, passive: RelayConnection): void {
    const started = performance.now();
    const bytes = { active: 0, passive: 0 };
    this.pairCount++;
    this.#terms.onEvent({ type: "joined", room: this.name });
    join(active, passive, {
      waitingBytes: this.#terms.limits.waitingBytes,
      rate: this.#rate,
      onBytes: (to, count) => (bytes[to] += count),
      onSeparated: () => {
        this.pairCount--;
        this.#terms.onEvent({
          type: "separated",
          room: this.name,
          seconds: Math.round((performance.now() - started) / 100) / 10,
          bytesToPassive: bytes.passive,
          bytesToActive: bytes.active,
        });
      },
    });
  }

  close(): void {
    for (const end of relayEnds) for (const connection of this.#all[end]) connection.close(relayClosings.stopping);
  }
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}
