/**
 * A stream that is produced once for a known number of readers, each from its beginning and at its own pace. An item is
 * kept until the last of them has taken it; nothing is produced further ahead of the slowest than `aheadMax` items.
 */
import { assert } from "../base/assert.ts";

export class FanOutStream<Item> {
  readonly #readerCount: number;
  readonly #aheadMax: number;
  /** Items from number `#first` on. */
  #items: Item[] = [];
  #first = 0;
  /** Of each reader the number of the item that it wants next. */
  readonly #next: number[] = [];
  #ended = false;
  #failure: { readonly cause: unknown } | null = null;
  #waiting: (() => void)[] = [];

  constructor(readerCount: number, aheadMax = Infinity) {
    this.#readerCount = readerCount;
    this.#aheadMax = aheadMax;
  }

  /** How many items are kept now. */
  get keptCount(): number {
    return this.#items.length;
  }

  /** Takes all of `items`; a failure reaches every reader. */
  async fill(items: AsyncIterable<Item>): Promise<void> {
    try {
      for await (const item of items) {
        this.#items.push(item);
        this.#wake();
        while (this.#items.length >= this.#aheadMax) await this.#change();
      }
    } catch (cause) {
      this.#failure = { cause };
    }
    this.#ended = true;
    this.#wake();
  }

  /** As often as there are readers. */
  async *read(): AsyncGenerator<Item, void, undefined> {
    const reader = this.#next.push(0) - 1;
    assert(reader < this.#readerCount, "as many readers as were announced");
    for (let next = 0; ; next++) {
      while (next === this.#first + this.#items.length && !this.#ended) await this.#change();
      if (next === this.#first + this.#items.length) break;
      const item = this.#items[next - this.#first];
      this.#next[reader] = next + 1;
      this.#forget();
      yield item;
    }
    if (this.#failure !== null) throw this.#failure.cause;
  }

  /** What every reader has taken. */
  #forget(): void {
    if (this.#next.length < this.#readerCount) return;
    const first = Math.min(...this.#next);
    if (first === this.#first) return;
    this.#items.splice(0, first - this.#first);
    this.#first = first;
    this.#wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
