/** Per instance the bins of one column that are still possible, and the information left. For the owner only. */
import { type BinnedFeature, totalBinCount } from "../../gbdt/split/binning.ts";

export class PossibleBins {
  readonly binCount: number;
  readonly #words: number;
  readonly #bits: Uint32Array;
  /** Instances per bin. */
  readonly #frequencies: Float64Array;
  readonly #instances: Uint32Array;
  readonly #bins: Uint16Array;

  /** @param instances those to consider */
  constructor(feature: BinnedFeature, instances: Uint32Array, copied: PossibleBins | null = null) {
    this.binCount = totalBinCount(feature);
    this.#words = Math.ceil(this.binCount / 32);
    this.#instances = instances;
    this.#bins = feature.bins;
    this.#frequencies = new Float64Array(this.binCount);
    for (const instance of instances) this.#frequencies[feature.bins[instance]]++;
    this.#bits =
      copied === null ? new Uint32Array(feature.bins.length * this.#words).fill(0xffffffff) : copied.#bits.slice();
  }

  /** Removes the bins of an instance that are not in the mask. */
  narrow(instance: number, mask: Uint32Array): void {
    for (let w = 0; w < this.#words; w++) this.#bits[instance * this.#words + w] &= mask[w];
  }

  /** @param isIn per bin 1 if it is in the mask */
  mask(isIn: ArrayLike<number>): Uint32Array {
    const mask = new Uint32Array(this.#words);
    for (let bin = 0; bin < this.binCount; bin++) if (isIn[bin] === 1) mask[bin >>> 5] |= 1 << (bin & 31);
    return mask;
  }

  has(instance: number, bin: number): boolean {
    return ((this.#bits[instance * this.#words + (bin >>> 5)] >>> (bin & 31)) & 1) === 1;
  }

  /** Share of instances with one possible bin left. */
  certain(): number {
    return this.#mean((bins) => (bins.length === 1 ? 1 : 0));
  }

  /** Instances whose true bin was excluded: always zero unless an attack has a bug. */
  wrong(): number {
    return this.#instances.reduce((sum, instance) => sum + (this.has(instance, this.#bins[instance]) ? 0 : 1), 0);
  }

  /** Bits per instance before any attack. */
  entropy(): number {
    return this.#entropyOf(Array.from({ length: this.binCount }, (_, bin) => bin));
  }

  /** Bits per instance that remain: the entropy of the possible bins, weighted by frequency. */
  bitsLeft(): number {
    return this.#mean((bins) => this.#entropyOf(bins));
  }

  /** Of an instance's membership in the bins: the mean over instances, with these weights. */
  covariance(weights: Float64Array): Float64Array[] {
    const mean = Array.from({ length: this.binCount }, () => new Float64Array(this.binCount));
    const whole = this.#instances.reduce((sum, instance) => sum + weights[instance], 0);
    if (whole === 0) return mean;
    for (const [bins, instances] of this.#alike()) {
      const total = bins.reduce((sum, bin) => sum + this.#frequencies[bin], 0);
      const weight = instances.reduce((sum, instance) => sum + weights[instance], 0) / whole;
      for (const a of bins) {
        const share = this.#frequencies[a] / total;
        mean[a][a] += weight * share;
        for (const b of bins) mean[a][b] -= weight * share * (this.#frequencies[b] / total);
      }
    }
    return mean;
  }

  /** Possible bins, and the instances that have exactly these. */
  #alike(): Iterable<readonly [number[], number[]]> {
    const known = new Map<string, [number[], number[]]>();
    for (const instance of this.#instances) {
      const key = this.#bits.subarray(instance * this.#words, (instance + 1) * this.#words).join();
      const found = known.get(key);
      if (found === undefined) known.set(key, [this.#possible(instance), [instance]]);
      else found[1].push(instance);
    }
    return known.values();
  }

  /** Share of instances whose side of a candidate is certain. */
  certainOf(mask: Uint32Array): number {
    const { length } = this.#instances;
    let certain = 0;
    for (const instance of this.#instances) {
      let [inside, outside] = [0, 0];
      for (let w = 0; w < this.#words; w++) {
        const possible = this.#bits[instance * this.#words + w] & this.#all(w);
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

  #possible(instance: number): number[] {
    const bins: number[] = [];
    for (let bin = 0; bin < this.binCount; bin++) if (this.has(instance, bin)) bins.push(bin);
    return bins;
  }

  #mean(valueOf: (bins: readonly number[]) => number): number {
    let sum = 0;
    for (const [bins, instances] of this.#alike()) sum += instances.length * valueOf(bins);
    return sum / this.#instances.length;
  }

  #entropyOf(bins: readonly number[]): number {
    const total = bins.reduce((sum, bin) => sum + this.#frequencies[bin], 0);
    return bins.reduce((sum, bin) => {
      const share = this.#frequencies[bin] / total;
      return share > 0 ? sum - share * Math.log2(share) : sum;
    }, 0);
  }
}
