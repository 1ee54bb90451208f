/**
 * How long an active party waits for lost parties, and when it retries: after 0.2 s, then with exponential backoff up
 * to 10 s, with jitter so that several jobs do not reconnect at the same moment. Only time spent waiting without
 * success since the last stored progress counts; time in which parties work does not. Before the first answer a shorter
 * limit may apply: a wrong address should not take ten minutes to be reported. A host name that does not resolve is
 * reported within seconds.
 */
import { isCrewTrouble } from "../../base/crew-trouble.ts";
import { TandemError } from "../../base/error.ts";
import { mayPass } from "./passing-trouble.ts";

const firstDelayMs = 200;
const delayMsMax = 10_000;
const unresolvedMs = 3000;
/** Maximum time counted for the first attempt that ended because of a party's workers: it may have worked before. */
const crewTroubleMsMax = 120_000;

export interface PatienceOptions {
  readonly patienceMs: number;
  /** The limit until all parties have answered for the first time. */
  readonly firstContactMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Uniform in [0, 1). */
  readonly jitter: () => number;
  /** @param leftMs remaining time until it gives up */
  readonly onWait: (error: TandemError, delayMs: number, leftMs: number) => void;
  /** Advice when patience has ended; default: the same command continues the job. */
  readonly advice?: string | undefined;
}

export class Patience {
  readonly #options: PatienceOptions;
  #proven: boolean;
  /** All parties have joined the job, or let it wait for that. */
  #joined = false;
  #delayMs = firstDelayMs;
  #waitedMs = 0;
  /** Start of the current attempt; null once all parties have answered. */
  #connectingSince: number | null = null;
  /** When all parties had answered in the current attempt. */
  #answeredAt: number | null = null;
  /** An earlier attempt ended because of workers, and nothing was stored since. */
  #hadCrewTrouble = false;

  /** @param proven the parties have been connected in this job before */
  constructor(options: PatienceOptions, proven: boolean) {
    this.#options = options;
    this.#proven = proven;
  }

  /** An attempt begins: its time counts as waiting until all parties have answered. */
  connecting(): void {
    this.#connectingSince = this.#options.now();
  }

  /** All parties have been reached. */
  answered(): void {
    this.#stopConnecting();
    this.#proven = true;
  }

  #stopConnecting(): void {
    if (this.#connectingSince !== null) {
      this.#answeredAt = this.#options.now();
      this.#waitedMs += this.#answeredAt - this.#connectingSince;
    }
    this.#connectingSince = null;
  }

  /** A call timed out. */
  wasted(ms: number): void {
    this.#waitedMs += ms;
  }

  /** A party is there and lets the job wait for its turn, however long that takes. */
  queued(): void {
    this.answered();
    this.#joined = true;
    this.#waitedMs = 0;
    this.#delayMs = firstDelayMs;
  }

  /** All parties have joined the job. */
  joined(): void {
    this.answered();
    this.#joined = true;
  }

  /** Progress was stored. */
  progressed(): void {
    this.answered();
    this.#waitedMs = 0;
    this.#hadCrewTrouble = false;
    this.#delayMs = firstDelayMs;
  }

  /**
   * Waits until it is time for the next attempt.
   * @throws the error itself if it is not transient, or patience has ended
   */
  async afterFailure(error: unknown): Promise<void> {
    const { sleep, jitter, onWait, advice = "the same command continues the job" } = this.#options;
    if (!(error instanceof TandemError) || !this.#isWorthWaiting(error)) throw error;
    this.#stopConnecting();
    if (isCrewTrouble(error.code)) this.#countCrewTrouble();
    const delayMs = Math.round(this.#delayMs * (1 - jitter() / 2));
    const patienceMs = this.#patienceMsFor(error);
    if (this.#waitedMs + delayMs > patienceMs) {
      if (patienceMs === 0) throw error;
      const gaveUp = `gave up after waiting for ${Math.round(this.#waitedMs / 1000)} s`;
      // Without a first connection there is no job to continue.
      const words = this.#proven ? `${gaveUp}: ${advice}` : gaveUp;
      throw new TandemError(error.code, `${error.message}; ${words}`, { cause: error });
    }
    this.#delayMs = Math.min(2 * this.#delayMs, delayMsMax);
    this.#waitedMs += delayMs;
    onWait(error, delayMs, patienceMs - this.#waitedMs + delayMs);
    await sleep(delayMs);
  }

  /**
   * A party whose workers or engine are lost answers, and then waits for them: the first attempt may have worked for
   * some time, later ones only waited.
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

/** Whether the host name does not resolve. */
function isUnresolved(error: TandemError): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") return true;
  }
  return false;
}
