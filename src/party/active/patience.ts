/**
 * How long an active party waits for parties that are gone, and when it tries again: after 0.2 s, then twice as long
 * each time up to 10 s, each a little earlier at random, so that several jobs do not knock at the same moment. What
 * counts is fruitless waiting since the last thing that was stored; the time in which parties work does not. Before
 * anybody has answered for the first time there may be a shorter time of its own: a wrong address should not take ten
 * minutes to show. A host name that does not resolve shows within seconds in any case.
 */
import { isCrewTrouble } from "../../base/crew-trouble.ts";
import { TandemError } from "../../base/error.ts";
import { mayPass } from "./passing-trouble.ts";

const firstDelayMs = 200;
const delayMsMax = 10_000;
const unresolvedMs = 3000;
/** Of an attempt that ended because of somebody's workers, no more than this counts: it may have worked before. */
const crewTroubleMsMax = 120_000;

export interface PatienceOptions {
  readonly patienceMs: number;
  /** The same until all parties have answered for the first time. */
  readonly firstContactMs: number;
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Uniform in [0, 1). */
  readonly jitter: () => number;
  /** @param leftMs for how long it will be tried again, if nothing helps */
  readonly onWait: (error: TandemError, delayMs: number, leftMs: number) => void;
  /** What helps when patience has ended; that the same command continues the job, unless it says otherwise. */
  readonly advice?: string | undefined;
}

export class Patience {
  readonly #options: PatienceOptions;
  #proven: boolean;
  #joined = false;
  #delayMs = firstDelayMs;
  #waitedMs = 0;
  /** When the attempt under way began; null once somebody has answered. */
  #knockingSince: number | null = null;
  /** When everybody had answered in it. */
  #answeredAt: number | null = null;
  /** An attempt before this one has ended so, and nothing was stored since. */
  #hadCrewTrouble = false;

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
    if (this.#knockingSince !== null) {
      this.#answeredAt = this.#options.now();
      this.#waitedMs += this.#answeredAt - this.#knockingSince;
    }
    this.#knockingSince = null;
  }

  /** A call was waited for in vain. */
  wasted(ms: number): void {
    this.#waitedMs += ms;
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
    this.#hadCrewTrouble = false;
    this.#delayMs = firstDelayMs;
  }

  /**
   * Waits until it is time for the next attempt.
   * @throws the error itself where waiting does not help, or has not helped for long enough
   */
  async afterFailure(error: unknown): Promise<void> {
    const { sleep, jitter, onWait, advice = "the same command continues the job" } = this.#options;
    if (!(error instanceof TandemError) || !this.#isWorthWaiting(error)) throw error;
    this.#stopKnocking();
    if (isCrewTrouble(error.code)) this.#countCrewTrouble();
    const delayMs = Math.round(this.#delayMs * (1 - jitter() / 2));
    const patienceMs = this.#patienceMsFor(error);
    if (this.#waitedMs + delayMs > patienceMs) {
      if (patienceMs === 0) throw error;
      const gaveUp = `gave up after waiting for ${Math.round(this.#waitedMs / 1000)} s`;
      // A job that nobody has heard of yet does not go on, it begins.
      const words = this.#proven ? `${gaveUp}: ${advice}` : gaveUp;
      throw new TandemError(error.code, `${error.message}; ${words}`, { cause: error });
    }
    this.#delayMs = Math.min(2 * this.#delayMs, delayMsMax);
    this.#waitedMs += delayMs;
    onWait(error, delayMs, patienceMs - this.#waitedMs + delayMs);
    await sleep(delayMs);
  }

  /**
   * A party whose workers or engine are away answers, and then waits for them: of the first attempt nobody knows how
   * much was work, but the next ones were in vain.
   */
  #countCrewTrouble(): void {
    const since = this.#options.now() - (this.#answeredAt ?? this.#options.now());
    if (this.#hadCrewTrouble) this.#waitedMs += Math.min(since, crewTroubleMsMax);
    this.#hadCrewTrouble = true;
  }

  #patienceMsFor(error: TandemError): number {
    const { patienceMs, firstContactMs } = this.#options;
    if (this.#proven) return patienceMs;
    return isUnresolved(error) ? Math.min(firstContactMs, unresolvedMs) : firstContactMs;
  }

  #isWorthWaiting(error: TandemError): boolean {
    return mayPass(error) || (error.code === "PARTY_BUSY" && this.#joined);
  }
}

/** Whether there is no such host, as far as the system knows. */
function isUnresolved(error: TandemError): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") return true;
  }
  return false;
}
