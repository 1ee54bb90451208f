/**
 * Signed integers as plaintexts: a negative m is n - |m|. Homomorphic sums of signed values are correct as long as they
 * stay between -n/2 and n/2. For set-up and results, not for hot paths: one bigint per element.
 */
import { assert } from "../../base/assert.ts";
import { readInteger, writeInteger } from "../integers.ts";
import type { PublicKey } from "./keys.ts";
import { PlaintextVector } from "./vectors.ts";

/** @param values integers with -n/2 < m < n; from n/2 on they read back as negative through signedFromPlaintext */
export function plaintextsFromBigints(key: PublicKey, values: readonly bigint[]): PlaintextVector {
  const result = new PlaintextVector(new Uint8Array(values.length * key.plaintextBytes), key.plaintextBytes);
  for (const [i, value] of values.entries()) {
    assert(2n * value > -key.n && value < key.n, "a plaintext lies between -n/2 and n");
    writeInteger(result.bytes, result.sizeBytes, i, value < 0n ? key.n + value : value);
  }
  return result;
}

/** The unsigned integers in a vector. */
export function bigintsFromPlaintexts(plaintexts: PlaintextVector): bigint[] {
  return Array.from({ length: plaintexts.count }, (_, i) => readInteger(plaintexts.bytes, plaintexts.sizeBytes, i));
}

/** Reads residues above n/2 as negative. */
export function signedFromPlaintext(key: PublicKey, plaintext: bigint): bigint {
  assert(plaintext >= 0n && plaintext < key.n, "a plaintext is between 0 and n");
  return 2n * plaintext > key.n ? plaintext - key.n : plaintext;
}
