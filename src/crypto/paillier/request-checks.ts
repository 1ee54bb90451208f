/**
 * Shape checks that both kernels make before they compute. They catch our own bugs, so they are assertions. Contents of
 * large index arrays are checked where they are used, because the caller could change them during a computation.
 * resident-bytes.ts checks the owner of a vector.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import type { HistogramRequest, PackRequest, RunningSumsRequest } from "./kernel.ts";
import type { PublicKey } from "./keys.ts";
import type { CiphertextVector, PlaintextVector, ResidentVector } from "./vectors.ts";

export function checkThreads(threads: number): void {
  assert(Number.isInteger(threads) && threads >= 1 && threads <= 256, "threads is an integer from 1 to 256");
}

export function checkSameCount(a: { readonly count: number }, b: { readonly count: number }): void {
  assert(a.count === b.count, `two vectors have the same count, not ${a.count} and ${b.count}`);
}

/** Plaintexts may be narrower than the key (a codec's packed integers are), never wider. */
export function checkPlaintexts(key: PublicKey, plaintexts: PlaintextVector): void {
  assert(plaintexts.sizeBytes <= key.plaintextBytes, "plaintext elements are not wider than the key's");
}

export function checkCiphertexts(key: PublicKey, ciphertexts: CiphertextVector): void {
  assert(ciphertexts.sizeBytes === key.ciphertextBytes, "ciphertext elements are as wide as the key's");
}

export function checkLoad(key: PublicKey, source: CiphertextVector, target: ResidentVector, offset: number): void {
  checkCiphertexts(key, source);
  assert(Number.isInteger(offset) && offset >= 0 && offset + source.count <= target.count, "a load fits its target");
}

/** @returns the number of elements of the result */
export function checkHistogram(request: HistogramRequest): number {
  const { gradients, ciphertextsPerInstance: perInstance, bins, binCounts, skippedBins } = request;
  assert(perInstance >= 1 && gradients.count % perInstance === 0, "every instance has all its ciphertexts");
  assert(
    bins.length === binCounts.length && bins.length === skippedBins.length,
    "features have bins, counts and skips",
  );
  const instanceCount = gradients.count / perInstance;
  let cellCount = 0;
  for (const [f, binCount] of binCounts.entries()) {
    assert(bins[f].length === instanceCount, "every instance has a bin");
    assert(binCount <= 65536, "a bin fits 16 bits");
    assert(skippedBins[f] >= -1 && skippedBins[f] < binCount, "a skipped bin is a bin or -1");
    cellCount += binCount;
  }
  return cellCount * perInstance;
}

export function checkRunningSums(request: RunningSumsRequest): void {
  const { source, chainOffsets, sources, targets, targetCount } = request;
  assert(sources.length === targets.length, "every step has a source and a target");
  assert(chainOffsets.length >= 1 && chainOffsets[0] === 0, "chains start at step 0");
  assert(chainOffsets[chainOffsets.length - 1] === sources.length, "chains cover all steps");
  for (let c = 1; c < chainOffsets.length; c++) {
    assert(chainOffsets[c - 1] <= chainOffsets[c], "chain offsets do not decrease");
  }
  assert(Number.isInteger(targetCount) && targetCount >= 0 && targetCount < 2 ** 31, "the target count is an index");
  const written = new Uint8Array(targetCount);
  let writtenCount = 0;
  for (const [step, target] of targets.entries()) {
    assert(sources[step] < source.count, "a step's source exists");
    if (target === -1) continue;
    assert(target >= 0 && target < targetCount && written[target] === 0, "a target is in range and written once");
    written[target] = 1;
    writtenCount++;
  }
  assert(writtenCount === targetCount, "every target is written");
}

/** @returns the number of elements of the result; the last may hold fewer than perCiphertext */
export function checkPack(key: PublicKey, { source, strideBits, perCiphertext }: PackRequest): number {
  assert(Number.isInteger(strideBits) && strideBits >= 1, "the stride is a positive number of bits");
  assert(Number.isInteger(perCiphertext) && perCiphertext >= 1, "a ciphertext packs at least one candidate");
  assert(strideBits * (perCiphertext - 1) < key.bits, "packed candidates start inside the plaintext");
  return Math.ceil(source.count / perCiphertext);
}

/** @returns never: the error for a ciphertext that no honest party sends */
export function refuseCiphertext(index: number, reason: string): never {
  throw new TandemError("CIPHERTEXT_RANGE", `ciphertext ${index} ${reason}`);
}

export const outOfRange = "is not between 0 and n^2; the peer sent damaged data or uses another key";
export const notInvertible = "is not invertible modulo n; the peer sent damaged data or uses another key";
export const plaintextTooLarge = "plaintexts and scalars are below n";
export const basesInRange = "obfuscator bases are between 0 and n";
export const exponentsInRange = "exponents are below the group's order";
