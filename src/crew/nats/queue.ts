/**
 * Things that one worker at a time may have. A message that was handed out and is not acknowledged is the lease: it is
 * handed out again when nobody has renewed it for the lease's time.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Consumer, JetStreamClient, JetStreamManager, JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Lease } from "../engine.ts";
import type { EpochNames } from "./names.ts";
import { isConsumerGone, lastingTrouble } from "./trouble.ts";

const askMs = 1000;
const retryMs = 300;

/** Made by whoever offers; again is no harm. */
export async function makeQueue(
  jsm: JetStreamManager,
  names: EpochNames,
  queue: string,
  leaseMs: number,
): Promise<void> {
  await jsm.consumers.add(names.queueStream(queue), {
    durable_name: names.queueConsumer(queue),
    filter_subject: names.queue(queue),
    ack_policy: "explicit",
    ack_wait: nanos(leaseMs),
    max_deliver: -1,
    max_ack_pending: -1,
  });
}

/** @param known consumers that were found before @throws TandemError ENGINE_LOST where the epoch is no more */
export async function takeNext(
  js: JetStreamClient,
  names: EpochNames,
  queue: string,
  signal: AbortSignal,
  known: Map<string, Consumer>,
): Promise<Lease | null> {
  while (!signal.aborted) {
    try {
      const consumer =
        known.get(queue) ?? (await js.consumers.get(names.queueStream(queue), names.queueConsumer(queue)));
      known.set(queue, consumer);
      const message = await nextUntil(consumer, signal);
      if (message !== null) return leaseOn(message);
    } catch (error) {
      const lasting = isConsumerGone(error) ? null : lastingTrouble(error);
      if (lasting !== null && !signal.aborted) throw lasting;
      known.delete(queue);
      await pause(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  return null;
}

/** What comes after the signal is given back. */
async function nextUntil(consumer: Consumer, signal: AbortSignal): Promise<JsMsg | null> {
  const asked = consumer.next({ expires: askMs });
  let stop = (): void => {};
  const aborted = new Promise<null>((resolve) => {
    stop = () => resolve(null);
    signal.addEventListener("abort", stop, { once: true });
  });
  const message = await Promise.race([asked, aborted]).finally(() => signal.removeEventListener("abort", stop));
  if (message === null && signal.aborted) void asked.then((late) => late?.nak()).catch(() => {});
  return message;
}

function leaseOn(message: JsMsg): Lease {
  return {
    message: message.data,
    deliveries: message.info.deliveryCount,
    renew: () => quietly(() => message.working()),
    giveBack: () => quietly(() => message.nak()),
    async done() {
      // Unconfirmed, it is handed out once more: what is done twice has one outcome.
      await message.ackAck().catch(() => {});
    },
  };
}

/** The lease runs out by itself where the connection is closed. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Nobody is there to be told.
  }
}
