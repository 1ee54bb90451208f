/**
 * TypeScript declarations of the Paillier functions of the native addon (native/addon.cpp). Every function is
 * deterministic; promises resolve to the index of the first rejected element, or -1.
 */
import { loadAddonFile } from "../native-addon-file.ts";

declare const publicContextBrand: unique symbol;
declare const privateContextBrand: unique symbol;

/** Opaque handles: n^2 and its constants; the primes, their squares and the fixed-base tables. */
export interface PublicContext {
  readonly [publicContextBrand]: true;
}
export interface PrivateContext {
  readonly [privateContextBrand]: true;
}

type Refused = Promise<number>;

/** Arithmetic inside the addon: portable C++, MULX/ADX rows, four AVX2 lanes, or eight of AVX-512 (native/cpu.h). */
export type NativeKernelName = "scalar" | "adx" | "avx2" | "ifma" | "ifma-emulated";

export interface NativeAddon {
  /** The kernels that this processor can run, best first. */
  kernels(): NativeKernelName[];
  createPublic(kernel: NativeKernelName, n: Uint8Array): PublicContext;
  createPrivate(
    kernel: NativeKernelName,
    n: Uint8Array,
    p: Uint8Array,
    q: Uint8Array,
    generatorP: Uint8Array,
    generatorQ: Uint8Array,
    plaintextFactorP: Uint8Array,
    plaintextFactorQ: Uint8Array,
    qInverse: Uint8Array,
    qSquaredInverse: Uint8Array,
  ): PrivateContext;
  load(
    c: PublicContext,
    source: Uint8Array,
    sourceBytes: number,
    target: Uint8Array,
    offset: number,
    threads: number,
  ): Refused;
  unload(c: PublicContext, source: Uint8Array, result: Uint8Array, resultBytes: number, threads: number): Refused;
  multiply(c: PublicContext, a: Uint8Array, b: Uint8Array, result: Uint8Array, threads: number): Refused;
  firstNonUnit(c: PublicContext, elements: Uint8Array, threads: number): Refused;
  raise(
    c: PublicContext,
    a: Uint8Array,
    scalars: Uint8Array,
    scalarBytes: number,
    result: Uint8Array,
    threads: number,
  ): Refused;
  nthPowers(c: PublicContext, bases: Uint8Array, baseBytes: number, result: Uint8Array, threads: number): Refused;
  seal(
    c: PublicContext,
    plaintexts: Uint8Array,
    plaintextBytes: number,
    obfuscators: Uint8Array,
    result: Uint8Array,
    threads: number,
  ): Refused;
  histogram(
    c: PublicContext,
    gradients: Uint8Array,
    perInstance: number,
    instances: Uint32Array,
    bins: readonly Uint16Array[],
    binCounts: Uint32Array,
    skippedBins: Int32Array,
    jointBins: 0 | 1,
    result: Uint8Array,
    threads: number,
  ): Refused;
  runningSums(
    c: PublicContext,
    source: Uint8Array,
    chainOffsets: Uint32Array,
    sources: Uint32Array,
    targets: Int32Array,
    targetCount: number,
    result: Uint8Array,
    threads: number,
  ): Refused;
  pack(
    c: PublicContext,
    source: Uint8Array,
    strideBits: number,
    perCiphertext: number,
    bases: Uint8Array,
    baseBytes: number,
    result: Uint8Array,
    threads: number,
  ): Refused;
  encrypt(
    c: PrivateContext,
    plaintexts: Uint8Array,
    plaintextBytes: number,
    exponentsP: Uint8Array,
    exponentsQ: Uint8Array,
    exponentBytes: number,
    result: Uint8Array,
    resultBytes: number,
    threads: number,
  ): Refused;
  decrypt(
    c: PrivateContext,
    ciphertexts: Uint8Array,
    ciphertextBytes: number,
    result: Uint8Array,
    resultBytes: number,
    threads: number,
  ): Refused;
  nthRoots(
    c: PrivateContext,
    values: Uint8Array,
    valueBytes: number,
    exponentP: Uint8Array,
    exponentQ: Uint8Array,
    result: Uint8Array,
    resultBytes: number,
    threads: number,
  ): Refused;
}

/** @throws any error of Node if the file is missing or cannot be loaded on this machine */
export function loadAddon(): NativeAddon {
  return loadAddonFile() as NativeAddon;
}
