/**
 * An in-process engine for tests of crews. From a seed it duplicates, delays and reorders unconfirmed messages; it can
 * be full, and lose all state. Each client has a connection, which can be frozen like a stopped process, or cut like a
 * killed one.
 */
import type { Clock } from "../../../src/crew/clock.ts";
import type { StatusTable, Engine, Epoch, HeardMessage, Lease, StoredMessage } from "../../../src/crew/engine.ts";
import {
  checkLength,
  matches,
  MemoryEpoch,
  type MemoryFaults,
  type MemoryLimits,
  type Offered,
} from "./memory-epoch.ts";

export interface MemoryEngineOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
  /** What a worker writes in the status table goes after so long. */
  readonly statusMs: number;
  readonly bytesMax?: number;
  readonly faults?: MemoryFaults;
  readonly onStored?: (subject: string) => void;
}

interface StatusEntry {
  readonly value: Uint8Array;
  readonly untilMs: number;
}

export class MemoryEngine {
  readonly clock: Clock;
  readonly limits: MemoryLimits;
  readonly statusMs: number;
  readonly statusTable = new Map<string, StatusEntry>();
  /** The one that is current. */
  epoch: MemoryEpoch | null = null;
  readonly #faults: MemoryFaults | null;

  constructor({ clock, leaseMs, statusMs, bytesMax = Infinity, faults, onStored = () => {} }: MemoryEngineOptions) {
    this.clock = clock;
    this.statusMs = statusMs;
    this.limits = { leaseMs, bytesMax, onStored };
    this.#faults = faults ?? null;
  }

  connect(): MemoryConnection {
    return new MemoryConnection(this);
  }

  begin(name: string): MemoryEpoch {
    this.epoch?.end();
    this.epoch = new MemoryEpoch(name, this.clock, this.limits, this.#faults);
    return this.epoch;
  }

  /** As a server that comes back without its memory. */
  forget(): void {
    this.epoch?.end();
    this.epoch = null;
    this.statusTable.clear();
  }
}

export class MemoryConnection implements Engine {
  readonly #engine: MemoryEngine;
  /** Nothing goes in or out before it settles. */
  #open: Promise<void> = Promise.resolve();
  #thaw: () => void = () => {};
  /** As often as this it must be let go. */
  #freezes = 0;

  constructor(engine: MemoryEngine) {
    this.#engine = engine;
  }

  get statusTable(): StatusTable {
    const { statusTable, clock, statusMs } = this.#engine;
    return {
      put: async (key, value, lasting = false) => {
        await this.#open;
        statusTable.set(key, { value, untilMs: lasting ? Infinity : clock.now() + statusMs });
      },
      remove: async (key) => {
        await this.#open;
        statusTable.delete(key);
      },
      entries: async () => {
        await this.#open;
        return new Map(
          [...statusTable].filter(([, { untilMs }]) => untilMs > clock.now()).map(([key, { value }]) => [key, value]),
        );
      },
    };
  }

  async begin(name: string): Promise<Epoch> {
    await this.#open;
    return this.#through(this.#engine.begin(name));
  }

  async join(name: string): Promise<Epoch | null> {
    await this.#open;
    const { epoch } = this.#engine;
    return epoch?.name === name && !epoch.isOver ? this.#through(epoch) : null;
  }

  /** @returns a function that resumes it */
  freeze(): () => void {
    if (this.#freezes++ === 0) this.#open = new Promise((resolve) => (this.#thaw = resolve));
    return () => {
      if (--this.#freezes === 0) this.#thaw();
    };
  }

  /** For good. */
  cut(): void {
    this.freeze();
  }

  async close(): Promise<void> {
    this.cut();
  }

  #through(epoch: MemoryEpoch): Epoch {
    return {
      name: epoch.name,
      append: async (subject, message) => {
        await this.#open;
        await epoch.append(subject, message);
        await this.#open;
      },
      follow: (filter, after, signal) => this.#followed(epoch, filter, after, signal),
      stored: async (filter) => {
        await this.#open;
        epoch.check();
        return epoch.matching(filter).length;
      },
      purge: async (filter) => {
        await this.#open;
        epoch.check();
        epoch.messages = epoch.messages.filter(({ subject }) => !matches(filter, subject));
      },
      offer: async (queue, message) => {
        checkLength(message);
        await this.#open;
        await epoch.offer(queue, message);
      },
      offered: async (queue) => {
        await this.#open;
        epoch.check();
        return [...epoch.offered].filter((offered) => offered.queue === queue).length;
      },
      take: (queue, signal) => this.#taken(epoch, queue, signal),
      say: (subject, message) => {
        checkLength(message);
        void this.#open.then(() => epoch.say({ subject, message }));
      },
      hear: (filter, signal) => this.#receive(epoch, filter, signal),
      end: async () => {
        await this.#open;
        epoch.end();
      },
    };
  }

  async *#followed(
    epoch: MemoryEpoch,
    filter: string,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<StoredMessage> {
    const stopped = until(signal);
    let position = after;
    while (!signal.aborted) {
      await Promise.race([this.#open, stopped]);
      if (signal.aborted) return;
      epoch.check();
      const { changed } = epoch;
      const next = epoch.messages.find((stored) => stored.position > position && matches(filter, stored.subject));
      if (next === undefined) {
        await Promise.race([changed, stopped]);
        continue;
      }
      yield next;
      if (epoch.happens()) yield next;
      position = next.position;
    }
  }

  async #taken(epoch: MemoryEpoch, queue: string, signal: AbortSignal): Promise<Lease | null> {
    const stopped = until(signal);
    while (!signal.aborted) {
      await Promise.race([this.#open, stopped]);
      if (signal.aborted) return null;
      epoch.check();
      const { changed } = epoch;
      const offered = epoch.next(queue);
      if (offered !== null) return this.#lease(epoch, offered);
      await Promise.race([changed, stopped]);
    }
    return null;
  }

  #lease(epoch: MemoryEpoch, offered: Offered): Lease {
    const { message, deliveries } = offered;
    return {
      message,
      deliveries,
      renew: () => void this.#open.then(() => epoch.renew(offered, deliveries)),
      giveBack: () => void this.#open.then(() => epoch.giveBack(offered, deliveries)),
      done: async () => {
        await this.#open;
        if (epoch.happens()) return; // the confirmation is lost: it will be delivered again
        if (offered.deliveries === deliveries) epoch.offered.delete(offered);
      },
    };
  }

  /** Messages from now on; reading may begin later. */
  #receive(epoch: MemoryEpoch, filter: string, signal: AbortSignal): AsyncIterable<HeardMessage> {
    const waiting: HeardMessage[] = [];
    let wake = (): void => {};
    const ear = (message: HeardMessage): void => {
      if (!matches(filter, message.subject)) return;
      waiting.push(message);
      wake();
    };
    epoch.ears.add(ear);
    const stopped = until(signal);
    void stopped.then(() => epoch.ears.delete(ear));
    const open = (): Promise<void> => this.#open;
    return (async function* () {
      while (!signal.aborted) {
        await Promise.race([open(), stopped]);
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else await Promise.race([new Promise<void>((resolve) => (wake = resolve)), stopped]);
      }
    })();
  }
}

/** One listener per signal, however many calls wait for it. */
const awaited = new WeakMap<AbortSignal, Promise<void>>();

function until(signal: AbortSignal): Promise<void> {
  const known = awaited.get(signal);
  if (known !== undefined) return known;
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  awaited.set(signal, stopped);
  return stopped;
}
