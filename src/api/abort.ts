/** How an AbortSignal ends what a call has begun. */
import { setTimeout as pause } from "node:timers/promises";
import type { ActiveWorld, ConnectedPeer } from "../party/active/world.ts";

/**
 * Runs `work`. Where it fails after the signal was aborted, the signal's reason is thrown: what fails then is what the
 * abort has broken.
 */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Calls `stop` on abort, while `work` is running. */
export async function stopping<T>(
  signal: AbortSignal | undefined,
  stop: () => void,
  work: () => Promise<T>,
): Promise<T> {
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await untilAborted(signal, work);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** A world whose connections and pauses end on abort; the job's checkpoint stays, and the next call continues it. */
export function abortableWorld(world: ActiveWorld, signal: AbortSignal | undefined): ActiveWorld {
  if (signal === undefined) return world;
  return {
    ...world,
    async connect(config, watchOf) {
      signal.throwIfAborted();
      const peers = await world.connect(config, watchOf);
      const close = (): void => peers.forEach((peer) => peer.close());
      if (signal.aborted) close();
      signal.throwIfAborted();
      signal.addEventListener("abort", close, { once: true });
      return peers.map((peer): ConnectedPeer => ({
        ...peer,
        close: () => {
          signal.removeEventListener("abort", close);
          peer.close();
        },
      }));
    },
    sleep: (ms) => pause(ms, undefined, { signal }),
  };
}
