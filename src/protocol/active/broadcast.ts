/**
 * One source, several readers, bounded: each chunk of encrypted gradients is made once and read by every passive
 * party's connection. The source is not read further while any reader is `window` chunks behind, so that memory stays
 * bounded on slow networks; a reader that has left no longer counts.
 */

/** Chunks of gradients that may wait for a slow party. */
export const chunksAhead = 4;

export class Broadcast<T> {
  readonly #source: AsyncIterator<T>;
  readonly #window: number;
  /** Position of each reader, or Infinity once it has left. */
  readonly #positions: number[] = [];
  #items: T[] = [];
  #firstHeld = 0;
  #ended = false;
  #failure: { readonly error: unknown } | null = null;
  #pumping = false;
  #wake: (() => void)[] = [];

  constructor(source: AsyncIterable<T>, window: number) {
    this.#source = source[Symbol.asyncIterator]();
    this.#window = window;
  }

  /** Produces the first items before the first read. */
  ahead(): this {
    void this.#pump();
    return this;
  }

  /** Readers must all be made before the first of them is read. */
  reader(): AsyncIterable<T> {
    const index = this.#positions.push(0) - 1;
    this.#changed();
    return { [Symbol.asyncIterator]: () => this.#read(index) };
  }

  async *#read(index: number): AsyncGenerator<T> {
    try {
      for (let position = 0; ; position++) {
        this.#positions[index] = position;
        this.#changed();
        void this.#pump();
        while (position >= this.#firstHeld + this.#items.length && !this.#ended && this.#failure === null)
          await this.#change();
        if (this.#failure !== null) throw this.#failure.error;
        if (position >= this.#firstHeld + this.#items.length) return;
        yield this.#items[position - this.#firstHeld];
      }
    } finally {
      this.#positions[index] = Infinity;
      this.#changed();
    }
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (!this.#ended) {
        this.#forget();
        const slowest = this.#positions.length === 0 ? 0 : Math.min(...this.#positions);
        if (slowest === Infinity) break;
        if (this.#firstHeld + this.#items.length - slowest >= this.#window) {
          await this.#change();
          continue;
        }
        const { done, value } = await this.#source.next();
        if (done === true) this.#ended = true;
        else this.#items.push(value);
        this.#changed();
      }
    } catch (error) {
      this.#failure = { error };
      this.#changed();
    }
    this.#pumping = false;
  }

  /** Drops what every reader has passed. */
  #forget(): void {
    if (this.#positions.length === 0) return;
    const slowest = Math.min(...this.#positions, this.#firstHeld + this.#items.length);
    this.#items = this.#items.slice(slowest - this.#firstHeld);
    this.#firstHeld = slowest;
  }

  #changed(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resume of waiting) resume();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }
}
