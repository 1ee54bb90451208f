/** What an engine in memory keeps of one epoch, and what may happen to it (memory-engine.ts). */
import { assert } from "../../../src/base/assert.ts";
import { TandemError } from "../../../src/base/error.ts";
import type { SeededRandom } from "../../../src/base/random.ts";
import type { Clock } from "../../../src/crew/clock.ts";
import { type HeardMessage, messageBytesMax, resultsKept, type StoredMessage } from "../../../src/crew/engine.ts";

export interface MemoryFaults {
  readonly random: SeededRandom;
  /** How often a message is stored twice, or comes twice: from 0 to 1. */
  readonly doubling: number;
  /** Up to so long a message is on its way; those that are unconfirmed overtake each other. */
  readonly delayMs: number;
}

export interface MemoryLimits {
  readonly leaseMs: number;
  /** All that is stored; more is refused. */
  bytesMax: number;
  /** Called when something was stored. */
  onStored: (subject: string) => void;
}

/** One thing that one worker at a time may have. */
export interface Offered {
  readonly queue: string;
  readonly message: Uint8Array;
  deliveries: number;
  /** End of the lease of its holder; null: not leased. */
  untilMs: number | null;
}

const subjectSyntax = /^[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*$/;

export class MemoryEpoch {
  readonly name: string;
  /** In the order of positions. */
  messages: StoredMessage[] = [];
  readonly offered = new Set<Offered>();
  readonly ears = new Set<(message: HeardMessage) => void>();
  isOver = false;
  readonly #clock: Clock;
  readonly #limits: MemoryLimits;
  readonly #faults: MemoryFaults | null;
  #position = 0;
  #changed: Promise<void>;
  #change: () => void = () => {};

  constructor(name: string, clock: Clock, limits: MemoryLimits, faults: MemoryFaults | null) {
    this.name = name;
    this.#clock = clock;
    this.#limits = limits;
    this.#faults = faults;
    this.#changed = new Promise((resolve) => (this.#change = resolve));
  }

  /** Settles when something is there that was not there before. */
  get changed(): Promise<void> {
    return this.#changed;
  }

  async append(subject: string, message: Uint8Array): Promise<void> {
    assert(subjectSyntax.test(subject), "a subject is words with dots between them");
    checkLength(message);
    await this.wander();
    this.#store(subject, message);
    if (this.happens()) void this.wander().then(() => this.#storeAgain(subject, message));
    await this.wander();
    this.check();
  }

  #store(subject: string, message: Uint8Array): void {
    this.check();
    this.#checkRoom(message);
    this.#keep(subject, message.slice());
    this.#limits.onStored(subject);
  }

  #keep(subject: string, message: Uint8Array): void {
    this.messages.push({ subject, message, position: this.#position++ });
    const [oldest] = matches("done.>", subject) ? this.matching("done.>").slice(0, -resultsKept) : [];
    if (oldest !== undefined) this.messages.splice(this.messages.indexOf(oldest), 1);
    this.note();
  }

  #checkRoom(message: Uint8Array): void {
    let bytes = message.length;
    for (const kept of [...this.messages, ...this.offered]) bytes += kept.message.length;
    if (bytes > this.#limits.bytesMax) throw new TandemError("ENGINE_FULL", "the engine has no room");
  }

  async offer(queue: string, message: Uint8Array): Promise<void> {
    await this.wander();
    this.check();
    this.#checkRoom(message);
    this.offered.add({ queue, message: message.slice(), deliveries: 0, untilMs: null });
    this.note();
  }

  #storeAgain(subject: string, message: Uint8Array): void {
    if (!this.isOver) this.#keep(subject, message);
  }

  /** Wakes waiting readers. */
  note(): void {
    this.#change();
    this.#changed = new Promise((resolve) => (this.#change = resolve));
  }

  matching(filter: string): StoredMessage[] {
    return this.messages.filter(({ subject }) => matches(filter, subject));
  }

  say(message: HeardMessage): void {
    const times = this.happens() ? 2 : 1;
    for (let i = 0; i < times; i++) void this.#saySoon(message);
  }

  async #saySoon(message: HeardMessage): Promise<void> {
    await this.wander();
    for (const ear of this.ears) ear(message);
  }

  /** The next that is not leased, or whose lease has expired. */
  next(queue: string): Offered | null {
    for (const offered of this.offered) {
      const isFree = offered.untilMs === null || offered.untilMs <= this.#clock.now();
      if (offered.queue !== queue || !isFree) continue;
      offered.deliveries++;
      this.renew(offered, offered.deliveries);
      return offered;
    }
    return null;
  }

  renew(offered: Offered, deliveries: number): void {
    if (offered.deliveries !== deliveries) return; // leased to another worker
    const untilMs = this.#clock.now() + this.#limits.leaseMs;
    offered.untilMs = untilMs;
    this.#noteAt(untilMs);
  }

  /** A timer may fire slightly early: the reader would find nothing, and wait for ever. */
  #noteAt(ms: number): void {
    const leftMs = ms - this.#clock.now();
    if (leftMs <= 0) this.note();
    else this.#clock.after(Math.max(1, leftMs), () => this.#noteAt(ms));
  }

  giveBack(offered: Offered, deliveries: number): void {
    if (offered.deliveries !== deliveries) return;
    offered.untilMs = null;
    this.note();
  }

  end(): void {
    this.isOver = true;
    this.messages = [];
    this.offered.clear();
    this.note();
  }

  /** @throws TandemError ENGINE_LOST */
  check(): void {
    if (this.isOver) throw new TandemError("ENGINE_LOST", "the engine has lost this attempt's messages");
  }

  happens(): boolean {
    return this.#faults !== null && this.#faults.random.uint32() / 2 ** 32 < this.#faults.doubling;
  }

  /** A message is on its way. */
  async wander(): Promise<void> {
    const faults = this.#faults;
    if (faults === null || faults.delayMs === 0) return;
    const ms = (faults.random.uint32() / 2 ** 32) * faults.delayMs;
    await new Promise<void>((resolve) => this.#clock.after(ms, resolve));
  }
}

export function checkLength(message: Uint8Array): void {
  assert(message.length <= messageBytesMax, "a message has at most 1 MB");
}

/** A filter is a subject, or ends in `>`, which stands for one word or more. */
export function matches(filter: string, subject: string): boolean {
  return filter.endsWith(">") ? subject.startsWith(filter.slice(0, -1)) : subject === filter;
}
