/** One piece of work after the other, in the order in which they were handed in; a failure is its own caller's only. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Settles when everything handed in so far has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
