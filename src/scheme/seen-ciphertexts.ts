/**
 * Detects a ciphertext that occurs twice in a round's gradients. Honest encryption never repeats one, because each
 * nonce is fresh. A party that repeats ciphertexts saves the work of encryption, and sums a mark instead of gradients.
 *
 * The middle 16 bytes of each ciphertext are stored. Ciphertexts of an honest party are uniform, so that two of N agree
 * in these bytes with probability N^2 2^-129; they are then treated as equal.
 */
export class SeenCiphertexts {
  readonly #first: BigUint64Array;
  readonly #second: BigUint64Array;
  /** The same memory in halves, which are written without a bigint for each. */
  readonly #firstHalves: Uint32Array;
  readonly #secondHalves: Uint32Array;
  #count = 0;

  /** @param countMax the maximum number of ciphertexts of the round */
  constructor(countMax: number) {
    this.#first = new BigUint64Array(countMax);
    this.#second = new BigUint64Array(countMax);
    this.#firstHalves = new Uint32Array(this.#first.buffer);
    this.#secondHalves = new Uint32Array(this.#second.buffer);
  }

  /** @param bytes ciphertexts of `sizeBytes` each, at least 16 */
  add(bytes: Uint8Array, sizeBytes: number): void {
    const count = bytes.length / sizeBytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const middle = Math.floor(sizeBytes / 2);
    for (let i = 0; i < count; i++) {
      const at = i * sizeBytes + middle;
      const half = 2 * this.#count;
      this.#firstHalves[half] = view.getUint32(at - 8, true);
      this.#firstHalves[half + 1] = view.getUint32(at - 4, true);
      this.#secondHalves[half] = view.getUint32(at, true);
      this.#secondHalves[half + 1] = view.getUint32(at + 4, true);
      this.#count++;
    }
  }

  hasRepeats(): boolean {
    const common = this.#commonWords();
    if (common.size === 0) return false;
    const seen = new Set<string>();
    for (let i = 0; i < this.#count; i++) {
      if (!common.has(this.#first[i])) continue;
      const both = `${this.#first[i]} ${this.#second[i]}`;
      if (seen.has(both)) return true;
      seen.add(both);
    }
    return false;
  }

  /** First words that occur more than once; almost never for an honest party. */
  #commonWords(): Set<bigint> {
    const sorted = this.#first.slice(0, this.#count).sort();
    const common = new Set<bigint>();
    for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) common.add(sorted[i]);
    return common;
  }
}
