/**
 * Two connections that are joined. What one sends goes to the other as it is. When more waits for one of them than may,
 * nothing is read from the other: so a pair holds no more than that and a message, in each direction.
 */
import type { RawData } from "ws";
import { pairedWord, relayClosings, unsupportedMessage } from "../transport/pipes/relay-terms.ts";
import type { RelayConnection } from "./relay-connection.ts";
import type { TokenBucket } from "./token-bucket.ts";

export interface PairTerms {
  readonly waitingBytes: number;
  /** Of the room; null: no limit. */
  readonly rate: TokenBucket | null;
  readonly onBytes: (to: "active" | "passive", bytes: number) => void;
  readonly onSeparated: () => void;
}

export function join(active: RelayConnection, passive: RelayConnection, terms: PairTerms): void {
  let isOver = false;
  const over = (code: number): void => {
    if (isOver) return;
    isOver = true;
    for (const { isOpen, close } of [active, passive].map((each) => ({
      isOpen: each.isOpen,
      close: () => each.close(code),
    })))
      if (isOpen) close();
    terms.onSeparated();
  };
  for (const [from, to] of [
    [active, passive],
    [passive, active],
  ] as const) {
    forward(from, to, terms, over);
    from.socket.once("close", () => over(relayClosings.over));
  }
  for (const { socket } of [active, passive]) socket.send(pairedWord, { binary: false });
}

function forward(
  { socket: from }: RelayConnection,
  { socket: to, end }: RelayConnection,
  { waitingBytes, rate, onBytes }: PairTerms,
  over: (code: number) => void,
): void {
  /** Until then the rate is exceeded. */
  let delay: NodeJS.Timeout | null = null;
  const readOn = (): void => {
    if (from.isPaused && delay === null && to.bufferedAmount <= waitingBytes) from.resume();
  };
  from.on("message", (data: RawData, isBinary: boolean) => {
    if (!isBinary) return over(unsupportedMessage);
    const { length } = data as Buffer;
    onBytes(end, length);
    to.send(data, { binary: true, compress: false }, readOn);
    const delayMs = rate?.spend(length) ?? 0;
    if (delayMs > 0) {
      clearTimeout(delay ?? undefined);
      delay = setTimeout(() => {
        delay = null;
        readOn();
      }, delayMs).unref();
    }
    if (delay !== null || to.bufferedAmount > waitingBytes) from.pause();
  });
  from.once("close", () => clearTimeout(delay ?? undefined));
}
