/** A full engine makes whoever writes wait: workers and party empty it meanwhile. */
import { TandemError } from "../../base/error.ts";
import { type Clock, sleep } from "../clock.ts";

const retryMs = 200;

/** Until the signal. @throws TandemError ENGINE_FULL after the patience, and whatever else `write` throws */
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
