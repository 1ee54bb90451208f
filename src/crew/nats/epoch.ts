/** One attempt's streams on a server. */
import { randomUUID } from "node:crypto";
import type { Consumer, JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { assert } from "../../base/assert.ts";
import { type Epoch, type HeardMessage, type Lease, messageBytesMax, type StoredMessage } from "../engine.ts";
import { followed } from "./follower.ts";
import { epochNames, type EpochNames, queueKinds, storedKinds } from "./names.ts";
import { makeQueue, takeNext } from "./queue.ts";
import { Slots } from "./slots.ts";
import { isStreamGone, withPatience } from "./trouble.ts";

/** Shared resources of an epoch. */
export interface Access {
  readonly connection: NatsConnection;
  readonly reconnects: () => number;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly crew: string;
  readonly patienceMs: number;
  /** Null at a worker, which offers nothing. */
  readonly leaseMs: number | null;
}

/** Limit of unconfirmed messages of one process: enough to keep a connection busy, and few to send again. */
const publishesMax = 16;
const publishTimeoutMs = 3000;

export class NatsEpoch implements Epoch {
  readonly name: string;
  readonly #access: Access;
  readonly #names: EpochNames;
  readonly #slots = new Slots(publishesMax);
  readonly #queues = new Map<string, Promise<void>>();
  readonly #consumers = new Map<string, Consumer>();

  constructor(access: Access, name: string) {
    this.name = name;
    this.#access = access;
    this.#names = epochNames(access.crew, name);
  }

  append(subject: string, message: Uint8Array): Promise<void> {
    return this.#publish(this.#names.stream(subject), this.#names.stored(subject), message);
  }

  follow(filter: string, after: number, signal: AbortSignal): AsyncIterable<StoredMessage> {
    return followed(this.#access, this.#names, filter, after, signal);
  }

  stored(filter: string): Promise<number> {
    return this.#counted(this.#names.stream(filter), this.#names.stored(filter));
  }

  async #counted(stream: string, subjects: string): Promise<number> {
    const { jsm } = this.#access;
    const { state } = await this.#patiently(() => jsm.streams.info(stream, { subjects_filter: subjects }));
    return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
  }

  async purge(filter: string): Promise<void> {
    const { jsm } = this.#access;
    await this.#patiently(() => jsm.streams.purge(this.#names.stream(filter), { filter: this.#names.stored(filter) }));
  }

  async offer(queue: string, message: Uint8Array): Promise<void> {
    const { jsm, leaseMs } = this.#access;
    assert(leaseMs !== null, "a party offers items, a worker takes them");
    let made = this.#queues.get(queue);
    if (made === undefined) {
      made = this.#patiently(() => makeQueue(jsm, this.#names, queue, leaseMs));
      this.#queues.set(queue, made);
    }
    await made;
    await this.#publish(this.#names.queueStream(queue), this.#names.queue(queue), message);
  }

  offered(queue: string): Promise<number> {
    return this.#counted(this.#names.queueStream(queue), this.#names.queue(queue));
  }

  take(queue: string, signal: AbortSignal): Promise<Lease | null> {
    return takeNext(this.#access.js, this.#names, queue, signal, this.#consumers);
  }

  say(subject: string, message: Uint8Array): void {
    assert(message.length <= messageBytesMax, "a message has at most 1 MB");
    const { connection } = this.#access;
    if (!connection.isClosed() && !connection.isDraining()) connection.publish(this.#names.said(subject), message);
  }

  hear(filter: string, signal: AbortSignal): AsyncIterable<HeardMessage> {
    // Subscribes now, even if reading begins later.
    const subscription = this.#access.connection.subscribe(this.#names.said(filter));
    const stop = (): void => subscription.unsubscribe();
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const names = this.#names;
    return (async function* () {
      for await (const { subject, data } of subscription) yield { subject: names.own(subject), message: data };
    })();
  }

  async end(): Promise<void> {
    const { jsm } = this.#access;
    const streams = [
      ...storedKinds.map((kind) => this.#names.stream(kind)),
      ...queueKinds.map((kind) => this.#names.queueStream(kind)),
    ];
    for (const stream of streams)
      await this.#patiently(async () => {
        await jsm.streams.delete(stream).catch((error: unknown) => {
          if (!isStreamGone(error)) throw error;
        });
      });
  }

  /** The same id each time: a message that was stored without our knowledge is not stored twice. */
  #publish(stream: string, subject: string, message: Uint8Array): Promise<void> {
    assert(message.length <= messageBytesMax, "a message has at most 1 MB");
    const { js, jsm, patienceMs } = this.#access;
    const timeout = Math.min(publishTimeoutMs, patienceMs);
    const msgID = randomUUID();
    return this.#slots.within(() =>
      this.#patiently(async () => {
        try {
          await js.publish(subject, message, { msgID, timeout, expect: { streamName: stream } });
        } catch (error) {
          // There is no answer if the stream is gone, and during an election: a query distinguishes them.
          if (error instanceof Error && error.name === "JetStreamNotEnabled") await jsm.streams.info(stream);
          throw error;
        }
      }),
    );
  }

  #patiently<T>(work: () => Promise<T>): Promise<T> {
    return withPatience(this.#access.patienceMs, work);
  }
}
