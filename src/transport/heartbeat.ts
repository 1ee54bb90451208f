/**
 * Signs of life of a passive party: while it works on a call it says so every few seconds, on the stream that lasts as
 * long as the job. Work is done by threads, so whoever does not say so does not work either.
 */
import { createContextKey, type ServiceImpl } from "@connectrpc/connect";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { everyCall } from "./every-call.ts";

export const heartbeatMs = 5000;

/** How often; 0, as in memory: never. */
export const heartbeatKey = createContextKey(0, { description: "milliseconds between signs of life" });

export interface CountedCalls {
  readonly calls: ServiceImpl<typeof PassiveParty>;
  /** Whether one of them has begun and not ended, besides the stream that lasts as long as the job. */
  readonly isWorking: () => boolean;
}

/** The same calls, counted. */
export function countedCalls(answers: ServiceImpl<typeof PassiveParty>): CountedCalls {
  let open = 0;
  const calls = everyCall<ServiceImpl<typeof PassiveParty>, unknown>(PassiveParty, () => answers, {
    async one(call) {
      open++;
      try {
        return await call();
      } finally {
        open--;
      }
    },
    async *many(call, method) {
      const weight = method === PassiveParty.method.join ? 0 : 1;
      open += weight;
      try {
        yield* call();
      } finally {
        open -= weight;
      }
    },
  });
  return { calls, isWorking: () => open > 0 };
}

/** A turn every now and then while there is work, until it is over. */
export async function* heartbeats(everyMs: number, isWorking: () => boolean, over: Promise<unknown>): AsyncGenerator {
  const ending = { isOver: false, wake: (): void => {} };
  void over.finally(() => {
    ending.isOver = true;
    ending.wake();
  });
  while (!ending.isOver) {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      ending.wake = resolve;
      if (everyMs > 0) timer = setTimeout(resolve, everyMs).unref();
    });
    clearTimeout(timer);
    if (!ending.isOver && isWorking()) yield;
  }
}
