/**
 * The public-key half of the portable kernel: plain bigint arithmetic, one element at a time. Resident form is the
 * canonical residue, in whole limbs. `threads` has no effect: JavaScript computes on one.
 */
import { assert } from "../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import type { SeamedPublicEvaluator } from "./evaluator-seams.ts";
import { gcd, integerBytes, power, powerByDigits, readInteger, windowDigits, writeInteger } from "../integers.ts";
import type { HistogramRequest, PackRequest, RunningSumsRequest } from "./kernel.ts";
import type { PublicKey } from "./keys.ts";
import { drawObfuscatorBases } from "./nonces.ts";
import * as check from "./request-checks.ts";
import { VectorMemory } from "./resident-bytes.ts";
import {
  CiphertextVector,
  type HeldVector,
  type ObfuscatorVector,
  type PlaintextVector,
  type ResidentVector,
} from "./vectors.ts";

const powerWindowBits = 5;

export class PortablePublicEvaluator implements SeamedPublicEvaluator {
  readonly key: PublicKey;
  readonly kernelName = "portable";
  readonly #memory: VectorMemory;
  readonly #digitsOfN: Uint8Array;

  constructor(key: PublicKey) {
    this.key = key;
    this.#memory = new VectorMemory(this.kernelName, key);
    this.#digitsOfN = windowDigits(key.n, powerWindowBits);
  }

  allocate(count: number): ResidentVector {
    return this.#memory.allocate(count);
  }

  slice<V extends HeldVector>(vector: V, first: number, count: number): V {
    return this.#memory.slice(vector, first, count);
  }

  join<V extends HeldVector>(vectors: readonly V[]): V {
    return this.#memory.join(vectors);
  }

  free(vector: HeldVector): void {
    this.#memory.free(vector);
  }

  async load(source: CiphertextVector, target: ResidentVector, offset: number): Promise<void> {
    await this.#loadInRange(source, target, offset);
    const from = this.#memory.bytes(target);
    const { n } = this.key;
    let product = 1n;
    await this.#each(source.count, (i) => (product = (product * (this.#read(from, offset + i) % n)) % n));
    if (gcd(product, n) === 1n) return;
    await this.#each(source.count, (i) => {
      if (gcd(this.#read(from, offset + i), n) !== 1n) check.refuseCiphertext(i, check.notInvertible);
    });
  }

  async #loadInRange(source: CiphertextVector, target: ResidentVector, offset: number): Promise<void> {
    check.checkLoad(this.key, source, target, offset);
    const to = this.#memory.bytes(target);
    await this.#each(source.count, (i) => {
      const value = readInteger(source.bytes, source.sizeBytes, i);
      if (value <= 0n || value >= this.key.nSquared) check.refuseCiphertext(i, check.outOfRange);
      this.#write(to, offset + i, value);
    });
  }

  async unload(source: ResidentVector): Promise<CiphertextVector> {
    const from = this.#memory.bytes(source);
    const { ciphertextBytes } = this.key;
    const result = new CiphertextVector(new Uint8Array(source.count * ciphertextBytes), ciphertextBytes);
    await this.#each(source.count, (i) => {
      const value = this.#read(from, i);
      if (value === 0n) check.refuseCiphertext(i, check.notInvertible);
      writeInteger(result.bytes, result.sizeBytes, i, value);
    });
    return result;
  }

  async loadObfuscators(zeros: CiphertextVector): Promise<ObfuscatorVector> {
    const resident = this.allocate(zeros.count);
    await this.#loadInRange(zeros, resident, 0);
    return this.#memory.obfuscators(this.#memory.bytes(resident));
  }

  async firstUnsealed(vector: ResidentVector): Promise<number> {
    const bytes = this.#memory.bytes(vector);
    for (let i = 0; i < vector.count; i++) {
      if (this.#read(bytes, i) % this.key.n === 1n) return i;
      if (isSliceOver()) await nextSlice();
    }
    return -1;
  }

  async clear(target: ResidentVector, elements: Uint32Array): Promise<void> {
    const { ciphertextBytes } = this.key;
    const bytes = this.#memory.bytes(target);
    const zero = this.allocate(1);
    await this.load(new CiphertextVector(integerBytes(1n, ciphertextBytes), ciphertextBytes), zero, 0);
    const zeroBytes = this.#memory.bytes(zero);
    for (const element of elements) {
      assert(element < target.count, "a cleared element exists");
      bytes.set(zeroBytes, element * zeroBytes.length);
    }
  }

  async add(a: ResidentVector, b: ResidentVector): Promise<ResidentVector> {
    check.checkSameCount(a, b);
    const [left, right] = [this.#memory.bytes(a), this.#memory.bytes(b)];
    return this.#map(a.count, (i) => this.#product(this.#read(left, i), this.#read(right, i)));
  }

  async scale(a: ResidentVector, scalars: PlaintextVector): Promise<ResidentVector> {
    check.checkPlaintexts(this.key, scalars);
    check.checkSameCount(a, scalars);
    const from = this.#memory.bytes(a);
    return this.#map(a.count, (i) => {
      const scalar = readInteger(scalars.bytes, scalars.sizeBytes, i);
      assert(scalar < this.key.n, check.plaintextTooLarge);
      return power(this.#read(from, i), scalar, this.key.nSquared);
    });
  }

  async histogram(request: HistogramRequest): Promise<ResidentVector> {
    const cells = Array.from({ length: check.checkHistogram(request) }, () => 1n);
    const { gradients, ciphertextsPerInstance: perInstance, instances, bins, binCounts, skippedBins } = request;
    const from = this.#memory.bytes(gradients);
    const instanceCount = gradients.count / perInstance;
    for (const instance of instances) {
      assert(instance < instanceCount, "an instance index is below the number of instances");
      for (let j = 0; j < perInstance; j++) {
        const gradient = this.#read(from, instance * perInstance + j);
        let firstCell = 0;
        for (let f = 0; f < bins.length; f++) {
          const bin = bins[f][instance];
          assert(bin < binCounts[f], "a bin is below the feature's number of bins");
          if (bin !== skippedBins[f]) {
            const cell = (firstCell + bin) * perInstance + j;
            cells[cell] = cells[cell] === 1n ? gradient : this.#product(cells[cell], gradient);
          }
          firstCell += binCounts[f];
        }
        if (isSliceOver()) await nextSlice();
      }
    }
    return this.#map(cells.length, (i) => cells[i]);
  }

  async runningSums(request: RunningSumsRequest): Promise<ResidentVector> {
    check.checkRunningSums(request);
    const { source, chainOffsets, sources, targets } = request;
    const from = this.#memory.bytes(source);
    const result = this.allocate(request.targetCount);
    const to = this.#memory.bytes(result);
    for (let c = 0; c + 1 < chainOffsets.length; c++) {
      let sum = 1n;
      for (let step = chainOffsets[c]; step < chainOffsets[c + 1]; step++) {
        sum = this.#product(sum, this.#read(from, sources[step]));
        if (targets[step] >= 0) this.#write(to, targets[step], sum);
        if (isSliceOver()) await nextSlice();
      }
    }
    return result;
  }

  async pack(request: PackRequest): Promise<ResidentVector> {
    const bases = await drawObfuscatorBases(this.key, check.checkPack(this.key, request));
    try {
      return await this.packFrom(request, bases);
    } finally {
      bases.fill(0);
    }
  }

  async packFrom(request: PackRequest, bases: Uint8Array): Promise<ResidentVector> {
    const count = check.checkPack(this.key, request);
    assert(bases.length === count * this.key.plaintextBytes, "every packed ciphertext has a base");
    const obfuscators = this.#memory.bytes(await this.obfuscatorsFrom(bases));
    const { source, strideBits, perCiphertext } = request;
    const from = this.#memory.bytes(source);
    const result = this.allocate(count);
    const to = this.#memory.bytes(result);
    for (let e = 0; e < count; e++) {
      const first = e * perCiphertext;
      const last = Math.min(first + perCiphertext, source.count) - 1;
      let packed = this.#read(from, last);
      for (let k = last - 1; k >= first; k--) {
        for (let s = 0; s < strideBits; s++) {
          packed = this.#product(packed, packed);
          if (isSliceOver()) await nextSlice();
        }
        packed = this.#product(packed, this.#read(from, k));
      }
      this.#write(to, e, this.#product(packed, this.#read(obfuscators, e)));
    }
    return result;
  }

  async obfuscators(count: number): Promise<ObfuscatorVector> {
    const bases = await drawObfuscatorBases(this.key, count);
    try {
      return await this.obfuscatorsFrom(bases);
    } finally {
      bases.fill(0);
    }
  }

  async obfuscatorsFrom(bases: Uint8Array): Promise<ObfuscatorVector> {
    const { n, nSquared, plaintextBytes } = this.key;
    assert(bases.length % plaintextBytes === 0, "bases are plaintextBytes wide");
    const powers = await this.#map(bases.length / plaintextBytes, (i) => {
      const base = readInteger(bases, plaintextBytes, i);
      assert(base > 0n && base < n, check.basesInRange);
      return powerByDigits(base, this.#digitsOfN, powerWindowBits, nSquared);
    });
    return this.#memory.obfuscators(this.#memory.bytes(powers));
  }

  async encrypt(plaintexts: PlaintextVector): Promise<ResidentVector> {
    check.checkPlaintexts(this.key, plaintexts);
    return this.sealWith(plaintexts, await this.obfuscators(plaintexts.count));
  }

  sealWith(plaintexts: PlaintextVector, obfuscators: ObfuscatorVector): Promise<ResidentVector> {
    return this.#multiplied(plaintexts, obfuscators);
  }

  addPlaintexts(a: ResidentVector, plaintexts: PlaintextVector): Promise<ResidentVector> {
    return this.#multiplied(plaintexts, a);
  }

  /** (1 + m n) times element i. */
  async #multiplied(plaintexts: PlaintextVector, vector: HeldVector): Promise<ResidentVector> {
    check.checkPlaintexts(this.key, plaintexts);
    check.checkSameCount(plaintexts, vector);
    const factors = this.#memory.bytes(vector);
    return this.#map(plaintexts.count, (i) => {
      const plaintext = readInteger(plaintexts.bytes, plaintexts.sizeBytes, i);
      assert(plaintext < this.key.n, check.plaintextTooLarge);
      return this.#product(1n + plaintext * this.key.n, this.#read(factors, i));
    });
  }

  #product(a: bigint, b: bigint): bigint {
    return (a * b) % this.key.nSquared;
  }

  #read(bytes: Uint8Array, index: number): bigint {
    return readInteger(bytes, this.#memory.sizeBytes, index);
  }

  #write(bytes: Uint8Array, index: number, value: bigint): void {
    writeInteger(bytes, this.#memory.sizeBytes, index, value);
  }

  async #map(count: number, element: (index: number) => bigint): Promise<ResidentVector> {
    const result = this.allocate(count);
    const to = this.#memory.bytes(result);
    await this.#each(count, (i) => this.#write(to, i, element(i)));
    return result;
  }

  async #each(count: number, visit: (index: number) => void): Promise<void> {
    for (let i = 0; i < count; i++) {
      visit(i);
      if (isSliceOver()) await nextSlice();
    }
  }
}
