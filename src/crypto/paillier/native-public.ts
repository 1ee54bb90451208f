/** The public-key half of the native kernel: checks shapes, allocates results, calls the addon. */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import type { SeamedPublicEvaluator } from "./evaluator-seams.ts";
import { integerBytes } from "../integers.ts";
import type { HistogramRequest, PackRequest, RunningSumsRequest } from "./kernel.ts";
import type { PublicKey } from "./keys.ts";
import type { NativeAddon, NativeKernelName, PublicContext } from "./native-addon.ts";
import { drawObfuscatorBases } from "./nonces.ts";
import * as check from "./request-checks.ts";
import { fill, joined, sliced } from "./resident-bytes.ts";
import { CiphertextVector, ObfuscatorVector, type PlaintextVector, ResidentVector } from "./vectors.ts";

export class NativePublicEvaluator implements SeamedPublicEvaluator {
  readonly key: PublicKey;
  readonly kernelName: string;
  readonly #addon: NativeAddon;
  readonly #context: PublicContext;
  readonly #threads: number;
  readonly #sizeBytes: number;

  constructor(addon: NativeAddon, kernel: NativeKernelName, key: PublicKey, threads: number) {
    this.key = key;
    this.kernelName = `native-${kernel}`;
    this.#addon = addon;
    this.#context = addon.createPublic(kernel, integerBytes(key.n, key.plaintextBytes));
    this.#threads = threads;
    this.#sizeBytes = check.residentBytes(key);
  }

  allocate(count: number): ResidentVector {
    return new ResidentVector(new Uint8Array(count * this.#sizeBytes), this.#sizeBytes);
  }

  async load(source: CiphertextVector, target: ResidentVector, offset: number): Promise<void> {
    check.checkLoad(this.key, source, target, offset);
    const refused = await this.#addon.load(
      this.#context,
      source.bytes,
      source.sizeBytes,
      target.bytes,
      offset,
      this.#threads,
    );
    if (refused >= 0) check.refuseCiphertext(refused, check.outOfRange);
  }

  async unload(source: ResidentVector): Promise<CiphertextVector> {
    check.checkResident(this.key, source);
    const { ciphertextBytes } = this.key;
    const result = new CiphertextVector(new Uint8Array(source.count * ciphertextBytes), ciphertextBytes);
    const refused = await this.#addon.unload(this.#context, source.bytes, result.bytes, ciphertextBytes, this.#threads);
    if (refused >= 0) check.refuseCiphertext(refused, check.notInvertible);
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
    const result = this.allocate(a.count);
    await this.#addon.multiply(this.#context, a.bytes, b.bytes, result.bytes, this.#threads);
    return result;
  }

  async subtract(a: ResidentVector, b: ResidentVector): Promise<ResidentVector> {
    check.checkSameCount(a, b);
    return this.add(a, await this.negate(b));
  }

  async negate(a: ResidentVector): Promise<ResidentVector> {
    check.checkResident(this.key, a);
    const result = this.allocate(a.count);
    const refused = await this.#addon.invert(this.#context, a.bytes, result.bytes, this.#threads);
    if (refused >= 0) check.refuseCiphertext(refused, check.notInvertible);
    return result;
  }

  async scale(a: ResidentVector, scalars: PlaintextVector): Promise<ResidentVector> {
    check.checkResident(this.key, a);
    check.checkPlaintexts(this.key, scalars);
    check.checkSameCount(a, scalars);
    const result = this.allocate(a.count);
    const refused = await this.#addon.raise(
      this.#context,
      a.bytes,
      scalars.bytes,
      scalars.sizeBytes,
      result.bytes,
      this.#threads,
    );
    assert(refused < 0, check.plaintextTooLarge);
    return result;
  }

  async histogram(request: HistogramRequest): Promise<ResidentVector> {
    const result = this.allocate(check.checkHistogram(this.key, request));
    // Instances and bins are checked where they are used; a bad one rejects.
    const work = this.#addon.histogram(
      this.#context,
      request.gradients.bytes,
      request.ciphertextsPerInstance,
      request.instances,
      request.bins,
      request.binCounts,
      request.skippedBins,
      (request.jointBins ?? true) ? 1 : 0,
      result.bytes,
      this.#threads,
    );
    await work.catch((cause: unknown) => {
      throw new TandemError("INTERNAL", `histogram: ${cause instanceof Error ? cause.message : "failed"}`, { cause });
    });
    return result;
  }

  async runningSums(request: RunningSumsRequest): Promise<ResidentVector> {
    check.checkRunningSums(this.key, request);
    const result = this.allocate(request.targetCount);
    await this.#addon.runningSums(
      this.#context,
      request.source.bytes,
      request.chainOffsets,
      request.sources,
      request.targets,
      request.targetCount,
      result.bytes,
      this.#threads,
    );
    return result;
  }

  async pack(request: PackRequest): Promise<ResidentVector> {
    const result = this.allocate(check.checkPack(this.key, request));
    await this.#addon.pack(
      this.#context,
      request.source.bytes,
      request.strideBits,
      request.perCiphertext,
      result.bytes,
      this.#threads,
    );
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
    const { plaintextBytes } = this.key;
    assert(bases.length % plaintextBytes === 0, "bases are plaintextBytes wide");
    const result = this.allocate(bases.length / plaintextBytes);
    const refused = await this.#addon.nthPowers(this.#context, bases, plaintextBytes, result.bytes, this.#threads);
    assert(refused < 0, check.basesInRange);
    return new ObfuscatorVector(result.bytes, result.sizeBytes);
  }

  async rerandomise(target: ResidentVector, obfuscators: ObfuscatorVector): Promise<ResidentVector> {
    check.checkResident(this.key, target, obfuscators);
    check.checkSameCount(target, obfuscators);
    const result = this.allocate(target.count);
    await this.#addon.multiply(this.#context, target.bytes, obfuscators.bytes, result.bytes, this.#threads);
    return result;
  }

  async encrypt(plaintexts: PlaintextVector): Promise<ResidentVector> {
    check.checkPlaintexts(this.key, plaintexts);
    return this.sealWith(plaintexts, await this.obfuscators(plaintexts.count));
  }

  async sealWith(plaintexts: PlaintextVector, obfuscators: ObfuscatorVector): Promise<ResidentVector> {
    check.checkPlaintexts(this.key, plaintexts);
    check.checkResident(this.key, obfuscators);
    check.checkSameCount(plaintexts, obfuscators);
    const result = this.allocate(plaintexts.count);
    const refused = await this.#addon.seal(
      this.#context,
      plaintexts.bytes,
      plaintexts.sizeBytes,
      obfuscators.bytes,
      result.bytes,
      this.#threads,
    );
    assert(refused < 0, check.plaintextTooLarge);
    return result;
  }
}
