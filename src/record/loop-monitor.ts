/**
 * The longest time for which the event loop was held up by its own thread: JavaScript, garbage collection, synchronous
 * native calls. Measured in CPU time of that thread where the system tells it (Linux), because on a machine whose cores
 * are all busy every thread is also delayed by the others; elsewhere in wall time.
 */
import { closeSync, openSync, readSync } from "node:fs";

const tickMs = 5;
const threadUse = `/proc/self/task/${process.pid}/schedstat`;

/** Whoever measures at the moment: they share one clock, however many jobs a process has. */
const measuring = new Set<(blockedMs: number) => void>();
let timer: NodeJS.Timeout | null = null;
let last = 0;
/** Of threadUse while somebody measures; null where the system does not tell. */
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
    // A tick that comes late shows how long the loop was away; `unref`: this never keeps a process alive.
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

  /** Up to one tick of ordinary short work is in it. */
  get maxBlockMs(): number {
    return this.#maxMs;
  }
}

/** CPU milliseconds of the main thread, or wall milliseconds. */
function threadMs(): number {
  try {
    if (descriptor !== null) {
      // From the start again: every read tells the present. Opening the file anew two hundred times a second is dear.
      const length = readSync(descriptor, text, 0, text.length, 0);
      return Number.parseInt(text.toString("latin1", 0, length), 10) / 1e6;
    }
  } catch {
    // Nothing is told any more.
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
