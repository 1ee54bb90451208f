/**
 * A clock that runs as fast as the event loop turns: some milliseconds with every turn, and alarms in their order. In a
 * process that simulates a crew nothing waits for real time. The loop also turns while threads of the native kernel
 * compute, for as long as a busy machine makes them wait: time stands still for the computations that it is given, so
 * that no worker looks dead because it is slow.
 */
import type { Clock } from "../../../src/crew/clock.ts";

export class TickingClock implements Clock {
  readonly #stepMs: number;
  #nowMs = 0;
  readonly #alarms = new Set<{ readonly atMs: number; readonly run: () => void }>();
  readonly #computations = new Set<Promise<unknown>>();
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

  /** No time passes until it ends. */
  during<T>(computation: Promise<T>): Promise<T> {
    const end = (): void => void this.#computations.delete(computation);
    this.#computations.add(computation);
    computation.then(end, end);
    return computation;
  }

  /** While a timer is pending. */
  async #tick(): Promise<void> {
    this.#isRunning = true;
    while (this.#alarms.size > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#computations.size > 0) await Promise.allSettled(this.#computations);
      this.#nowMs += this.#stepMs;
      const due = [...this.#alarms].filter(({ atMs }) => atMs <= this.#nowMs).toSorted((a, b) => a.atMs - b.atMs);
      for (const alarm of due) if (this.#alarms.delete(alarm)) alarm.run();
    }
    this.#isRunning = false;
  }
}
