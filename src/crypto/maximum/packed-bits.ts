/** Numbers of few bits side by side in bytes, the lowest bit first; bits at the end that make a whole byte are 0. */

export function packedBytes(bitCount: number): number {
  return Math.ceil(bitCount / 8);
}

export class BitWriter {
  readonly #words: Uint32Array;
  #at = 0;

  constructor(bitCount: number) {
    this.#words = new Uint32Array((bitCount >>> 5) + 2);
  }

  /** @param word below 2^count @param count at most 32 */
  put(word: number, count: number): void {
    const [index, shift] = [this.#at >>> 5, this.#at & 31];
    this.#words[index] |= word << shift;
    if (shift > 0) this.#words[index + 1] |= word >>> (32 - shift);
    this.#at += count;
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#words.buffer).slice(0, packedBytes(this.#at));
  }
}

export class BitReader {
  readonly #words: Uint32Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#words = new Uint32Array((bytes.length >>> 2) + 2);
    new Uint8Array(this.#words.buffer).set(bytes);
  }

  /** @param count at most 32 */
  take(count: number): number {
    const [index, shift] = [this.#at >>> 5, this.#at & 31];
    this.#at += count;
    const low = this.#words[index] >>> shift;
    const word = shift === 0 ? low : low | (this.#words[index + 1] << (32 - shift));
    return count === 32 ? word >>> 0 : word & (2 ** count - 1);
  }
}

/** @param values of `width` bits each: 1, 2, 4 or 8 of them, so that none crosses a byte */
export function packed(values: Uint8Array, width = 1): Uint8Array {
  const bytes = new Uint8Array(packedBytes(width * values.length));
  for (let i = 0, at = 0; i < values.length; i++, at += width) bytes[at >>> 3] |= values[i] << (at & 7);
  return bytes;
}

export function unpacked(bytes: Uint8Array, count: number, width = 1): Uint8Array {
  const values = new Uint8Array(count);
  const mask = 2 ** width - 1;
  for (let i = 0, at = 0; i < count; i++, at += width) values[i] = (bytes[at >>> 3] >>> (at & 7)) & mask;
  return values;
}
