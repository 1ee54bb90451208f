/** A stream that is read while it is made, and a second time afterwards or meanwhile. */
export class Recording {
  readonly #source: AsyncIterator<unknown>;
  readonly #items: unknown[] = [];
  #ended = false;
  #wake: (() => void)[] = [];

  constructor(source: AsyncIterable<unknown>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async *live(): AsyncGenerator<unknown> {
    try {
      for (;;) {
        const next = await this.#source.next();
        if (next.done === true) return;
        this.#items.push(next.value);
        this.#changed();
        yield next.value;
      }
    } finally {
      this.#ended = true;
      this.#changed();
      await this.#source.return?.();
    }
  }

  async *again(): AsyncGenerator<unknown> {
    for (let i = 0; ; i++) {
      while (i >= this.#items.length && !this.#ended) await new Promise<void>((resolve) => this.#wake.push(resolve));
      if (i >= this.#items.length) return;
      yield this.#items[i];
    }
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
