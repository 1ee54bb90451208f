/**
 * The messages of a filter from a position on, each at least once. The server's consumer is disposable: the position is
 * tracked here, and a silent consumer is replaced by a new one. (It lives on one server of a cluster; if that server
 * dies, the client library waits for it.)
 *
 * A server that was killed may restart its numbering: it forgets the last position of a stream that was empty then. So
 * after each loss of the connection all stored messages are read again, and delivered twice.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ConsumerMessages, JetStreamClient } from "@nats-io/jetstream";
import type { StoredMessage } from "../engine.ts";
import type { EpochNames } from "./names.ts";
import { lastingTrouble } from "./trouble.ts";

const heartbeatMs = 1000;
const silenceMsMax = 4000;
const retryMs = 300;
const aheadBytesMax = 16 << 20;

export interface FollowedFrom {
  readonly js: JetStreamClient;
  readonly reconnects: () => number;
}

/** @throws TandemError ENGINE_LOST if the stream no longer exists */
export async function* followed(
  { js, reconnects }: FollowedFrom,
  names: EpochNames,
  filter: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<StoredMessage> {
  let position = after;
  let connection = reconnects();
  while (!signal.aborted) {
    if (reconnects() !== connection) position = after;
    connection = reconnects();
    const isLost = (): boolean => reconnects() !== connection;
    const messages = await consumed(js, names, filter, position + 1);
    if (messages === null) {
      await pause(retryMs);
      continue;
    }
    const watch = watchSilence(messages, isLost, signal);
    try {
      for await (const { seq, subject, data } of messages) {
        if (seq <= position) continue;
        position = seq;
        watch.busy();
        yield { subject: names.own(subject), message: data, position };
        if (signal.aborted) return;
        watch.waiting();
      }
    } catch (error) {
      const lasting = lastingTrouble(error);
      if (lasting !== null && !signal.aborted) throw lasting;
    } finally {
      watch.end();
    }
  }
}

/** @returns null if a server is unreachable or electing */
async function consumed(
  js: JetStreamClient,
  names: EpochNames,
  filter: string,
  first: number,
): Promise<ConsumerMessages | null> {
  try {
    const consumer = await js.consumers.get(names.stream(filter), {
      filter_subjects: names.stored(filter),
      deliver_policy: "by_start_sequence",
      opt_start_seq: Math.max(first, 1),
    });
    return await consumer.consume({ max_bytes: aheadBytesMax, idle_heartbeat: heartbeatMs });
  } catch (error) {
    const lasting = lastingTrouble(error);
    if (lasting !== null) throw lasting;
    return null;
  }
}

/** Closes a silent consumer. A busy reader requests nothing, and so receives nothing. */
function watchSilence(
  messages: ConsumerMessages,
  isLost: () => boolean,
  signal: AbortSignal,
): { busy(): void; waiting(): void; end(): void } {
  let heardAt = Date.now();
  let isWaiting = true;
  const close = (): void => void messages.close().catch(() => {});
  void watchStatus(messages, () => (heardAt = Date.now()), close);
  const look = setInterval(() => {
    if (isLost() || (isWaiting && Date.now() - heardAt > silenceMsMax)) close();
  }, heartbeatMs);
  signal.addEventListener("abort", close, { once: true });
  return {
    busy: () => (isWaiting = false),
    waiting() {
      heardAt = Date.now();
      isWaiting = true;
    },
    end() {
      clearInterval(look);
      signal.removeEventListener("abort", close);
      close();
    },
  };
}

async function watchStatus(messages: ConsumerMessages, onHeartbeat: () => void, gone: () => void): Promise<void> {
  for await (const { type } of messages.status()) {
    if (type === "heartbeat") onHeartbeat();
    else if (type === "consumer_not_found" || type === "stream_not_found") gone();
  }
}
