/**
 * The private-key half of the native kernel. Constant-time as far as native/private-operations.h says; drawing exponents
 * and handing over p and q happen here, once per batch and once per evaluator.
 */
import { assert } from "../base/assert.ts";
import type { SeamedPrivateEvaluator } from "./evaluator-seams.ts";
import { integerBytes, readInteger } from "./integers.ts";
import type { PrivateKey } from "./keys.ts";
import type { NativeAddon, PrivateContext } from "./native-addon.ts";
import { drawOwnerExponents, exponentBytes, isLess, type OwnerExponents } from "./nonces.ts";
import { ownerConstants } from "./owner-constants.ts";
import * as check from "./request-checks.ts";
import { CiphertextVector, PlaintextVector } from "./vectors.ts";

export class NativePrivateEvaluator implements SeamedPrivateEvaluator {
  readonly key: PrivateKey;
  readonly kernelName = "native";
  readonly #addon: NativeAddon;
  readonly #context: PrivateContext;
  readonly #threads: number;

  constructor(addon: NativeAddon, key: PrivateKey, threads: number) {
    this.key = key;
    this.#addon = addon;
    this.#context = createContext(addon, key);
    this.#threads = threads;
  }

  async encrypt(plaintexts: PlaintextVector): Promise<CiphertextVector> {
    const exponents = drawOwnerExponents(this.key, plaintexts.count);
    try {
      return await this.#encrypt(plaintexts, exponents);
    } finally {
      exponents.p.fill(0);
      exponents.q.fill(0);
    }
  }

  async encryptWithExponents(plaintexts: PlaintextVector, exponents: OwnerExponents): Promise<CiphertextVector> {
    requireBelow(exponents.p, this.key.p - 1n, exponentBytes(this.key));
    requireBelow(exponents.q, this.key.q - 1n, exponentBytes(this.key));
    return this.#encrypt(plaintexts, exponents);
  }

  async #encrypt(plaintexts: PlaintextVector, exponents: OwnerExponents): Promise<CiphertextVector> {
    const { publicKey } = this.key;
    check.checkPlaintexts(publicKey, plaintexts);
    const { ciphertextBytes } = publicKey;
    const result = new CiphertextVector(new Uint8Array(plaintexts.count * ciphertextBytes), ciphertextBytes);
    const refused = await this.#addon.encrypt(
      this.#context,
      plaintexts.bytes,
      plaintexts.sizeBytes,
      exponents.p,
      exponents.q,
      result.bytes,
      ciphertextBytes,
      this.#threads,
    );
    assert(refused < 0, check.plaintextTooLarge);
    return result;
  }

  async decrypt(ciphertexts: CiphertextVector): Promise<PlaintextVector> {
    const { publicKey } = this.key;
    check.checkCiphertexts(publicKey, ciphertexts);
    const { plaintextBytes } = publicKey;
    const result = new PlaintextVector(new Uint8Array(ciphertexts.count * plaintextBytes), plaintextBytes);
    const refused = await this.#addon.decrypt(
      this.#context,
      ciphertexts.bytes,
      ciphertexts.sizeBytes,
      result.bytes,
      plaintextBytes,
      this.#threads,
    );
    if (refused >= 0) {
      result.bytes.fill(0);
      const value = readInteger(ciphertexts.bytes, ciphertexts.sizeBytes, refused);
      const inRange = value > 0n && value < publicKey.nSquared;
      check.refuseCiphertext(refused, inRange ? check.notInvertible : check.outOfRange);
    }
    return result;
  }
}

function requireBelow(flat: Uint8Array, bound: bigint, sizeBytes: number): void {
  const boundBytes = integerBytes(bound, sizeBytes);
  for (let at = 0; at < flat.length; at += sizeBytes) {
    assert(isLess(flat.subarray(at, at + sizeBytes), boundBytes), check.exponentsInRange);
  }
}

function createContext(addon: NativeAddon, key: PrivateKey): PrivateContext {
  const { p, q, qInverse, qSquaredInverse } = ownerConstants(key);
  const { n, plaintextBytes } = key.publicKey;
  const primeBytes = exponentBytes(key);
  const constants = [
    integerBytes(p.prime, primeBytes),
    integerBytes(q.prime, primeBytes),
    integerBytes(p.residueBase, 2 * primeBytes),
    integerBytes(q.residueBase, 2 * primeBytes),
    integerBytes(p.plaintextFactor, primeBytes),
    integerBytes(q.plaintextFactor, primeBytes),
    integerBytes(qInverse, primeBytes),
    integerBytes(qSquaredInverse, 2 * primeBytes),
  ] as const;
  try {
    return addon.createPrivate(integerBytes(n, plaintextBytes), ...constants);
  } finally {
    for (const bytes of constants) bytes.fill(0);
  }
}
