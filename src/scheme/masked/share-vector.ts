/** Shares of products, row by row: select some products, replace them, sum them. */
import { addResidues } from "../../crypto/transfer/residues.ts";

export class ShareVector {
  #words: Uint32Array;
  readonly #limbs: number;
  /** 32-bit words of one product's rows. */
  readonly #stride: number;

  /** @param words those of a product's rows side by side. Products are always named in ascending order */
  constructor(words: Uint32Array, limbs: number, stride: number) {
    this.#words = words;
    this.#limbs = limbs;
    this.#stride = stride;
  }

  /** @returns may be the shares themselves, where that is all of them */
  pick(products: Uint32Array): Uint32Array {
    const stride = this.#stride;
    if (products.length * stride === this.#words.length) return this.#words;
    const picked = new Uint32Array(products.length * stride);
    products.forEach((product, i) =>
      picked.set(this.#words.subarray(product * stride, (product + 1) * stride), i * stride),
    );
    return picked;
  }

  /** @param by belongs to this vector from now on */
  replace(products: Uint32Array, by: Uint32Array): void {
    const stride = this.#stride;
    if (by.length === this.#words.length) {
      this.#words = by;
      return;
    }
    products.forEach((product, i) => this.#words.set(by.subarray(i * stride, (i + 1) * stride), product * stride));
  }

  add(products: Uint32Array, more: Uint32Array): void {
    const count = this.#stride;
    products.forEach((product, i) => addResidues(this.#words, more, this.#limbs, 1, product * count, i * count, count));
  }

  /** Per row the sum of the products of each run, runs side by side. */
  sums(runs: readonly number[], width: number): Uint32Array {
    const rowCount = this.#stride / width;
    const sums = new Uint32Array(rowCount * runs.length * width);
    let from = 0;
    // With one run a product's rows are side by side as the sums are.
    if (runs.length === 1) {
      for (; from < runs[0] * this.#stride; from += this.#stride)
        addResidues(sums, this.#words, this.#limbs, 1, 0, from, this.#stride);
      return sums;
    }
    runs.forEach((length, run) => {
      for (let product = 0; product < length; product++) {
        for (let row = 0; row < rowCount; row++, from += width) {
          const at = (row * runs.length + run) * width;
          addResidues(sums, this.#words, this.#limbs, 1, at, from, width);
        }
      }
    });
    return sums;
  }
}

/** Bits of some conditions, row by row; the bits themselves, where that is all of them. */
export function pickBits(bits: Uint8Array, places: Uint32Array, rowCount: number): Uint8Array {
  if (places.length * rowCount === bits.length) return bits;
  const picked = new Uint8Array(places.length * rowCount);
  places.forEach((place, i) => picked.set(bits.subarray(place * rowCount, (place + 1) * rowCount), i * rowCount));
  return picked;
}
