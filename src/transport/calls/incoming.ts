/** The received, unread messages of one call, in order. */
type Reader<T> = {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
};

export class Incoming<T> implements AsyncIterableIterator<T, undefined> {
  readonly #items: { readonly value: T; readonly bytes: number }[] = [];
  readonly #readers: Reader<T>[] = [];
  readonly #freed: (bytes: number) => void;
  readonly #processed: (bytes: number) => void;
  /** Of messages that were read, and that the reader may still work on. */
  #inWorkBytes = 0;
  #end: { readonly error: unknown } | null = null;

  /**
   * @param freed called with the bytes of each message that is read or dropped
   * @param processed called with the bytes of messages that were read before, when the next one is requested
   */
  constructor(freed: (bytes: number) => void, processed: (bytes: number) => void = () => {}) {
    this.#freed = freed;
    this.#processed = processed;
  }

  get isOver(): boolean {
    return this.#end !== null;
  }

  add(value: T, bytes: number): void {
    const reader = this.#readers.shift();
    if (reader === undefined && this.#end === null) this.#items.push({ value, bytes });
    else this.#freed(bytes);
    if (reader !== undefined) this.#inWorkBytes += bytes;
    reader?.resolve({ done: false, value });
  }

  /** No more messages will come. @param error why; left out: the stream is complete */
  finish(error?: unknown): void {
    if (this.#end !== null) return;
    this.#end = { error };
    for (const reader of this.#readers.splice(0)) this.#last(reader);
  }

  /** Discards unread messages. */
  drop(): void {
    for (const { bytes } of this.#items.splice(0)) this.#freed(bytes);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    this.#processed(this.#inWorkBytes);
    this.#inWorkBytes = 0;
    const item = this.#items.shift();
    if (item !== undefined) {
      this.#freed(item.bytes);
      this.#inWorkBytes = item.bytes;
      return Promise.resolve({ done: false, value: item.value });
    }
    return new Promise((resolve, reject) => {
      if (this.#end === null) this.#readers.push({ resolve, reject });
      else this.#last({ resolve, reject });
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.finish();
    this.drop();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #last({ resolve, reject }: Reader<T>): void {
    if (this.#end?.error === undefined) resolve({ done: true, value: undefined });
    else reject(this.#end.error);
  }
}
