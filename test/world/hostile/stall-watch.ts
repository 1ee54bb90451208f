/**
 * Notices that nothing happens for a minute. On a machine whose processors are busy with other work a healthy process
 * is slow, so the time in which the watched processes waited for a processor, which the kernel counts, is left out.
 */
import { readdirSync, readFileSync } from "node:fs";

const stalledMs = 60_000;
const lookMs = 1000;
/** However busy the machine is, this share of the time counts. */
const countedShareMin = 1 / 20;

export interface StallWatch {
  /** Aborted when nothing has happened for too long. */
  readonly signal: AbortSignal;
  /** Something happened. */
  moved(): void;
  end(): void;
}

/** @param pids of the processes that may wait for a processor, besides this one */
export function watchForStall(pids: readonly number[], limitMs = stalledMs): StallWatch {
  const watched = [process.pid, ...pids];
  const stall = new AbortController();
  let stillMs = 0;
  let before: { readonly at: number; readonly waitedMs: number } | null = null;
  const look = (): void => {
    const now = { at: performance.now(), waitedMs: waitedForProcessorMs(watched) };
    if (before !== null) {
      const passed = now.at - before.at;
      stillMs += Math.max(passed * countedShareMin, passed - Math.max(0, now.waitedMs - before.waitedMs));
    }
    before = now;
    if (stillMs > limitMs) stall.abort();
  };
  const timer = setInterval(look, Math.min(lookMs, limitMs / 4));
  return {
    signal: stall.signal,
    moved: () => {
      stillMs = 0;
      before = null;
    },
    end: () => clearInterval(timer),
  };
}

/** Of all threads since they began; 0 where the kernel does not count it. */
function waitedForProcessorMs(pids: readonly number[]): number {
  let nanoseconds = 0;
  for (const pid of pids)
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`))
        nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[1]);
    } catch {
      // It has ended, or this is not Linux.
    }
  return nanoseconds / 1e6;
}

/** @returns how work ended, as `outcomeOf` says it, or "finished"; "hang" if it stalls */
export async function outcomeUnlessStalled(
  watch: StallWatch,
  work: () => Promise<unknown>,
  outcomeOf: (error: unknown) => string,
): Promise<string> {
  const stalled = new Promise<string>((resolve) =>
    watch.signal.addEventListener("abort", () => resolve("hang"), { once: true }),
  );
  const done = work().then(() => "finished", outcomeOf);
  return Promise.race([done, stalled]).finally(() => watch.end());
}
