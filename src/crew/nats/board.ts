/**
 * The crew's board: a stream with the last message of each key, for what lasts, and another one whose messages go with
 * time. The party makes it; a worker that comes before the party finds none, and says again later who it is.
 */
import type { JetStreamClient, JetStreamManager, StreamInfo } from "@nats-io/jetstream";
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

interface Known {
  readonly state: string;
  readonly entries: ReadonlyMap<string, Uint8Array>;
}

export class NatsBoard implements Board {
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #crew: string;
  readonly #patienceMs: number;
  readonly #known = new Map<BoardKind, Known>();

  constructor(js: JetStreamClient, jsm: JetStreamManager, crew: string, patienceMs: number) {
    this.#js = js;
    this.#jsm = jsm;
    this.#crew = crew;
    this.#patienceMs = patienceMs;
  }

  async make({ store, replicas, boardMs }: Keeping): Promise<void> {
    for (const kind of boardKinds) {
      const config = {
        name: boardStream(this.#crew, kind),
        subjects: [boardSubject(this.#crew, kind, ">")],
        storage: store,
        num_replicas: replicas,
        max_msgs_per_subject: 1,
        max_age: kind === "passing" ? nanos(boardMs) : 0,
        duplicate_window: kind === "passing" ? nanos(Math.min(boardMs, 10_000)) : nanos(10_000),
      };
      await withPatience(this.#patienceMs, async () => {
        const found = await this.#info(kind);
        const isSame = found?.config.storage === store && found.config.max_age === config.max_age;
        // Nothing on it is the truth: one that another config has made is made anew.
        if (found !== null && !isSame) await this.#jsm.streams.delete(config.name);
        if (!isSame) await this.#jsm.streams.add(config);
        else if (found.config.num_replicas !== replicas) await this.#jsm.streams.update(config.name, config);
      });
    }
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

  async #info(kind: BoardKind): Promise<StreamInfo | null> {
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
    const state = `${created} ${now.first_seq} ${now.last_seq} ${now.messages}`;
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
