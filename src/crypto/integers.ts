/**
 * Arithmetic on bigint and its flat little-endian form. V8's bigint is variable-time throughout: nothing here is
 * constant-time, see portable-kernel.ts for what that means.
 */
import { assert } from "../base/assert.ts";

/** Number of bits of a non-negative integer; 0 has none. */
export function bitLength(value: bigint): number {
  assert(value >= 0n, "bitLength of a non-negative integer");
  const hex = value.toString(16);
  return value === 0n ? 0 : 4 * (hex.length - 1) + (32 - Math.clz32(Number.parseInt(hex[0], 16)));
}

/** The residue in [0, modulus), for negative values too. */
export function modulo(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

export function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** @returns the inverse modulo `modulus`, or undefined where there is none */
export function inverse(value: bigint, modulus: bigint): bigint | undefined {
  let [low, high] = [modulo(value, modulus), modulus];
  let [x, y] = [1n, 0n];
  while (low !== 0n) {
    const quotient = high / low;
    [high, low] = [low, high - quotient * low];
    [y, x] = [x, y - quotient * x];
  }
  return high === 1n ? modulo(y, modulus) : undefined;
}

/** Digits of an exponent in base 2^windowBits, most significant first; shared by many powers of one exponent. */
export function windowDigits(exponent: bigint, windowBits: number): Uint8Array {
  const bits = exponent.toString(2);
  const count = Math.ceil(bits.length / windowBits);
  const padded = bits.padStart(count * windowBits, "0");
  return Uint8Array.from({ length: count }, (_, i) =>
    Number.parseInt(padded.slice(i * windowBits, (i + 1) * windowBits), 2),
  );
}

/** base^exponent mod modulus, by fixed windows of 5 bits (1 bit for exponents too short to repay a table). */
export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  const windowBits = exponent < 1n << 32n ? 1 : 5;
  return powerByDigits(base, windowDigits(exponent, windowBits), windowBits, modulus);
}

export function powerByDigits(base: bigint, digits: Uint8Array, windowBits: number, modulus: bigint): bigint {
  const table = [1n, base % modulus];
  for (let d = 2; d < 1 << windowBits; d++) table.push((table[d - 1] * table[1]) % modulus);
  let result = 1n;
  for (const digit of digits) {
    if (result !== 1n) for (let i = 0; i < windowBits; i++) result = (result * result) % modulus;
    if (digit !== 0) result = (result * table[digit]) % modulus;
  }
  return result;
}

/** Reads the `sizeBytes` wide element `index` of a flat buffer. Through hex, the fastest conversion to a bigint. */
export function readInteger(bytes: Uint8Array, sizeBytes: number, index: number): bigint {
  const bigEndian = bytes.subarray(index * sizeBytes, (index + 1) * sizeBytes).toReversed();
  return BigInt(`0x${Buffer.from(bigEndian.buffer).toString("hex")}`);
}

/** Writes `value` as element `index`; it must fit. */
export function writeInteger(bytes: Uint8Array, sizeBytes: number, index: number, value: bigint): void {
  const hex = value.toString(16).padStart(2 * sizeBytes, "0");
  assert(value >= 0n && hex.length === 2 * sizeBytes, "an integer fits its element");
  bytes.set(Buffer.from(hex, "hex").toReversed(), index * sizeBytes);
}

/** One integer as little-endian bytes. */
export function integerBytes(value: bigint, sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  writeInteger(bytes, sizeBytes, 0, value);
  return bytes;
}
