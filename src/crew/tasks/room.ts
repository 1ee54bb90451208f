/** A full engine makes writers wait, while workers and party consume its messages. */
import { TandemError } from "../../base/error.ts";
import { type Clock, sleep } from "../clock.ts";

const retryMs = 200;

/** Retries until the signal. @throws TandemError ENGINE_FULL after the patience, and any other error of `write` */
export async function untilThereIsRoom(
  clock: Clock,
  patienceMs: number,
  signal: AbortSignal,
  write: () => Promise<void>,
): Promise<void> {
  const since = clock.now();
  while (!signal.aborted) {
    try {
      return await write();
    } catch (error) {
      const isFull = error instanceof TandemError && error.code === "ENGINE_FULL";
      if (!isFull || clock.now() - since > patienceMs) throw error;
    }
    await sleep(clock, retryMs, signal);
  }
}
