/**
 * The instances whose gradients a passive party holds for a tree. Ciphertexts are in one buffer, in the order of the
 * sampled instances; a position is an index into it. Without sampling a position is the instance itself.
 */
import { TandemError } from "../../base/error.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { bitmapFrom, checkBitmap, isSet } from "../../wire/bitmap.ts";

export class TreeSample {
  /** Sampled instances. */
  readonly count: number;
  /** Per feature the bin at each position. */
  readonly bins: readonly Uint16Array[];
  /** Per instance its position, -1 if it is not sampled; null: all are. */
  readonly #positionOf: Int32Array | null;

  /** @param bitmap over all instances; empty: all of them */
  constructor(features: readonly BinnedFeature[], instanceCount: number, bitmap: Uint8Array) {
    if (bitmap.length === 0) {
      this.count = instanceCount;
      this.bins = features.map((feature) => feature.bins);
      this.#positionOf = null;
      return;
    }
    checkBitmap(bitmap, instanceCount);
    const positionOf = new Int32Array(instanceCount).fill(-1);
    const sample = new Uint32Array(instanceCount);
    let count = 0;
    for (let instance = 0; instance < instanceCount; instance++) {
      if (!isSet(bitmap, instance)) continue;
      sample[count] = instance;
      positionOf[instance] = count++;
    }
    if (count === 0) throw new TandemError("PROTOCOL_STATE", "the sample has no instances");
    this.count = count;
    this.bins = features.map(({ bins }) => Uint16Array.from(sample.subarray(0, count), (instance) => bins[instance]));
    this.#positionOf = positionOf;
  }

  /** How many sampled instances precede this one: the position of the first sampled instance from this one on. */
  before(instance: number): number {
    const positionOf = this.#positionOf;
    if (positionOf === null) return instance;
    let last = instance - 1;
    while (last >= 0 && positionOf[last] < 0) last--;
    return last < 0 ? 0 : positionOf[last] + 1;
  }

  /** Bitmap of the sampled instances among some consecutive ones. Empty: all are sampled. */
  bitmap(first: number, end: number): Uint8Array {
    const positionOf = this.#positionOf;
    if (positionOf === null) return new Uint8Array(0);
    return bitmapFrom(end - first, (i) => positionOf[first + i] >= 0);
  }

  /** The sampled ones among some instances, in their order. */
  sampled(instances: Uint32Array): Uint32Array {
    const positionOf = this.#positionOf;
    return positionOf === null ? instances : instances.filter((instance) => positionOf[instance] >= 0);
  }

  /** The positions of the sampled ones among some instances, in their order. */
  positions(instances: Uint32Array): Uint32Array {
    const positionOf = this.#positionOf;
    if (positionOf === null) return instances;
    const positions = new Uint32Array(instances.length);
    let count = 0;
    for (const instance of instances) if (positionOf[instance] >= 0) positions[count++] = positionOf[instance];
    return positions.slice(0, count);
  }
}
