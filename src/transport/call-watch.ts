/**
 * Detects that a party will not answer a call. A connection that answers pings does not show that the party works: what
 * counts is progress, which is an answer, a message of a stream that it reads from us, or a heartbeat (heartbeat.ts).
 * Without progress for `stallMs` its calls fail. With heartbeats only they fail after `callMs`. Each message that it
 * reads from us resets that time, since the rest of a long upload is up to us.
 *
 * While a call waits it is reported, at growing intervals.
 */
import { TandemError } from "../base/error.ts";

export interface WatchClock {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Calls `ring` once. @returns a function that cancels it */
  readonly alarm: (ms: number, ring: () => void) => () => void;
}

export interface CallWatchOptions extends WatchClock {
  readonly party: string;
  /** Without progress a call fails after this. */
  readonly stallMs: number;
  /** A call of a party that only sends heartbeats fails after this. */
  readonly callMs: number;
  /** A call waits: how long, and whether the party reports that it is working. */
  readonly onSlow: (waitedMs: number, isWorking: boolean) => void;
  /** Calls have failed after this time. */
  readonly onGivenUp: (waitedMs: number) => void;
}

const checkMs = 1000;
const firstReportMs = 10_000;
/** Each report comes after this multiple of the time before. */
const reportFactor = 3;
/** A heartbeat counts for this long. */
const beatMs = 15_000;

/** One call, which waits once or, for a stream, once per message. */
interface Call {
  waitedMs: number;
  since: number;
  reportMs: number;
  fail: (error: TandemError) => void;
}

export class CallWatch {
  readonly #options: CallWatchOptions;
  /** Calls that wait now. */
  readonly #waiting = new Set<Call>();
  #progressAt = 0;
  #beatAt = Number.NEGATIVE_INFINITY;
  /** For a party that reports that it is working: shared by all calls, so that it is reported once. */
  #workingReportMs = firstReportMs;
  #isScheduled = false;
  #isClosed = false;

  constructor(options: CallWatchOptions) {
    this.#options = options;
  }

  /** A call begins. @returns a wrapper for each promise that the call waits for */
  call(): <T>(answer: Promise<T>) => Promise<T> {
    const call: Call = { waitedMs: 0, since: 0, reportMs: firstReportMs, fail: () => {} };
    return (answer) => this.#wait(call, answer);
  }

  /** The connection was closed: calls that still wait fail because of that. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  /** The party has read a message from us. */
  taken(): void {
    this.#progressAt = this.#options.now();
    for (const call of this.#waiting) {
      call.waitedMs = 0;
      call.since = this.#progressAt;
    }
  }

  /** The party has sent a heartbeat. */
  beat(): void {
    this.#beatAt = this.#progressAt = this.#options.now();
  }

  async #wait<T>(call: Call, answer: Promise<T>): Promise<T> {
    const { now } = this.#options;
    const failed = new Promise<never>((_, reject) => (call.fail = reject));
    call.since = now();
    if (!this.#isClosed) this.#waiting.add(call);
    this.#schedule();
    try {
      const value = await Promise.race([answer, failed]);
      this.#progressAt = now();
      return value;
    } finally {
      this.#waiting.delete(call);
      call.waitedMs += now() - call.since;
    }
  }

  /** Checks every second while a call waits: one timer for all calls, however short. */
  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    this.#options.alarm(checkMs, () => {
      this.#isScheduled = false;
      for (const call of this.#waiting) this.#check(call);
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #check(call: Call): void {
    const { party, stallMs, callMs, now, onSlow } = this.#options;
    const silentMs = now() - Math.max(this.#progressAt, call.since);
    const waitedMs = call.waitedMs + now() - call.since;
    if (silentMs >= stallMs)
      return this.#giveUp(silentMs, `party ${party} has not answered for ${seconds(silentMs)}, nor said that it works`);
    if (waitedMs >= callMs)
      return this.#giveUp(
        waitedMs,
        `party ${party} says that it works, and has not answered a call for ${seconds(waitedMs)}; ` +
          "call_seconds allows more",
      );
    if (now() - this.#beatAt < beatMs) {
      if (waitedMs < this.#workingReportMs) return;
      this.#workingReportMs = reportFactor * waitedMs;
      onSlow(waitedMs, true);
    } else if (silentMs >= call.reportMs) {
      call.reportMs = reportFactor * silentMs;
      onSlow(silentMs, false);
    }
  }

  #giveUp(waitedMs: number, message: string): void {
    const error = new TandemError("PARTY_LOST", message);
    this.#options.onGivenUp(waitedMs);
    for (const { fail } of this.#waiting) fail(error);
    this.#waiting.clear();
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
