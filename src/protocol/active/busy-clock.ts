/** Wall time during which at least one of several, possibly overlapping, operations was running. */
export class BusyClock {
  readonly #now: () => number;
  readonly #onEdge: (busy: boolean) => void;
  #active = 0;
  #since = 0;
  #totalMs = 0;

  /** @param onEdge called when the first operation begins and when the last one ends */
  constructor(now: () => number, onEdge: (busy: boolean) => void = () => {}) {
    this.#now = now;
    this.#onEdge = onEdge;
  }

  get totalMs(): number {
    return this.#totalMs + (this.#active > 0 ? this.#now() - this.#since : 0);
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#active++ === 0) {
      this.#since = this.#now();
      this.#onEdge(true);
    }
    try {
      return await work();
    } finally {
      if (--this.#active === 0) {
        this.#totalMs += this.#now() - this.#since;
        this.#onEdge(false);
      }
    }
  }
}
