/**
 * The private-key half of the native kernel. Constant-time as far as native/private-operations.h states. Exponents are
 * drawn here, once per batch; p and q are passed to the addon here, once per evaluator.
 */
import { assert } from "../../base/assert.ts";
import type { SeamedPrivateEvaluator } from "./evaluator-seams.ts";
import { bitLength, integerBytes, readInteger } from "../integers.ts";
import type { EvaluatorOptions, ExponentPart } from "./kernel.ts";
import type { PrivateKey } from "./keys.ts";
import type { NativeAddon, NativeKernelName, PrivateContext } from "./native-addon.ts";
import {
  drawOwnerExponents,
  exponentBytes,
  type ExponentLength,
  isLess,
  type OwnerExponents,
  drawnOwnerExponents,
} from "./nonces.ts";
import { ownerConstants, rootExponents } from "./owner-constants.ts";
import * as check from "./request-checks.ts";
import { CiphertextVector, PlaintextVector } from "./vectors.ts";

export class NativePrivateEvaluator implements SeamedPrivateEvaluator {
  readonly key: PrivateKey;
  readonly kernelName: string;
  readonly #addon: NativeAddon;
  readonly #context: PrivateContext;
  readonly #threads: number;
  readonly #exponents: ExponentLength;

  constructor(addon: NativeAddon, kernel: NativeKernelName, key: PrivateKey, options: EvaluatorOptions) {
    this.key = key;
    this.kernelName = `native-${kernel}`;
    this.#addon = addon;
    this.#context = createContext(addon, kernel, key);
    this.#threads = options.threads;
    this.#exponents = options.exponents ?? "full";
  }

  async encrypt(plaintexts: PlaintextVector): Promise<CiphertextVector> {
    const exponents = await drawOwnerExponents(this.key, plaintexts.count, this.#exponents);
    try {
      return await this.#encrypt(plaintexts, exponents);
    } finally {
      exponents.p.fill(0);
      exponents.q.fill(0);
    }
  }

  async encryptDrawn(plaintexts: PlaintextVector, parts: readonly ExponentPart[]): Promise<CiphertextVector> {
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    assert(count === plaintexts.count, "every plaintext has its exponents");
    const exponents = await drawnOwnerExponents(this.key, parts, this.#exponents);
    try {
      return await this.#encrypt(plaintexts, exponents);
    } finally {
      exponents.p.fill(0);
      exponents.q.fill(0);
    }
  }

  async encryptWithExponents(plaintexts: PlaintextVector, exponents: OwnerExponents): Promise<CiphertextVector> {
    requireBelow(exponents.p, this.key.p - 1n, exponents.sizeBytes);
    requireBelow(exponents.q, this.key.q - 1n, exponents.sizeBytes);
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
      exponents.sizeBytes,
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

  async nthRoots(values: PlaintextVector): Promise<PlaintextVector> {
    check.checkPlaintexts(this.key.publicKey, values);
    const { plaintextBytes } = this.key.publicKey;
    const result = new PlaintextVector(new Uint8Array(values.count * plaintextBytes), plaintextBytes);
    const { p, q } = rootExponents(this.key);
    const exponents = [p, q].map((exponent) => integerBytes(exponent, exponentBytes(this.key)));
    try {
      const refused = await this.#addon.nthRoots(
        this.#context,
        values.bytes,
        values.sizeBytes,
        exponents[0],
        exponents[1],
        result.bytes,
        plaintextBytes,
        this.#threads,
      );
      assert(refused < 0, check.plaintextTooLarge);
      return result;
    } finally {
      for (const bytes of exponents) bytes.fill(0);
    }
  }
}

function requireBelow(flat: Uint8Array, bound: bigint, sizeBytes: number): void {
  if (bitLength(bound) > 8 * sizeBytes) return; // narrower than the bound
  const boundBytes = integerBytes(bound, sizeBytes);
  for (let at = 0; at < flat.length; at += sizeBytes) {
    assert(isLess(flat.subarray(at, at + sizeBytes), boundBytes), check.exponentsInRange);
  }
}

function createContext(addon: NativeAddon, kernel: NativeKernelName, key: PrivateKey): PrivateContext {
  const { p, q, qInverse, qSquaredInverse } = ownerConstants(key);
  const { n, plaintextBytes } = key.publicKey;
  const primeBytes = exponentBytes(key);
  const constants = [
    integerBytes(p.prime, primeBytes),
    integerBytes(q.prime, primeBytes),
    integerBytes(p.generator, primeBytes),
    integerBytes(q.generator, primeBytes),
    integerBytes(p.plaintextFactor, primeBytes),
    integerBytes(q.plaintextFactor, primeBytes),
    integerBytes(qInverse, primeBytes),
    integerBytes(qSquaredInverse, 2 * primeBytes),
  ] as const;
  try {
    return addon.createPrivate(kernel, integerBytes(n, plaintextBytes), ...constants);
  } finally {
    for (const bytes of constants) bytes.fill(0);
  }
}
