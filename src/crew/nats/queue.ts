/**
 * Items that one worker at a time may hold. A delivered, unacknowledged message is the lease: it is delivered again if
 * it is not renewed within the lease's time.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Consumer, JetStreamClient, JetStreamManager, JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Lease } from "../engine.ts";
import type { EpochNames } from "./names.ts";
import { isConsumerGone, lastingTrouble } from "./trouble.ts";

const askMs = 1000;
const retryMs = 300;

/** Created by the party that offers; creating it again is harmless. */
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

/** @param known consumers that were found before @throws TandemError ENGINE_LOST if the epoch no longer exists */
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

/** A message that arrives after the signal is returned. */
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
      // If the confirmation is lost, it is handed out again: doing it twice has the same outcome.
      await message.ackAck().catch(() => {});
    },
  };
}

/** If the connection is closed, the lease expires by itself. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // There is no one to report to.
  }
}
