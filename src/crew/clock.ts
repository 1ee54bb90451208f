/** The clock of a crew, replaceable in tests. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** @returns a function that cancels it */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Also resolves at the signal. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const wake = (): void => {
      cancel();
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const cancel = clock.after(ms, wake);
    signal?.addEventListener("abort", wake, { once: true });
  });
}

/** Repeats until the signal. */
export function every(clock: Clock, ms: number, signal: AbortSignal, run: () => void): void {
  const next = (): void => {
    if (signal.aborted) return;
    run();
    cancel = clock.after(ms, next);
  };
  let cancel = clock.after(ms, next);
  signal.addEventListener("abort", () => cancel(), { once: true });
}
