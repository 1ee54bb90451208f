/**
 * Every secret random number of this layer, drawn from the operating system or from a secret that was: obfuscator
 * bases, exponents, candidates of key generation. Uniform by rejection, never by reduction. The number of rejections
 * depends on rejected values only, which are never used.
 */
import { assert } from "../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { osRandom, type SecureRandom } from "../../base/random.ts";
import { bitLength, integerBytes, readInteger } from "../integers.ts";
import type { ExponentPart } from "./kernel.ts";
import type { PrivateKey, PublicKey } from "./keys.ts";

/** Exponents of key-owner encryption, flat, `sizeBytes` wide: e below p-1 and e' below q-1. */
export interface OwnerExponents {
  readonly p: Uint8Array;
  readonly q: Uint8Array;
  readonly sizeBytes: number;
}

/** Full: e and e' uniform and independent. Short: one e of shortExponentBits(key) bits for both (see kernel.ts). */
export type ExponentLength = "full" | "short";

export function exponentBytes(key: PrivateKey): number {
  return Math.ceil(key.publicKey.bits / 16);
}

/**
 * Length of Damgard-Jurik-Nielsen exponents. It is more than twice the security level that a key of this size has
 * against factoring (80, 112, 128 and about 150 bits), because attacks on the exponent take the square root.
 */
export function shortExponentBits(key: PrivateKey): number {
  const { bits } = key.publicKey;
  return bits <= 1024 ? 256 : bits <= 2048 ? 320 : bits <= 3072 ? 352 : 400;
}

export async function drawOwnerExponents(
  key: PrivateKey,
  count: number,
  length: ExponentLength,
  random: SecureRandom = osRandom,
): Promise<OwnerExponents> {
  const sizeBytes = exponentBytes(key);
  const shortBytes = shortExponentBits(key) / 8;
  // Below 640 bits short exponents would not be shorter.
  if (length === "short" && shortBytes < sizeBytes) {
    const e = await uniformFlat(random, 0n, 1n << BigInt(8 * shortBytes), shortBytes, count);
    return { p: e, q: e, sizeBytes: shortBytes };
  }
  return {
    p: await uniformFlat(random, 0n, key.p - 1n, sizeBytes, count),
    q: await uniformFlat(random, 0n, key.q - 1n, sizeBytes, count),
    sizeBytes,
  };
}

/** Maximum number of draws at a time. */
const drawnMax = 1 << 20;

/** Exponents of given draws, one part after the other. */
export async function drawnOwnerExponents(
  key: PrivateKey,
  parts: readonly ExponentPart[],
  length: ExponentLength,
): Promise<OwnerExponents> {
  const all: OwnerExponents[] = [];
  const areWhole = parts.every((part) => part.drawn <= drawnMax && part.first >= 0 && part.count >= 0);
  assert(areWhole && parts.every(({ drawn, first, count }) => first + count <= drawn), "the exponents were drawn");
  for (const { random, drawn, first, count } of parts) {
    const { p, q, sizeBytes } = await drawOwnerExponents(key, drawn, length, random);
    const part = (flat: Uint8Array): Uint8Array => flat.subarray(first * sizeBytes, (first + count) * sizeBytes);
    all.push({ p: part(p), q: part(q), sizeBytes });
  }
  const joined = (side: "p" | "q"): Uint8Array => {
    const flat = new Uint8Array(all.reduce((sum, part) => sum + part[side].length, 0));
    let at = 0;
    for (const part of all) {
      flat.set(part[side], at);
      at += part[side].length;
    }
    return flat;
  };
  return { p: joined("p"), q: joined("q"), sizeBytes: all[0]?.sizeBytes ?? exponentBytes(key) };
}

/**
 * Bases r of obfuscators r^n, uniform in [1, n), flat, plaintextBytes wide. An r outside Z_n^* would factor n; it comes
 * up with probability below 2^-62 even at 128 bits.
 */
export function drawObfuscatorBases(key: PublicKey, count: number): Promise<Uint8Array> {
  return uniformFlat(osRandom, 1n, key.n, key.plaintextBytes, count);
}

/** A uniform integer in [0, bound). */
export function uniformBelow(random: SecureRandom, bound: bigint): bigint {
  const sizeBytes = Math.ceil(bitLength(bound) / 8);
  const bytes = new Uint8Array(sizeBytes);
  new UniformRange(0n, bound, sizeBytes).fill(random, bytes);
  const value = readInteger(bytes, sizeBytes, 0);
  bytes.fill(0);
  return value;
}

/**
 * `count` uniform integers in [low, high) as one flat buffer of little-endian elements. Yields to the event loop.
 */
export async function uniformFlat(
  random: SecureRandom,
  low: bigint,
  high: bigint,
  sizeBytes: number,
  count: number,
): Promise<Uint8Array> {
  const range = new UniformRange(low, high, sizeBytes);
  const result = new Uint8Array(sizeBytes * count);
  const sliceBytes = sizeBytes * Math.max(1, Math.floor(sliceBytesMax / sizeBytes));
  for (let offset = 0; offset < result.length; offset += sliceBytes) {
    if (offset > 0 && isSliceOver()) await nextSlice();
    range.fill(random, result.subarray(offset, offset + sliceBytes));
  }
  return result;
}

/** Drawn and checked without yielding: about a millisecond. */
const sliceBytesMax = 1 << 19;

class UniformRange {
  readonly #low: Uint8Array;
  readonly #high: Uint8Array;
  readonly #sizeBytes: number;
  readonly #bits: number;
  readonly #lowIsZero: boolean;

  constructor(low: bigint, high: bigint, sizeBytes: number) {
    assert(low >= 0n && low < high, "a range to draw from is not empty");
    this.#sizeBytes = sizeBytes;
    this.#low = integerBytes(low, sizeBytes);
    // As large as the range may be: 2^(8 sizeBytes) itself does not fit.
    this.#bits = bitLength(high - 1n);
    this.#high = integerBytes(high - 1n, sizeBytes);
    this.#lowIsZero = low === 0n;
  }

  /** Fills whole elements. */
  fill(random: SecureRandom, flat: Uint8Array): void {
    random.fill(flat);
    const size = this.#sizeBytes;
    for (let at = 0; at < flat.length; at += size) {
      while (!this.#accepts(flat, at)) random.fill(flat.subarray(at, at + size));
    }
  }

  /** Masks off the bits above the largest value, so that at least every second draw is accepted, and compares. */
  #accepts(flat: Uint8Array, at: number): boolean {
    const wholeBytes = this.#bits >>> 3;
    if (wholeBytes < this.#sizeBytes) {
      flat[at + wholeBytes] &= (1 << (this.#bits & 7)) - 1;
      if (wholeBytes + 1 < this.#sizeBytes) flat.fill(0, at + wholeBytes + 1, at + this.#sizeBytes);
    }
    return compareAt(flat, at, this.#high) <= 0 && (this.#lowIsZero || compareAt(flat, at, this.#low) >= 0);
  }
}

/** Compares the element at `at` with `other`, little-endian, from the top: nearly always decided by one byte. */
function compareAt(flat: Uint8Array, at: number, other: Uint8Array): number {
  for (let i = other.length - 1; i >= 0; i--) if (flat[at + i] !== other[i]) return flat[at + i] - other[i];
  return 0;
}

/** Little-endian comparison. */
export function isLess(a: Uint8Array, b: Uint8Array): boolean {
  return compareAt(a, 0, b) < 0;
}
