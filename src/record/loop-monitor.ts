/**
 * The longest time for which the event loop was blocked by its own thread: JavaScript, garbage collection, synchronous
 * native calls. Measured in CPU time of that thread where the system reports it (Linux), because on a busy machine
 * every thread is also delayed by others; elsewhere in wall time.
 */
import { closeSync, openSync, readSync } from "node:fs";

const tickMs = 5;
const threadUse = `/proc/self/task/${process.pid}/schedstat`;

/** The active monitors: they share one timer. */
const measuring = new Set<(blockedMs: number) => void>();
let timer: NodeJS.Timeout | null = null;
let last = 0;
/** Descriptor of `threadUse` while a monitor is active; null where the system does not have it. */
let descriptor: number | null = null;
const text = Buffer.alloc(128);

export class LoopMonitor {
  #maxMs = 0;
  readonly #see = (blockedMs: number): void => void (this.#maxMs = Math.max(this.#maxMs, blockedMs));

  start(): void {
    measuring.add(this.#see);
    if (timer !== null) return;
    descriptor = opened();
    last = threadMs();
    // A late tick shows how long the loop was blocked; `unref`: the timer does not keep the process alive.
    timer = setInterval(() => {
      const now = threadMs();
      for (const see of measuring) see(now - last);
      last = now;
    }, tickMs).unref();
  }

  stop(): void {
    measuring.delete(this.#see);
    if (measuring.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  }

  /** Includes up to one tick of ordinary short work. */
  get maxBlockMs(): number {
    return this.#maxMs;
  }
}

/** CPU milliseconds of the main thread, or wall milliseconds. */
function threadMs(): number {
  try {
    if (descriptor !== null) {
      // Reading from offset 0 returns the current value; opening the file 200 times a second would be expensive.
      const length = readSync(descriptor, text, 0, text.length, 0);
      return Number.parseInt(text.toString("latin1", 0, length), 10) / 1e6;
    }
  } catch {
    // The file is no longer readable.
  }
  return performance.now() - tickMs;
}

function opened(): number | null {
  try {
    return openSync(threadUse, "r");
  } catch {
    return null;
  }
}
