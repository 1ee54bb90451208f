/**
 * A clock that runs as fast as the event loop turns: some milliseconds with every turn, and alarms in their order. In a
 * process that simulates a crew nothing waits for real time, and what is slow there does not look dead.
 */
import type { Clock } from "../../../src/crew/clock.ts";

export class TickingClock implements Clock {
  readonly #stepMs: number;
  #nowMs = 0;
  readonly #alarms = new Set<{ readonly atMs: number; readonly run: () => void }>();
  #isRunning = false;

  constructor(stepMs = 2) {
    this.#stepMs = stepMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    const alarm = { atMs: this.#nowMs + ms, run };
    this.#alarms.add(alarm);
    if (!this.#isRunning) void this.#tick();
    return () => this.#alarms.delete(alarm);
  }

  /** While a timer is pending. */
  async #tick(): Promise<void> {
    this.#isRunning = true;
    while (this.#alarms.size > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#nowMs += this.#stepMs;
      const due = [...this.#alarms].filter(({ atMs }) => atMs <= this.#nowMs).toSorted((a, b) => a.atMs - b.atMs);
      for (const alarm of due) if (this.#alarms.delete(alarm)) alarm.run();
    }
    this.#isRunning = false;
  }
}
