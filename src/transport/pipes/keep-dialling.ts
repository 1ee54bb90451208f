/**
 * A passive party that dials its active party, or a relay, keeps one connection open there which waits to be used. When
 * it is used the next one is opened, and when it fails another is tried: soon, then every few seconds, for as long as
 * the party runs.
 */
import { setTimeout as pause } from "node:timers/promises";
import { osRandom } from "../../base/random.ts";

const firstDelayMs = 250;
const delayMsMax = 5000;
/** A connection that waited this long and was closed has not failed: devices and peers close what is idle. */
const soundMs = 20_000;

export interface WaitingConnection {
  /** Settles with true when the partner uses it, and with false when it was closed before. */
  readonly used: Promise<boolean>;
}

export interface DiallingOptions {
  readonly stop: AbortSignal;
  /** Opens a connection and serves what comes over it. */
  readonly open: () => Promise<WaitingConnection>;
  /** Called when this changes. @param error why no connection waits; null: one does */
  readonly onState: (error: unknown) => void;
}

/** Settles when `stop` is aborted. Never rejects. */
export async function keepDialling({ stop, open, onState }: DiallingOptions): Promise<void> {
  let delayMs = firstDelayMs;
  while (!stop.aborted) {
    const started = performance.now();
    try {
      const { used } = await open();
      onState(null);
      if (await used) {
        delayMs = firstDelayMs;
        continue;
      }
      if (performance.now() - started > soundMs) delayMs = firstDelayMs;
      else onState(new Error("it was closed before it was used"));
    } catch (error) {
      onState(error);
    }
    // Jitter, so that the parties of a relay that was restarted do not all come at once.
    const jitter = osRandom.fill(new Uint8Array(1))[0] / 512;
    await pause(delayMs * (0.5 + jitter), undefined, { signal: stop }).catch(() => {});
    delayMs = Math.min(2 * delayMs, delayMsMax);
  }
}
