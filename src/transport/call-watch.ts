/**
 * Whoever waits for a party's answer notices when none will come. A connection that answers pings says nothing about
 * the party behind it: what counts is progress. That is an answer, a piece of a stream that it takes from us, or a
 * sign of life (heartbeat.ts). Without any for long enough its calls fail. With signs of life and nothing else they
 * fail too, much later: `callMs`. What it takes from us sets that clock back, since the rest of a long upload is ours.
 *
 * While a call waits this says so, ever more rarely.
 */
import { TandemError } from "../base/error.ts";

export interface WatchClock {
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
  /** Rings once. @returns what takes it back */
  readonly alarm: (ms: number, ring: () => void) => () => void;
}

export interface CallWatchOptions extends WatchClock {
  readonly party: string;
  /** Without progress a call fails after this. */
  readonly stallMs: number;
  /** A call of a party that gives signs of life only fails after this. */
  readonly callMs: number;
  /** A call waits: for so long, and whether the party says that it is working. */
  readonly onSlow: (waitedMs: number, isWorking: boolean) => void;
  /** Calls have failed after so long. */
  readonly onGivenUp: (waitedMs: number) => void;
}

const lookMs = 1000;
const firstWordsMs = 10_000;
/** Each time it is said again after so many times as long. */
const rarer = 3;
/** A sign of life is good for this long. */
const beatMs = 15_000;

/** One call, which waits once or, for the pieces of a stream, again and again. */
interface Call {
  waitedMs: number;
  since: number;
  wordsMs: number;
  fail: (error: TandemError) => void;
}

export class CallWatch {
  readonly #options: CallWatchOptions;
  /** Calls that wait now. */
  readonly #waiting = new Set<Call>();
  #progressAt = 0;
  #beatAt = Number.NEGATIVE_INFINITY;
  /** Of a party that says that it is working: nobody wants to read that of every call. */
  #workingWordsMs = firstWordsMs;
  #isLooking = false;
  #isClosed = false;

  constructor(options: CallWatchOptions) {
    this.#options = options;
  }

  /** A call begins. @returns what each of its waits goes through */
  call(): <T>(answer: Promise<T>) => Promise<T> {
    const call: Call = { waitedMs: 0, since: 0, wordsMs: firstWordsMs, fail: () => {} };
    return (answer) => this.#wait(call, answer);
  }

  /** The connection was given up: whoever still waits hears of that elsewhere. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  /** It has taken something from us. */
  taken(): void {
    this.#progressAt = this.#options.now();
    for (const call of this.#waiting) {
      call.waitedMs = 0;
      call.since = this.#progressAt;
    }
  }

  /** It has said that it is working. */
  beat(): void {
    this.#beatAt = this.#progressAt = this.#options.now();
  }

  async #wait<T>(call: Call, answer: Promise<T>): Promise<T> {
    const { now } = this.#options;
    const failed = new Promise<never>((_, reject) => (call.fail = reject));
    call.since = now();
    if (!this.#isClosed) this.#waiting.add(call);
    this.#look();
    try {
      const value = await Promise.race([answer, failed]);
      this.#progressAt = now();
      return value;
    } finally {
      this.#waiting.delete(call);
      call.waitedMs += now() - call.since;
    }
  }

  /** Looks every second while somebody waits. Short calls never see an alarm of their own. */
  #look(): void {
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    this.#options.alarm(lookMs, () => {
      this.#isLooking = false;
      for (const call of this.#waiting) this.#judge(call);
      if (this.#waiting.size > 0) this.#look();
    });
  }

  #judge(call: Call): void {
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
      if (waitedMs < this.#workingWordsMs) return;
      this.#workingWordsMs = rarer * waitedMs;
      onSlow(waitedMs, true);
    } else if (silentMs >= call.wordsMs) {
      call.wordsMs = rarer * silentMs;
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
