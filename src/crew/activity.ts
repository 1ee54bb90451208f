/** What a worker is doing at this moment. One thing at a time: its blocks take turns. */

/** As numbers on the board. */
export const doing = {
  nothing: 0,
  /** A block's bins. */
  reading: 1,
  /** The log of a block that somebody else had before. */
  replaying: 2,
  /** What its blocks are told. */
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
