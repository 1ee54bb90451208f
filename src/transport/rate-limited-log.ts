/** Limits log lines about rejected connections: the first few of each interval are logged, the others counted. */
import type { OnRejected } from "../base/listening/pending-connections.ts";

const intervalMs = 60_000;
const linesPerInterval = 5;

export interface RateLimitedLog {
  readonly write: OnRejected;
  /** Writes the count that is still due. */
  close(): void;
}

export function rateLimitedLog(write: OnRejected): RateLimitedLog {
  let written = 0;
  let suppressed = 0;
  let lastAddress = "";
  let interval: NodeJS.Timeout | null = null;
  const endInterval = (): void => {
    if (interval !== null) clearTimeout(interval);
    interval = null;
    if (suppressed > 0) write(lastAddress, `the last of ${suppressed} more within ${intervalMs / 1000} s`);
    written = suppressed = 0;
  };
  return {
    write(address, reason) {
      interval ??= setTimeout(endInterval, intervalMs).unref();
      if (written < linesPerInterval) {
        written++;
        write(address, reason);
        return;
      }
      suppressed++;
      lastAddress = address;
    },
    close: endInterval,
  };
}
