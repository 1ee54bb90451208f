/** Messages for one reader, who waits for those that have not been put yet. */
export class Outbox<T> implements AsyncIterable<T> {
  readonly #messages: T[] = [];
  #isEnded = false;
  #wake: () => void = () => {};

  put(message: T): void {
    this.#messages.push(message);
    this.#wake();
  }

  /** No more messages follow. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) yield message;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
