/**
 * Plaintexts, ciphertexts on the wire and ciphertexts inside a kernel are three types, so that nothing is encrypted,
 * decrypted or mixed up implicitly. Each is one flat buffer of fixed-width little-endian unsigned integers: there is
 * no bigint per instance anywhere in a hot path.
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

/** Ciphertexts in canonical form, 0 < c < n^2: what travels on the wire. */
export class CiphertextVector extends FlatVector {
  readonly kind = "ciphertext";
}

/** Ciphertexts in the form that one kernel computes with (Montgomery residues): meaningless outside its evaluator. */
export class ResidentVector extends FlatVector {
  readonly kind = "resident";
}

/** n-th residues in resident form, each to be multiplied into one ciphertext, once. */
export class ObfuscatorVector extends FlatVector {
  readonly kind = "obfuscator";
}
