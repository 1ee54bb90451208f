/** A rate: so much at once, and so much per second after it. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  #left: number;
  #at: number;

  /** @param now monotonic milliseconds */
  constructor(perSecond: number, burst: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
    this.#left = burst;
    this.#at = now();
  }

  /** Takes one if there is one. */
  take(): boolean {
    this.#fill();
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  /** Takes what has been used already. @returns milliseconds until the rate is kept again; 0: it is */
  spend(count: number): number {
    this.#fill();
    this.#left -= count;
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left / this.#perSecond) * 1000);
  }

  #fill(): void {
    const now = this.#now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
  }
}
