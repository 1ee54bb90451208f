/**
 * Paillier keys (Paillier, EUROCRYPT 1999) with generator 1 + n. Public and private key are two types: only a
 * PrivateKey can decrypt.
 *
 * A private key's primes have the form p = 2 f p' + 1 with p' prime and f small (key-generation.ts). So the factors of
 * p - 1 are known, and with them a generator of Z_p^*. Key-owner encryption samples n-th residues from it
 * (owner-constants.ts).
 *
 * Secrets live in private fields: console.log, util.inspect, JSON.stringify, String() and structuredClone do not reach
 * them. They are bigints, which JavaScript can neither lock in memory nor wipe.
 */
import { createHash } from "node:crypto";
import { inspect } from "node:util";

import { assert } from "../../base/assert.ts";
import { bitLength } from "../integers.ts";

export const keyBitsMin = 128;
export const keyBitsMax = 4096;
/** Shorter keys need an option with the word insecure in its name, everywhere. */
export const keyBitsSecure = 2048;

export class PublicKey {
  readonly n: bigint;
  readonly bits: number;
  readonly nSquared: bigint;
  /** Width of a plaintext as decryption returns it. */
  readonly plaintextBytes: number;
  /** Width of a ciphertext on the wire. */
  readonly ciphertextBytes: number;

  /** @param n trusted: key-format.ts has validated input from outside */
  constructor(n: bigint) {
    const bits = bitLength(n);
    assert(bits >= keyBitsMin && bits <= keyBitsMax && bits % 2 === 0 && n % 2n === 1n, "n is odd and of a legal size");
    this.n = n;
    this.bits = bits;
    this.nSquared = n * n;
    this.plaintextBytes = Math.ceil(bits / 8);
    this.ciphertextBytes = Math.ceil((2 * bits) / 8);
  }

  /** SHA-256, in hex, of the canonical text form. */
  fingerprint(): string {
    return createHash("sha256").update(this.canonicalForm()).digest("hex");
  }

  /** The canonical text form of this key; key-format.ts documents and parses it. */
  canonicalForm(): string {
    return JSON.stringify({ format: publicKeyFormat, bits: this.bits, n: this.n.toString(16) });
  }
}

export const publicKeyFormat = "tandem-public-key/1";

/** prime = 2 * cofactor * subprime + 1, and a generator of the whole group modulo prime. */
export interface SecretPrime {
  readonly prime: bigint;
  readonly subprime: bigint;
  readonly cofactor: bigint;
  readonly generator: bigint;
}

export class PrivateKey {
  readonly publicKey: PublicKey;
  readonly #p: SecretPrime;
  readonly #q: SecretPrime;

  /** @param p trusted, as is q: made by key-generation.ts or checked by key-format.ts */
  constructor(p: SecretPrime, q: SecretPrime) {
    assert(p.prime !== q.prime, "the two primes differ");
    assert(bitLength(p.prime) === bitLength(q.prime), "the two primes have the same size");
    this.publicKey = new PublicKey(p.prime * q.prime);
    this.#p = p;
    this.#q = q;
  }

  get p(): bigint {
    return this.#p.prime;
  }

  get q(): bigint {
    return this.#q.prime;
  }

  /** Both primes with the factorisation of p - 1 and the generators. */
  secretPrimes(): { readonly p: SecretPrime; readonly q: SecretPrime } {
    return { p: this.#p, q: this.#q };
  }

  toString(): string {
    return `[PrivateKey ${this.publicKey.bits} bits, secret]`;
  }

  [inspect.custom](): string {
    return this.toString();
  }

  toJSON(): never {
    throw new TypeError("a private key is never serialised implicitly; use writePrivateKey");
  }
}
