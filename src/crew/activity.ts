/** What a worker is currently doing. Its blocks are processed one at a time. */

/** Numbers in the status table. */
export const doing = {
  nothing: 0,
  /** Reading a block's bins. */
  reading: 1,
  /** Replaying the log of a block that another worker held before. */
  replaying: 2,
  /** Loading entries of logs. */
  loading: 3,
  summing: 4,
} as const;

export class Activity {
  #doing: number = doing.nothing;

  get doing(): number {
    return this.#doing;
  }

  async during<T>(what: number, work: () => T | Promise<T>): Promise<T> {
    this.#doing = what;
    try {
      return await work();
    } finally {
      this.#doing = doing.nothing;
    }
  }
}
