/**
 * The public-key half of the portable kernel: plain bigint arithmetic, one element at a time. Resident form is the
 * canonical residue, in whole limbs. `threads` has no effect here: JavaScript computes on one.
 */
import { assert } from "../../base/assert.ts";
import type { SeamedPublicEvaluator } from "./evaluator-seams.ts";
import { integerBytes, inverse, power, powerByDigits, readInteger, windowDigits, writeInteger } from "../integers.ts";
import type { HistogramRequest, PackRequest, RunningSumsRequest } from "./kernel.ts";
import type { PublicKey } from "./keys.ts";
import { drawObfuscatorBases } from "./nonces.ts";
import { Pacer } from "../pacer.ts";
import * as check from "./request-checks.ts";
import { fill, joined, sliced } from "./resident-bytes.ts";
import { CiphertextVector, ObfuscatorVector, type PlaintextVector, ResidentVector } from "./vectors.ts";

const powerWindowBits = 5;

export class PortablePublicEvaluator implements SeamedPublicEvaluator {
  readonly key: PublicKey;
  readonly kernelName = "portable";
  readonly #sizeBytes: number;
  readonly #digitsOfN: Uint8Array;

  constructor(key: PublicKey) {
    this.key = key;
    this.#sizeBytes = check.residentBytes(key);
    this.#digitsOfN = windowDigits(key.n, powerWindowBits);
  }

  allocate(count: number): ResidentVector {
    return new ResidentVector(new Uint8Array(count * this.#sizeBytes), this.#sizeBytes);
  }

  async load(source: CiphertextVector, target: ResidentVector, offset: number): Promise<void> {
    check.checkLoad(this.key, source, target, offset);
    await this.#each(source.count, (i) => {
      const value = readInteger(source.bytes, source.sizeBytes, i);
      if (value <= 0n || value >= this.key.nSquared) check.refuseCiphertext(i, check.outOfRange);
      writeInteger(target.bytes, this.#sizeBytes, offset + i, value);
    });
  }

  async unload(source: ResidentVector): Promise<CiphertextVector> {
    check.checkResident(this.key, source);
    const result = new CiphertextVector(
      new Uint8Array(source.count * this.key.ciphertextBytes),
      this.key.ciphertextBytes,
    );
    await this.#each(source.count, (i) => {
      const value = this.#read(source, i);
      if (value === 0n) check.refuseCiphertext(i, check.notInvertible);
      writeInteger(result.bytes, result.sizeBytes, i, value);
    });
    return result;
  }

  async loadObfuscators(zeros: CiphertextVector): Promise<ObfuscatorVector> {
    const resident = this.allocate(zeros.count);
    await this.load(zeros, resident, 0);
    return new ObfuscatorVector(resident.bytes, resident.sizeBytes);
  }

  slice<V extends ResidentVector | ObfuscatorVector>(vector: V, first: number, count: number): V {
    check.checkResident(this.key, vector);
    return sliced(vector, first, count);
  }

  join<V extends ResidentVector | ObfuscatorVector>(vectors: readonly V[]): V {
    check.checkResident(this.key, ...vectors);
    return joined(vectors);
  }

  async clear(target: ResidentVector, elements: Uint32Array): Promise<void> {
    check.checkResident(this.key, target);
    const one = this.allocate(1);
    const { ciphertextBytes } = this.key;
    await this.load(new CiphertextVector(integerBytes(1n, ciphertextBytes), ciphertextBytes), one, 0);
    fill(target, elements, one);
  }

  async add(a: ResidentVector, b: ResidentVector): Promise<ResidentVector> {
    check.checkResident(this.key, a, b);
    check.checkSameCount(a, b);
    return this.#map(a.count, (i) => this.#product(this.#read(a, i), this.#read(b, i)));
  }

  async subtract(a: ResidentVector, b: ResidentVector): Promise<ResidentVector> {
    check.checkResident(this.key, a, b);
    check.checkSameCount(a, b);
    return this.#map(a.count, (i) => this.#product(this.#read(a, i), this.#inverse(b, i)));
  }

  async negate(a: ResidentVector): Promise<ResidentVector> {
    check.checkResident(this.key, a);
    return this.#map(a.count, (i) => this.#inverse(a, i));
  }

  async scale(a: ResidentVector, scalars: PlaintextVector): Promise<ResidentVector> {
    check.checkResident(this.key, a);
    check.checkPlaintexts(this.key, scalars);
    check.checkSameCount(a, scalars);
    return this.#map(a.count, (i) => {
      const scalar = readInteger(scalars.bytes, scalars.sizeBytes, i);
      assert(scalar < this.key.n, check.plaintextTooLarge);
      return power(this.#read(a, i), scalar, this.key.nSquared);
    });
  }

  async histogram(request: HistogramRequest): Promise<ResidentVector> {
    const cells = Array.from({ length: check.checkHistogram(this.key, request) }, () => 1n);
    const { gradients, ciphertextsPerInstance: perInstance, instances, bins, binCounts, skippedBins } = request;
    const instanceCount = gradients.count / perInstance;
    const pacer = new Pacer();
    for (const instance of instances) {
      assert(instance < instanceCount, "an instance index is below the number of instances");
      for (let j = 0; j < perInstance; j++) {
        const gradient = this.#read(gradients, instance * perInstance + j);
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
        if (pacer.due()) await pacer.rest();
      }
    }
    return this.#map(cells.length, (i) => cells[i]);
  }

  async runningSums(request: RunningSumsRequest): Promise<ResidentVector> {
    check.checkRunningSums(this.key, request);
    const { source, chainOffsets, sources, targets } = request;
    const result = this.allocate(request.targetCount);
    const pacer = new Pacer();
    for (let c = 0; c + 1 < chainOffsets.length; c++) {
      let sum = 1n;
      for (let step = chainOffsets[c]; step < chainOffsets[c + 1]; step++) {
        sum = this.#product(sum, this.#read(source, sources[step]));
        if (targets[step] >= 0) writeInteger(result.bytes, this.#sizeBytes, targets[step], sum);
        if (pacer.due()) await pacer.rest();
      }
    }
    return result;
  }

  async pack(request: PackRequest): Promise<ResidentVector> {
    const count = check.checkPack(this.key, request);
    const { source, strideBits, perCiphertext } = request;
    const result = this.allocate(count);
    const pacer = new Pacer();
    for (let e = 0; e < count; e++) {
      const first = e * perCiphertext;
      const last = Math.min(first + perCiphertext, source.count) - 1;
      let packed = this.#read(source, last);
      for (let k = last - 1; k >= first; k--) {
        for (let s = 0; s < strideBits; s++) {
          packed = this.#product(packed, packed);
          if (pacer.due()) await pacer.rest();
        }
        packed = this.#product(packed, this.#read(source, k));
      }
      writeInteger(result.bytes, this.#sizeBytes, e, packed);
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
    return new ObfuscatorVector(powers.bytes, powers.sizeBytes);
  }

  async rerandomise(target: ResidentVector, obfuscators: ObfuscatorVector): Promise<ResidentVector> {
    check.checkResident(this.key, target, obfuscators);
    check.checkSameCount(target, obfuscators);
    return this.#map(target.count, (i) => this.#product(this.#read(target, i), this.#read(obfuscators, i)));
  }

  async encrypt(plaintexts: PlaintextVector): Promise<ResidentVector> {
    check.checkPlaintexts(this.key, plaintexts);
    return this.sealWith(plaintexts, await this.obfuscators(plaintexts.count));
  }

  async sealWith(plaintexts: PlaintextVector, obfuscators: ObfuscatorVector): Promise<ResidentVector> {
    check.checkPlaintexts(this.key, plaintexts);
    check.checkResident(this.key, obfuscators);
    check.checkSameCount(plaintexts, obfuscators);
    return this.#map(plaintexts.count, (i) => {
      const plaintext = readInteger(plaintexts.bytes, plaintexts.sizeBytes, i);
      assert(plaintext < this.key.n, check.plaintextTooLarge);
      return this.#product(1n + plaintext * this.key.n, this.#read(obfuscators, i));
    });
  }

  #product(a: bigint, b: bigint): bigint {
    return (a * b) % this.key.nSquared;
  }

  #inverse(vector: ResidentVector, index: number): bigint {
    return inverse(this.#read(vector, index), this.key.nSquared) ?? check.refuseCiphertext(index, check.notInvertible);
  }

  #read(vector: ResidentVector | ObfuscatorVector, index: number): bigint {
    return readInteger(vector.bytes, this.#sizeBytes, index);
  }

  async #map(count: number, element: (index: number) => bigint): Promise<ResidentVector> {
    const result = this.allocate(count);
    await this.#each(count, (i) => writeInteger(result.bytes, this.#sizeBytes, i, element(i)));
    return result;
  }

  async #each(count: number, visit: (index: number) => void): Promise<void> {
    const pacer = new Pacer();
    for (let i = 0; i < count; i++) {
      visit(i);
      if (pacer.due()) await pacer.rest();
    }
  }
}
