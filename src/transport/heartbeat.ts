/**
 * Heartbeats of a passive party: while it works on a call it sends one every few seconds, on the stream that lasts as
 * long as the job. Work is done by threads, so the event loop is free to send them.
 */
import { createContextKey } from "@connectrpc/connect";

export const heartbeatMs = 5000;

/** Interval; 0, as in memory: no heartbeats. */
export const heartbeatKey = createContextKey(0, { description: "milliseconds between heartbeats" });

/** Yields at each interval while there is work, until `over` settles. */
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
