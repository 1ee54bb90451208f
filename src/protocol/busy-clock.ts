/** Wall time during which at least one of possibly overlapping pieces of work was under way. */
export class BusyClock {
  readonly #now: () => number;
  #active = 0;
  #since = 0;
  #totalMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get totalMs(): number {
    return this.#totalMs + (this.#active > 0 ? this.#now() - this.#since : 0);
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#active++ === 0) this.#since = this.#now();
    try {
      return await work();
    } finally {
      if (--this.#active === 0) this.#totalMs += this.#now() - this.#since;
    }
  }
}
