/** Wall time during which at least one of possibly overlapping pieces of work was under way. */
export class BusyClock {
  readonly #now: () => number;
  readonly #onEdge: (busy: boolean) => void;
  #active = 0;
  #since = 0;
  #totalMs = 0;

  /** @param onEdge hears when work begins after none, and when the last of it ends */
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
