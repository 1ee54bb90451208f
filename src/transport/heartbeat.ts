/**
 * Signs of life of a passive party: while it works on a call it says so every few seconds, on the stream that lasts as
 * long as the job. Work is done by threads: a party that does not say so does not work either.
 */
import { createContextKey } from "@connectrpc/connect";

export const heartbeatMs = 5000;

/** How often; 0, as in memory: never. */
export const heartbeatKey = createContextKey(0, { description: "milliseconds between signs of life" });

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
