/** A stream that is produced once and kept, for any number of readers, each from its beginning and at its own pace. */
export class KeptStream<Item> {
  readonly #items: Item[] = [];
  #ended = false;
  #failure: { readonly cause: unknown } | null = null;
  #wakeReaders: (() => void)[] = [];

  /** Takes all of `items`; a failure reaches every reader. */
  async fill(items: AsyncIterable<Item>): Promise<void> {
    try {
      for await (const item of items) {
        this.#items.push(item);
        this.#wake();
      }
    } catch (cause) {
      this.#failure = { cause };
    }
    this.#ended = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<Item, void, undefined> {
    for (let next = 0; ; next++) {
      while (next === this.#items.length && !this.#ended)
        await new Promise<void>((resolve) => this.#wakeReaders.push(resolve));
      if (next === this.#items.length) break;
      yield this.#items[next];
    }
    if (this.#failure !== null) throw this.#failure.cause;
  }

  #wake(): void {
    for (const wake of this.#wakeReaders.splice(0)) wake();
  }
}
