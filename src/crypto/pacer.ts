/**
 * Gives the event loop its turn during long work in JavaScript: connections must stay alive while a kernel computes.
 */
import { setImmediate } from "node:timers/promises";

const sliceMs = 15;

export class Pacer {
  #sliceEnd = performance.now() + sliceMs;

  /** Whether the current slice is used up: `if (pacer.due()) await pacer.rest()` once per few milliseconds of work. */
  due(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#sliceEnd = performance.now() + sliceMs;
  }
}
