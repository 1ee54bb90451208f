/**
 * Numbers of a typed array whose length is not known yet. They are kept in chunks, so that growing copies nothing: one
 * array that doubles would take up to three times the memory.
 */
type Numbers = Float32Array | Float64Array | Uint32Array;

const firstChunkLength = 1024;
const chunkLengthMax = 1 << 18;

export class GrowingNumbers<T extends Numbers> {
  readonly #make: new (length: number) => T;
  #chunks: T[] = [];
  /** Of the last chunk. */
  #used = 0;
  #length = 0;

  constructor(make: new (length: number) => T) {
    this.#make = make;
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const chunk = this.#chunkWithRoom();
    chunk[this.#used++] = value;
    this.#length++;
  }

  append(values: ArrayLike<number> & { subarray(first: number, end: number): ArrayLike<number> }): void {
    for (let taken = 0; taken < values.length;) {
      const chunk = this.#chunkWithRoom();
      const count = Math.min(chunk.length - this.#used, values.length - taken);
      chunk.set(values.subarray(taken, taken + count), this.#used);
      taken += count;
      this.#used += count;
      this.#length += count;
    }
  }

  /** The numbers in one array; there are none left here. */
  finish(): T {
    const all = new this.#make(this.#length);
    let at = 0;
    for (const [i, chunk] of this.#chunks.entries()) {
      const used = i === this.#chunks.length - 1 ? this.#used : chunk.length;
      all.set(chunk.subarray(0, used), at);
      at += used;
    }
    this.#chunks = [];
    this.#used = 0;
    this.#length = 0;
    return all;
  }

  #chunkWithRoom(): T {
    const last = this.#chunks.at(-1);
    if (last !== undefined && this.#used < last.length) return last;
    const next = new this.#make(Math.min(chunkLengthMax, last === undefined ? firstChunkLength : 2 * last.length));
    this.#chunks.push(next);
    this.#used = 0;
    return next;
  }
}
