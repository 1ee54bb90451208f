/**
 * How long an active party waits for parties that are gone, and when it tries again: after 0.2 s, then twice as long
 * each time up to 10 s, each a little earlier at random, so that several jobs do not knock at the same moment. What
 * counts is fruitless waiting since the last thing that was stored; the time in which parties work does not. Before
 * anybody has answered for the first time only a few seconds are waited: a wrong address should not take ten minutes to
 * show.
 */
import { TandemError } from "../../base/error.ts";
import { isPartyFault } from "../../transport/wire-error.ts";

const firstDelayMs = 200;
const delayMsMax = 10_000;
const unprovenMs = 3000;

export interface PatienceOptions {
  readonly patienceMs: number;
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Uniform in [0, 1). */
  readonly jitter: () => number;
  readonly onWait: (error: TandemError, delayMs: number) => void;
  /** What helps when patience has ended; that the same command continues the job, unless it says otherwise. */
  readonly advice?: string;
}

export class Patience {
  readonly #options: PatienceOptions;
  #proven: boolean;
  #joined = false;
  #delayMs = firstDelayMs;
  #waitedMs = 0;
  /** When the attempt under way began; null once somebody has answered. */
  #knockingSince: number | null = null;

  /** @param proven the parties have worked together in this job before */
  constructor(options: PatienceOptions, proven: boolean) {
    this.#options = options;
    this.#proven = proven;
  }

  /** An attempt begins: until somebody answers, its time is waiting. */
  knocking(): void {
    this.#knockingSince = this.#options.now();
  }

  /** All parties have been reached. */
  answered(): void {
    this.#stopKnocking();
    this.#proven = true;
  }

  #stopKnocking(): void {
    if (this.#knockingSince !== null) this.#waitedMs += this.#options.now() - this.#knockingSince;
    this.#knockingSince = null;
  }

  /** All parties are in the job. */
  joined(): void {
    this.answered();
    this.#joined = true;
  }

  /** Something was stored that will not have to be done again. */
  progressed(): void {
    this.answered();
    this.#waitedMs = 0;
    this.#delayMs = firstDelayMs;
  }

  /**
   * Waits until it is time for the next attempt.
   * @throws the error itself where waiting does not help, or has not helped for long enough
   */
  async afterFailure(error: unknown): Promise<void> {
    const { patienceMs, sleep, jitter, onWait, advice = "the same command continues the job" } = this.#options;
    if (!(error instanceof TandemError) || !this.#isWorthWaiting(error)) throw error;
    this.#stopKnocking();
    const delayMs = Math.round(this.#delayMs * (1 - jitter() / 2));
    if (this.#waitedMs + delayMs > (this.#proven ? patienceMs : Math.min(patienceMs, unprovenMs))) {
      if (!this.#proven || patienceMs === 0) throw error;
      throw new TandemError(
        error.code,
        `${error.message}; gave up after waiting for ${Math.round(this.#waitedMs / 1000)} s: ${advice}`,
        { cause: error },
      );
    }
    this.#delayMs = Math.min(2 * this.#delayMs, delayMsMax);
    this.#waitedMs += delayMs;
    onWait(error, delayMs);
    await sleep(delayMs);
  }

  /** A party that is gone may come back; one that has a bug will have it again. */
  #isWorthWaiting(error: TandemError): boolean {
    if (error.code === "PARTY_LOST") return !isPartyFault(error);
    return error.code === "PARTY_BUSY" && this.#joined;
  }
}
