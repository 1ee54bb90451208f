/**
 * Plaintexts, ciphertexts on the wire, ciphertexts inside a kernel and obfuscators are four types. So nothing is
 * encrypted or decrypted implicitly, and they cannot be confused.
 *
 * Plaintexts and ciphertexts on the wire are flat buffers of fixed-width little-endian unsigned integers: there is no
 * bigint per instance anywhere in a hot path. The other two are handles: their elements live behind an evaluator.
 */
import { assert } from "../../base/assert.ts";

class FlatVector {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Width of one element. */
  readonly sizeBytes: number;

  constructor(bytes: Uint8Array, sizeBytes: number) {
    assert(sizeBytes > 0 && bytes.length % sizeBytes === 0, "a vector's bytes are a multiple of its element width");
    this.bytes = bytes;
    this.sizeBytes = sizeBytes;
    this.count = bytes.length / sizeBytes;
  }
}

/** Unsigned integers below n. */
export class PlaintextVector extends FlatVector {
  readonly kind = "plaintext";
}

/** Ciphertexts in canonical form, 0 < c < n^2: the wire format. */
export class CiphertextVector extends FlatVector {
  readonly kind = "ciphertext";
}

class Handle {
  readonly count: number;

  constructor(count: number) {
    this.count = count;
  }
}

/**
 * Ciphertexts in the form that one kernel computes with. Only an evaluator creates valid ones; where the elements live
 * is an implementation detail.
 */
export class ResidentVector extends Handle {
  readonly kind = "resident";
}

/** n-th residues, held like a ResidentVector. Each must be multiplied into one ciphertext only. */
export class ObfuscatorVector extends Handle {
  readonly kind = "obfuscator";
}

/** What an evaluator holds. */
export type HeldVector = ResidentVector | ObfuscatorVector;
