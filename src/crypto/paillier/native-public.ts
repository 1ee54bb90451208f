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
import { VectorMemory } from "./resident-bytes.ts";
import {
  CiphertextVector,
  type HeldVector,
  type ObfuscatorVector,
  type PlaintextVector,
  type ResidentVector,
} from "./vectors.ts";

export class NativePublicEvaluator implements SeamedPublicEvaluator {
  readonly key: PublicKey;
  readonly kernelName: string;
  readonly #addon: NativeAddon;
  readonly #context: PublicContext;
  readonly #threads: number;
  readonly #memory: VectorMemory;

  constructor(addon: NativeAddon, kernel: NativeKernelName, key: PublicKey, threads: number) {
    this.key = key;
    this.kernelName = `native-${kernel}`;
    this.#addon = addon;
    this.#context = addon.createPublic(kernel, integerBytes(key.n, key.plaintextBytes));
    this.#threads = threads;
    this.#memory = new VectorMemory(this.kernelName, key);
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
    if (source.count === 0) return;
    const loaded = this.#bytes(this.slice(target, offset, source.count));
    const refused = await this.#addon.firstNonUnit(this.#context, loaded, this.#threads);
    if (refused >= 0) check.refuseCiphertext(refused, check.notInvertible);
  }

  async #loadInRange(source: CiphertextVector, target: ResidentVector, offset: number): Promise<void> {
    check.checkLoad(this.key, source, target, offset);
    const refused = await this.#addon.load(
      this.#context,
      source.bytes,
      source.sizeBytes,
      this.#bytes(target),
      offset,
      this.#threads,
    );
    if (refused >= 0) check.refuseCiphertext(refused, check.outOfRange);
  }

  async unload(source: ResidentVector): Promise<CiphertextVector> {
    const { ciphertextBytes } = this.key;
    const result = new CiphertextVector(new Uint8Array(source.count * ciphertextBytes), ciphertextBytes);
    const refused = await this.#addon.unload(
      this.#context,
      this.#bytes(source),
      result.bytes,
      ciphertextBytes,
      this.#threads,
    );
    if (refused >= 0) check.refuseCiphertext(refused, check.notInvertible);
    return result;
  }

  async loadObfuscators(zeros: CiphertextVector): Promise<ObfuscatorVector> {
    const resident = this.allocate(zeros.count);
    await this.#loadInRange(zeros, resident, 0);
    return this.#memory.obfuscators(this.#bytes(resident));
  }

  async firstUnsealed(vector: ResidentVector): Promise<number> {
    const bytes = this.#bytes(vector);
    const one = await this.#one();
    const sizeBytes = one.length;
    // The first half of an element is its residue modulo n, times a constant.
    const halfOfOne = one.subarray(0, sizeBytes / 2);
    for (let i = 0; i < vector.count; i++) {
      let equal = 0; // nearly always the first byte decides
      while (equal < halfOfOne.length && bytes[i * sizeBytes + equal] === halfOfOne[equal]) equal++;
      if (equal === halfOfOne.length) return i;
    }
    return -1;
  }

  async clear(target: ResidentVector, elements: Uint32Array): Promise<void> {
    const bytes = this.#bytes(target);
    const zeroBytes = await this.#one();
    for (const element of elements) {
      assert(element < target.count, "a cleared element exists");
      bytes.set(zeroBytes, element * zeroBytes.length);
    }
  }

  async add(a: ResidentVector, b: ResidentVector): Promise<ResidentVector> {
    check.checkSameCount(a, b);
    const result = this.allocate(a.count);
    await this.#addon.multiply(this.#context, this.#bytes(a), this.#bytes(b), this.#bytes(result), this.#threads);
    return result;
  }

  async scale(a: ResidentVector, scalars: PlaintextVector): Promise<ResidentVector> {
    check.checkPlaintexts(this.key, scalars);
    check.checkSameCount(a, scalars);
    const result = this.allocate(a.count);
    const refused = await this.#addon.raise(
      this.#context,
      this.#bytes(a),
      scalars.bytes,
      scalars.sizeBytes,
      this.#bytes(result),
      this.#threads,
    );
    assert(refused < 0, check.plaintextTooLarge);
    return result;
  }

  async histogram(request: HistogramRequest): Promise<ResidentVector> {
    const result = this.allocate(check.checkHistogram(request));
    // Instances and bins are checked where they are used; a bad one rejects the promise.
    const work = this.#addon.histogram(
      this.#context,
      this.#bytes(request.gradients),
      request.ciphertextsPerInstance,
      request.instances,
      request.bins,
      request.binCounts,
      request.skippedBins,
      (request.jointBins ?? true) ? 1 : 0,
      this.#bytes(result),
      this.#threads,
    );
    await work.catch((cause: unknown) => {
      throw new TandemError("INTERNAL", `histogram: ${cause instanceof Error ? cause.message : "failed"}`, { cause });
    });
    return result;
  }

  async runningSums(request: RunningSumsRequest): Promise<ResidentVector> {
    check.checkRunningSums(request);
    const result = this.allocate(request.targetCount);
    await this.#addon.runningSums(
      this.#context,
      this.#bytes(request.source),
      request.chainOffsets,
      request.sources,
      request.targets,
      request.targetCount,
      this.#bytes(result),
      this.#threads,
    );
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
    const result = this.allocate(check.checkPack(this.key, request));
    const refused = await this.#addon.pack(
      this.#context,
      this.#bytes(request.source),
      request.strideBits,
      request.perCiphertext,
      bases,
      this.key.plaintextBytes,
      this.#bytes(result),
      this.#threads,
    );
    assert(refused < 0, check.basesInRange);
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
    const refused = await this.#addon.nthPowers(
      this.#context,
      bases,
      plaintextBytes,
      this.#bytes(result),
      this.#threads,
    );
    assert(refused < 0, check.basesInRange);
    return this.#memory.obfuscators(this.#bytes(result));
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
    const result = this.allocate(plaintexts.count);
    const refused = await this.#addon.seal(
      this.#context,
      plaintexts.bytes,
      plaintexts.sizeBytes,
      this.#bytes(vector),
      this.#bytes(result),
      this.#threads,
    );
    assert(refused < 0, check.plaintextTooLarge);
    return result;
  }

  /** 1 modulo n^2, resident: an empty sum. */
  async #one(): Promise<Uint8Array> {
    const { ciphertextBytes } = this.key;
    const one = this.allocate(1);
    await this.#loadInRange(new CiphertextVector(integerBytes(1n, ciphertextBytes), ciphertextBytes), one, 0);
    return this.#bytes(one);
  }

  #bytes(vector: HeldVector): Uint8Array {
    return this.#memory.bytes(vector);
  }
}
