/** Runs one piece of work after the other, in order of submission; a failure affects its own caller only. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Settles when everything submitted so far has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
