/**
 * The crew's board: a stream with the last message of each key, for what lasts, and another one whose messages go with
 * time. The party makes it; a worker that comes before the party finds none, and says again later who it is.
 */
import type { JetStreamClient, JetStreamManager, StreamConfig, StreamInfo } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { assert } from "../../base/assert.ts";
import { type Board, messageBytesMax } from "../engine.ts";
import { type BoardKind, boardKinds, boardStream, boardSubject } from "./names.ts";
import { isStreamGone, withPatience } from "./trouble.ts";

export interface Keeping {
  readonly store: "file" | "memory";
  readonly replicas: number;
  readonly boardMs: number;
}

/** A message that is sent again within this time is known by its id; it has none here. */
const repeatMs = 10_000;

interface Known {
  readonly state: string;
  readonly entries: ReadonlyMap<string, Uint8Array>;
}

export class NatsBoard implements Board {
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #crew: string;
  readonly #patienceMs: number;
  /** Null at a worker. */
  readonly #keeping: Keeping | null;
  readonly #known = new Map<BoardKind, Known>();

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

  /** A party's, at its start. */
  async make(): Promise<void> {
    for (const kind of boardKinds)
      await withPatience(this.#patienceMs, async () => {
        const { name, config } = this.#configOf(kind);
        const found = await this.#found(kind);
        if (found === null) return void (await this.#jsm.streams.add({ name, ...config }));
        if (found.config.storage === config.storage && found.config.max_age === config.max_age) {
          if (found.config.num_replicas !== config.num_replicas) await this.#jsm.streams.update(name, config);
          return;
        }
        // Nothing on it is the truth: one that another config has made is made anew.
        await this.#jsm.streams.delete(name);
        await this.#jsm.streams.add({ name, ...config });
      });
  }

  async put(key: string, value: Uint8Array, lasting = false): Promise<void> {
    assert(value.length <= messageBytesMax, "what stands on a board is small");
    const kind = lasting ? "lasting" : "passing";
    await withPatience(this.#patienceMs, async () => {
      if ((await this.#info(kind)) === null) return;
      await this.#js.publish(boardSubject(this.#crew, kind, key), value, {
        expect: { streamName: boardStream(this.#crew, kind) },
      });
    });
  }

  async remove(key: string): Promise<void> {
    for (const kind of boardKinds)
      await withPatience(this.#patienceMs, async () => {
        if (!(await this.#read(kind)).has(key)) return;
        await this.#jsm.streams.purge(boardStream(this.#crew, kind), { filter: boardSubject(this.#crew, kind, key) });
      });
  }

  async entries(): Promise<ReadonlyMap<string, Uint8Array>> {
    const parts = await Promise.all(boardKinds.map((kind) => withPatience(this.#patienceMs, () => this.#read(kind))));
    return new Map(parts.flatMap((part) => [...part]));
  }

  #configOf(kind: BoardKind): { name: string; config: Omit<Partial<StreamConfig>, "name"> } {
    assert(this.#keeping !== null, "a party makes the board");
    const { store, replicas, boardMs } = this.#keeping;
    const isPassing = kind === "passing";
    return {
      name: boardStream(this.#crew, kind),
      config: {
        subjects: [boardSubject(this.#crew, kind, ">")],
        storage: store,
        num_replicas: replicas,
        max_msgs_per_subject: 1,
        max_age: isPassing ? nanos(boardMs) : 0,
        duplicate_window: nanos(isPassing ? Math.min(boardMs, repeatMs) : repeatMs),
      },
    };
  }

  /** A server without files forgets the board too: a party makes it again. */
  async #info(kind: BoardKind): Promise<StreamInfo | null> {
    const found = await this.#found(kind);
    if (found !== null || this.#keeping === null) return found;
    const { name, config } = this.#configOf(kind);
    return this.#jsm.streams.add({ name, ...config });
  }

  async #found(kind: BoardKind): Promise<StreamInfo | null> {
    try {
      return await this.#jsm.streams.info(boardStream(this.#crew, kind));
    } catch (error) {
      if (isStreamGone(error)) return null;
      throw error;
    }
  }

  /** Workers look twice a second: one question, as long as nothing has changed. */
  async #read(kind: BoardKind): Promise<ReadonlyMap<string, Uint8Array>> {
    const info = await this.#info(kind);
    if (info === null || info.state.messages === 0) return new Map();
    const { created, state: now } = info;
    // A server that was killed may use a number once more: the time differs.
    const state = `${created} ${now.first_seq} ${now.last_seq} ${now.last_ts} ${now.messages}`;
    const known = this.#known.get(kind);
    if (known?.state === state) return known.entries;
    const entries = await this.#all(kind);
    this.#known.set(kind, { state, entries });
    return entries;
  }

  async #all(kind: BoardKind): Promise<ReadonlyMap<string, Uint8Array>> {
    const consumer = await this.#js.consumers.get(boardStream(this.#crew, kind), { deliver_policy: "all" });
    const entries = new Map<string, Uint8Array>();
    try {
      const { num_pending: count } = await consumer.info(true);
      if (count === 0) return entries;
      const prefix = boardSubject(this.#crew, kind, "").length;
      for await (const { subject, data } of await consumer.fetch({ max_messages: count, expires: 2000 }))
        entries.set(subject.slice(prefix), data);
      return entries;
    } finally {
      void consumer.delete().catch(() => {});
    }
  }
}
