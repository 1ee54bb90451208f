/**
 * The crew's status table: a stream with the last message of each key for lasting entries, and another one whose
 * messages expire. The party creates it; a worker that starts before the party finds none, and registers again later.
 */
import type { JetStreamClient, JetStreamManager, StreamConfig, StreamInfo } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { assert } from "../../base/assert.ts";
import { type StatusTable, messageBytesMax } from "../engine.ts";
import { type StatusKind, statusKinds, statusStream, statusSubject } from "./names.ts";
import { isStreamGone, withPatience } from "./trouble.ts";

export interface Keeping {
  readonly store: "file" | "memory";
  readonly replicas: number;
  readonly statusMs: number;
}

/** Time window of duplicate detection; unused here, since messages have no ids. */
const repeatMs = 10_000;

interface Known {
  readonly state: string;
  readonly entries: ReadonlyMap<string, Uint8Array>;
}

export class NatsStatusTable implements StatusTable {
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #crew: string;
  readonly #patienceMs: number;
  /** Null at a worker. */
  readonly #keeping: Keeping | null;
  readonly #known = new Map<StatusKind, Known>();

  constructor(
    js: JetStreamClient,
    jsm: JetStreamManager,
    crew: string,
    patienceMs: number,
    keeping: Keeping | null = null,
  ) {
    this.#js = js;
    this.#jsm = jsm;
    this.#crew = crew;
    this.#patienceMs = patienceMs;
    this.#keeping = keeping;
  }

  /** Called by a party at its start. */
  async make(): Promise<void> {
    for (const kind of statusKinds)
      await withPatience(this.#patienceMs, async () => {
        const { name, config } = this.#configOf(kind);
        const found = await this.#found(kind);
        if (found === null) return void (await this.#jsm.streams.add({ name, ...config }));
        if (found.config.storage === config.storage && found.config.max_age === config.max_age) {
          if (found.config.num_replicas !== config.num_replicas) await this.#jsm.streams.update(name, config);
          return;
        }
        // The table is only a cache: one that was created with another config is created again.
        await this.#jsm.streams.delete(name);
        await this.#jsm.streams.add({ name, ...config });
      });
  }

  async put(key: string, value: Uint8Array, lasting = false): Promise<void> {
    assert(value.length <= messageBytesMax, "entries of the status table are small");
    const kind = lasting ? "lasting" : "passing";
    await withPatience(this.#patienceMs, async () => {
      if ((await this.#info(kind)) === null) return;
      await this.#js.publish(statusSubject(this.#crew, kind, key), value, {
        expect: { streamName: statusStream(this.#crew, kind) },
      });
    });
  }

  async remove(key: string): Promise<void> {
    for (const kind of statusKinds)
      await withPatience(this.#patienceMs, async () => {
        if (!(await this.#read(kind)).has(key)) return;
        await this.#jsm.streams.purge(statusStream(this.#crew, kind), { filter: statusSubject(this.#crew, kind, key) });
      });
  }

  async entries(): Promise<ReadonlyMap<string, Uint8Array>> {
    const parts = await Promise.all(statusKinds.map((kind) => withPatience(this.#patienceMs, () => this.#read(kind))));
    return new Map(parts.flatMap((part) => [...part]));
  }

  #configOf(kind: StatusKind): { name: string; config: Omit<Partial<StreamConfig>, "name"> } {
    assert(this.#keeping !== null, "a party creates the table");
    const { store, replicas, statusMs } = this.#keeping;
    const isPassing = kind === "passing";
    return {
      name: statusStream(this.#crew, kind),
      config: {
        subjects: [statusSubject(this.#crew, kind, ">")],
        storage: store,
        num_replicas: replicas,
        max_msgs_per_subject: 1,
        max_age: isPassing ? nanos(statusMs) : 0,
        duplicate_window: nanos(isPassing ? Math.min(statusMs, repeatMs) : repeatMs),
      },
    };
  }

  /** A server without files also loses the table: a party creates it again. */
  async #info(kind: StatusKind): Promise<StreamInfo | null> {
    const found = await this.#found(kind);
    if (found !== null || this.#keeping === null) return found;
    const { name, config } = this.#configOf(kind);
    return this.#jsm.streams.add({ name, ...config });
  }

  async #found(kind: StatusKind): Promise<StreamInfo | null> {
    try {
      return await this.#jsm.streams.info(statusStream(this.#crew, kind));
    } catch (error) {
      if (isStreamGone(error)) return null;
      throw error;
    }
  }

  /** Workers poll twice a second: one request, as long as nothing has changed. */
  async #read(kind: StatusKind): Promise<ReadonlyMap<string, Uint8Array>> {
    const info = await this.#info(kind);
    if (info === null || info.state.messages === 0) return new Map();
    const { created, state: now } = info;
    // A server that was killed may use a sequence number again: the time differs.
    const state = `${created} ${now.first_seq} ${now.last_seq} ${now.last_ts} ${now.messages}`;
    const known = this.#known.get(kind);
    if (known?.state === state) return known.entries;
    const entries = await this.#all(kind);
    this.#known.set(kind, { state, entries });
    return entries;
  }

  async #all(kind: StatusKind): Promise<ReadonlyMap<string, Uint8Array>> {
    const consumer = await this.#js.consumers.get(statusStream(this.#crew, kind), { deliver_policy: "all" });
    const entries = new Map<string, Uint8Array>();
    try {
      const { num_pending: count } = await consumer.info(true);
      if (count === 0) return entries;
      const prefix = statusSubject(this.#crew, kind, "").length;
      for await (const { subject, data } of await consumer.fetch({ max_messages: count, expires: 2000 }))
        entries.set(subject.slice(prefix), data);
      return entries;
    } finally {
      void consumer.delete().catch(() => {});
    }
  }
}
