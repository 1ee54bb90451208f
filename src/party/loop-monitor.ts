/**
 * The longest time for which the event loop was held up by its own thread: JavaScript, garbage collection, synchronous
 * native calls. Measured in CPU time of that thread where the system tells it (Linux), because on a machine whose cores
 * are all busy every thread is also delayed by the others; elsewhere in wall time.
 */
import { readFileSync } from "node:fs";

const tickMs = 5;
const threadUse = `/proc/self/task/${process.pid}/schedstat`;

export class LoopMonitor {
  #timer: NodeJS.Timeout | null = null;
  #last = 0;
  #maxMs = 0;

  start(): void {
    this.#last = threadMs();
    // A tick that comes late shows how long the loop was away; `unref`: this never keeps a process alive.
    this.#timer = setInterval(() => {
      const now = threadMs();
      this.#maxMs = Math.max(this.#maxMs, now - this.#last);
      this.#last = now;
    }, tickMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Up to one tick of ordinary short work is in it. */
  get maxBlockMs(): number {
    return this.#maxMs;
  }
}

/** CPU milliseconds of the main thread, or wall milliseconds. */
function threadMs(): number {
  try {
    return Number(readFileSync(threadUse, "latin1").split(" ", 1)[0]) / 1e6;
  } catch {
    return performance.now() - tickMs;
  }
}
