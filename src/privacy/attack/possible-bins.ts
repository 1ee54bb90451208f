/** Per person the bins of one column that are still possible, and what that is worth. For the owner's eyes. */
import { type BinnedFeature, totalBinCount } from "../../gbdt/split/binning.ts";

export class PossibleBins {
  readonly binCount: number;
  readonly #words: number;
  readonly #bits: Uint32Array;
  /** How many of these people are in each bin. */
  readonly #frequencies: Float64Array;
  readonly #people: Uint32Array;
  readonly #bins: Uint16Array;

  /** @param people whom it is about */
  constructor(feature: BinnedFeature, people: Uint32Array, copied: PossibleBins | null = null) {
    this.binCount = totalBinCount(feature);
    this.#words = Math.ceil(this.binCount / 32);
    this.#people = people;
    this.#bins = feature.bins;
    this.#frequencies = new Float64Array(this.binCount);
    for (const person of people) this.#frequencies[feature.bins[person]]++;
    this.#bits =
      copied === null ? new Uint32Array(feature.bins.length * this.#words).fill(0xffffffff) : copied.#bits.slice();
  }

  /** Leaves those of a person's bins that are set in a mask. */
  narrow(person: number, mask: Uint32Array): void {
    for (let w = 0; w < this.#words; w++) this.#bits[person * this.#words + w] &= mask[w];
  }

  /** @param isIn per bin 1 if it is in the mask */
  mask(isIn: ArrayLike<number>): Uint32Array {
    const mask = new Uint32Array(this.#words);
    for (let bin = 0; bin < this.binCount; bin++) if (isIn[bin] === 1) mask[bin >>> 5] |= 1 << (bin & 31);
    return mask;
  }

  has(person: number, bin: number): boolean {
    return ((this.#bits[person * this.#words + (bin >>> 5)] >>> (bin & 31)) & 1) === 1;
  }

  /** Share of people of whom one bin is left. */
  certain(): number {
    return this.#mean((bins) => (bins.length === 1 ? 1 : 0));
  }

  /** Of whom the bin that they are in was excluded: none, or something is wrong. */
  wrong(): number {
    return this.#people.reduce((sum, person) => sum + (this.has(person, this.#bins[person]) ? 0 : 1), 0);
  }

  /** Bits per person that a column has at first. */
  entropy(): number {
    return this.#entropyOf(Array.from({ length: this.binCount }, (_, bin) => bin));
  }

  /** Bits per person that are left: of the possible bins, as frequent as they are. */
  bitsLeft(): number {
    return this.#mean((bins) => this.#entropyOf(bins));
  }

  /** Per bin the mean variance of whether somebody is in it. */
  variances(): Float64Array {
    const sums = new Float64Array(this.binCount);
    for (const person of this.#people) {
      const bins = this.#possible(person);
      const total = bins.reduce((sum, bin) => sum + this.#frequencies[bin], 0);
      for (const bin of bins) {
        const share = this.#frequencies[bin] / total;
        sums[bin] += share * (1 - share);
      }
    }
    return sums.map((sum) => sum / this.#people.length);
  }

  /** Share of people of whom it is certain on which side of a candidate they are. */
  certainOf(mask: Uint32Array): number {
    const { length } = this.#people;
    let certain = 0;
    for (const person of this.#people) {
      let [inside, outside] = [0, 0];
      for (let w = 0; w < this.#words; w++) {
        const possible = this.#bits[person * this.#words + w] & this.#all(w);
        inside |= possible & mask[w];
        outside |= possible & ~mask[w];
      }
      if (inside === 0 || outside === 0) certain++;
    }
    return certain / length;
  }

  #all(word: number): number {
    const left = this.binCount - 32 * word;
    return left >= 32 ? 0xffffffff : (1 << left) - 1;
  }

  #possible(person: number): number[] {
    const bins: number[] = [];
    for (let bin = 0; bin < this.binCount; bin++) if (this.has(person, bin)) bins.push(bin);
    return bins;
  }

  #mean(valueOf: (bins: readonly number[]) => number): number {
    const known = new Map<string, number>();
    let sum = 0;
    for (const person of this.#people) {
      const key = this.#bits.subarray(person * this.#words, (person + 1) * this.#words).join();
      let value = known.get(key);
      if (value === undefined) known.set(key, (value = valueOf(this.#possible(person))));
      sum += value;
    }
    return sum / this.#people.length;
  }

  #entropyOf(bins: readonly number[]): number {
    const total = bins.reduce((sum, bin) => sum + this.#frequencies[bin], 0);
    return bins.reduce((sum, bin) => {
      const share = this.#frequencies[bin] / total;
      return share > 0 ? sum - share * Math.log2(share) : sum;
    }, 0);
  }
}
