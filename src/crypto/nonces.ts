/**
 * Every secret random number of this layer, drawn from the operating system: obfuscator bases, exponents, candidates of
 * key generation. Uniform by rejection, never by reduction. The number of rejections depends on the values that were
 * thrown away, which are never used.
 */
import { assert } from "../base/assert.ts";
import { osRandom, type SecureRandom } from "../base/random.ts";
import { bitLength, integerBytes, readInteger } from "./integers.ts";
import type { PrivateKey, PublicKey } from "./keys.ts";

/** Exponents of key-owner encryption: e uniform in [0, p-1) and e' in [0, q-1), flat, `exponentBytes(key)` wide. */
export interface OwnerExponents {
  readonly p: Uint8Array;
  readonly q: Uint8Array;
}

export function exponentBytes(key: PrivateKey): number {
  return Math.ceil(key.publicKey.bits / 16);
}

export function drawOwnerExponents(key: PrivateKey, count: number): OwnerExponents {
  return {
    p: uniformFlat(osRandom, 0n, key.p - 1n, exponentBytes(key), count),
    q: uniformFlat(osRandom, 0n, key.q - 1n, exponentBytes(key), count),
  };
}

/**
 * Bases r of obfuscators r^n, uniform in [1, n), flat, plaintextBytes wide. An r outside Z_n^* would factor n; it comes
 * up with probability below 2^-62 even at 128 bits.
 */
export function drawObfuscatorBases(key: PublicKey, count: number): Uint8Array {
  return uniformFlat(osRandom, 1n, key.n, key.plaintextBytes, count);
}

/** A uniform integer in [0, bound). */
export function uniformBelow(random: SecureRandom, bound: bigint): bigint {
  const sizeBytes = Math.ceil(bitLength(bound) / 8);
  const bytes = uniformFlat(random, 0n, bound, sizeBytes, 1);
  const value = readInteger(bytes, sizeBytes, 0);
  bytes.fill(0);
  return value;
}

/** `count` uniform integers in [low, high) as one flat buffer of little-endian elements. */
export function uniformFlat(
  random: SecureRandom,
  low: bigint,
  high: bigint,
  sizeBytes: number,
  count: number,
): Uint8Array {
  assert(low >= 0n && low < high, "a range to draw from is not empty");
  const lowBytes = integerBytes(low, sizeBytes);
  const highBytes = integerBytes(high, sizeBytes);
  // Bits above the largest value are masked off, so that at least every second draw is accepted.
  const bits = bitLength(high - 1n);
  const result = new Uint8Array(sizeBytes * count);
  for (let offset = 0; offset < result.length; offset += fillChunkBytes) {
    random.fill(result.subarray(offset, offset + fillChunkBytes));
  }
  for (let i = 0; i < count; i++) {
    const element = result.subarray(i * sizeBytes, (i + 1) * sizeBytes);
    for (;;) {
      maskAbove(element, bits);
      if (!isLess(element, lowBytes) && isLess(element, highBytes)) break;
      random.fill(element);
    }
  }
  return result;
}

/** The operating system's source takes less than 2^31 bytes per call. */
const fillChunkBytes = 1 << 24;

function maskAbove(element: Uint8Array, bits: number): void {
  const wholeBytes = bits >>> 3;
  if (wholeBytes >= element.length) return;
  element[wholeBytes] &= (1 << (bits & 7)) - 1;
  element.fill(0, wholeBytes + 1);
}

/** Little-endian comparison. */
export function isLess(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = a.length - 1; i >= 0; i--) if (a[i] !== b[i]) return a[i] < b[i];
  return false;
}
