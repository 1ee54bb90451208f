/**
 * The private-key half of the portable kernel. NOT constant-time: V8's bigint division branches on its operands, and
 * the tables are indexed by secret digits. Use the native kernel where an attacker can time decryptions.
 */
import { assert } from "../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import type { SeamedPrivateEvaluator } from "./evaluator-seams.ts";
import { modulo, power, powerByDigits, readInteger, windowDigits, writeInteger } from "../integers.ts";
import type { ExponentPart } from "./kernel.ts";
import type { PrivateKey } from "./keys.ts";
import {
  drawOwnerExponents,
  exponentBytes,
  type ExponentLength,
  type OwnerExponents,
  drawnOwnerExponents,
} from "./nonces.ts";
import {
  type OwnerConstants,
  ownerConstants,
  type PrimeConstants,
  residueBase,
  rootExponents,
} from "./owner-constants.ts";
import * as check from "./request-checks.ts";
import { CiphertextVector, PlaintextVector } from "./vectors.ts";

const powerWindowBits = 5;

export class PortablePrivateEvaluator implements SeamedPrivateEvaluator {
  readonly key: PrivateKey;
  readonly kernelName = "portable";
  readonly #constants: OwnerConstants;
  readonly #orderDigits: { readonly p: Uint8Array; readonly q: Uint8Array };
  readonly #exponents: ExponentLength;
  /** Built on first encryption, so that a party that only decrypts does not pay for it. */
  #tables: Promise<{ readonly p: FixedBaseTable; readonly q: FixedBaseTable }> | undefined;

  constructor(key: PrivateKey, exponents: ExponentLength) {
    this.key = key;
    this.#exponents = exponents;
    this.#constants = ownerConstants(key);
    this.#orderDigits = {
      p: windowDigits(this.#constants.p.order, powerWindowBits),
      q: windowDigits(this.#constants.q.order, powerWindowBits),
    };
  }

  async encrypt(plaintexts: PlaintextVector): Promise<CiphertextVector> {
    const exponents = await drawOwnerExponents(this.key, plaintexts.count, this.#exponents);
    try {
      return await this.encryptWithExponents(plaintexts, exponents);
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
      return await this.encryptWithExponents(plaintexts, exponents);
    } finally {
      exponents.p.fill(0);
      exponents.q.fill(0);
    }
  }

  async encryptWithExponents(plaintexts: PlaintextVector, exponents: OwnerExponents): Promise<CiphertextVector> {
    const { publicKey } = this.key;
    const { p, q, qSquaredInverse } = this.#constants;
    const { sizeBytes } = exponents;
    check.checkPlaintexts(publicKey, plaintexts);
    for (const flat of [exponents.p, exponents.q]) {
      assert(flat.length === plaintexts.count * sizeBytes, "every plaintext has its exponents");
    }
    const tables = await this.#fixedBaseTables();
    const result = new CiphertextVector(
      new Uint8Array(plaintexts.count * publicKey.ciphertextBytes),
      publicKey.ciphertextBytes,
    );
    for (let i = 0; i < plaintexts.count; i++) {
      const plaintext = readInteger(plaintexts.bytes, plaintexts.sizeBytes, i);
      assert(plaintext < publicKey.n, check.plaintextTooLarge);
      assert(readInteger(exponents.p, sizeBytes, i) < p.order, check.exponentsInRange);
      assert(readInteger(exponents.q, sizeBytes, i) < q.order, check.exponentsInRange);
      const modP = tables.p.power(exponents.p.subarray(i * sizeBytes, (i + 1) * sizeBytes));
      const modQ = tables.q.power(exponents.q.subarray(i * sizeBytes, (i + 1) * sizeBytes));
      const obfuscator = modQ + q.square * modulo((modP - modQ) * qSquaredInverse, p.square);
      const ciphertext = (obfuscator * (1n + plaintext * publicKey.n)) % publicKey.nSquared;
      writeInteger(result.bytes, result.sizeBytes, i, ciphertext);
      if (isSliceOver()) await nextSlice();
    }
    return result;
  }

  async decrypt(ciphertexts: CiphertextVector): Promise<PlaintextVector> {
    const { publicKey } = this.key;
    check.checkCiphertexts(publicKey, ciphertexts);
    const { p, q, qInverse } = this.#constants;
    const result = new PlaintextVector(
      new Uint8Array(ciphertexts.count * publicKey.plaintextBytes),
      publicKey.plaintextBytes,
    );
    for (let i = 0; i < ciphertexts.count; i++) {
      const ciphertext = readInteger(ciphertexts.bytes, ciphertexts.sizeBytes, i);
      if (ciphertext <= 0n || ciphertext >= publicKey.nSquared) check.refuseCiphertext(i, check.outOfRange);
      const modP = decryptModulo(ciphertext, p, this.#orderDigits.p);
      const modQ = decryptModulo(ciphertext, q, this.#orderDigits.q);
      if (modP === undefined || modQ === undefined) check.refuseCiphertext(i, check.notInvertible);
      const plaintext = modQ + q.prime * modulo((modP - modQ) * qInverse, p.prime);
      writeInteger(result.bytes, result.sizeBytes, i, plaintext);
      if (isSliceOver()) await nextSlice();
    }
    return result;
  }

  async nthRoots(values: PlaintextVector): Promise<PlaintextVector> {
    const { publicKey } = this.key;
    check.checkPlaintexts(publicKey, values);
    const { p, q, qInverse } = this.#constants;
    const exponents = rootExponents(this.key);
    const { plaintextBytes } = publicKey;
    const result = new PlaintextVector(new Uint8Array(values.count * plaintextBytes), plaintextBytes);
    for (let i = 0; i < values.count; i++) {
      const value = readInteger(values.bytes, values.sizeBytes, i);
      assert(value < publicKey.n, check.plaintextTooLarge);
      const modP = power(value, exponents.p, p.prime);
      const modQ = power(value, exponents.q, q.prime);
      writeInteger(result.bytes, plaintextBytes, i, modQ + q.prime * modulo((modP - modQ) * qInverse, p.prime));
      if (isSliceOver()) await nextSlice();
    }
    return result;
  }

  #fixedBaseTables(): Promise<{ readonly p: FixedBaseTable; readonly q: FixedBaseTable }> {
    const build = async (): Promise<{ readonly p: FixedBaseTable; readonly q: FixedBaseTable }> => ({
      p: await FixedBaseTable.build(this.#constants.p, exponentBytes(this.key)),
      q: await FixedBaseTable.build(this.#constants.q, exponentBytes(this.key)),
    });
    this.#tables ??= build();
    return this.#tables;
  }
}

/** m modulo one prime, or undefined if the ciphertext is a multiple of that prime. */
function decryptModulo(ciphertext: bigint, side: PrimeConstants, orderDigits: Uint8Array): bigint | undefined {
  const raised = powerByDigits(ciphertext, orderDigits, powerWindowBits, side.square);
  if (raised === 0n) return undefined;
  return (((raised - 1n) / side.prime) * side.plaintextFactor) % side.prime;
}

/** base^(d 256^i) for every byte value d and byte position i: a power costs one product per byte of the exponent. */
class FixedBaseTable {
  readonly #modulus: bigint;
  readonly #rows: readonly (readonly bigint[])[];

  private constructor(modulus: bigint, rows: readonly (readonly bigint[])[]) {
    this.#modulus = modulus;
    this.#rows = rows;
  }

  static async build(side: PrimeConstants, sizeBytes: number): Promise<FixedBaseTable> {
    const rows: bigint[][] = [];
    let base = residueBase(side);
    for (let i = 0; i < sizeBytes; i++) {
      const row = [1n];
      for (let d = 1; d < 256; d++) {
        row.push((row[d - 1] * base) % side.square);
        if (isSliceOver()) await nextSlice();
      }
      rows.push(row);
      base = (row[255] * base) % side.square;
    }
    return new FixedBaseTable(side.square, rows);
  }

  power(exponent: Uint8Array): bigint {
    let result = 1n;
    for (const [i, digit] of exponent.entries()) {
      if (digit !== 0) result = (result * this.#rows[i][digit]) % this.#modulus;
    }
    return result;
  }
}
