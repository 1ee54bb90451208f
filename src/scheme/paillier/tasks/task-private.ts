/**
 * A key owner's evaluator whose encryption and decryption run at workers, in batches; small or rare work stays in this
 * process. Results of workers are checked for number and range.
 */
import { TandemError } from "../../../base/error.ts";
import type { ExponentPart, PrivateEvaluator } from "../../../crypto/paillier/kernel.ts";
import type { PrivateKey } from "../../../crypto/paillier/keys.ts";
import { drawnOwnerExponents, type OwnerExponents } from "../../../crypto/paillier/nonces.ts";
import { checkCiphertexts, checkPlaintexts } from "../../../crypto/paillier/request-checks.ts";
import { CiphertextVector, PlaintextVector } from "../../../crypto/paillier/vectors.ts";
import { PaillierTaskSchema } from "../../../wire/generated/tandem/v1/tasks_pb.ts";
import { encodeMessage } from "../../../wire/scheme-message.ts";
import type { Tasks } from "../../tasks/tasks.ts";
import { type Batch, taskBatches, checkBelow, checkNoZero, joinedBatches } from "./batches.ts";

/** About 30 ms of one core per batch. */
const encryptBatch = 256;
const decryptBatch = 16;

export class TaskPrivateEvaluator implements PrivateEvaluator {
  readonly key: PrivateKey;
  readonly kernelName: string;
  readonly isElsewhere = true;
  readonly #own: PrivateEvaluator;
  readonly #tasks: () => Tasks;

  /** @param tasks those of the current attempt */
  constructor(own: PrivateEvaluator, tasks: () => Tasks) {
    this.key = own.key;
    this.kernelName = own.kernelName;
    this.#own = own;
    this.#tasks = tasks;
  }

  encrypt(plaintexts: PlaintextVector): Promise<CiphertextVector> {
    return this.#encrypt(plaintexts, () => undefined);
  }

  async encryptDrawn(plaintexts: PlaintextVector, parts: readonly ExponentPart[]): Promise<CiphertextVector> {
    const exponents = await drawnOwnerExponents(this.key, parts, "full");
    try {
      return await this.encryptWithExponents(plaintexts, exponents);
    } finally {
      exponents.p.fill(0);
      exponents.q.fill(0);
    }
  }

  encryptWithExponents(plaintexts: PlaintextVector, { p, q, sizeBytes }: OwnerExponents): Promise<CiphertextVector> {
    return this.#encrypt(plaintexts, (batch) => ({
      p: partOf(p, sizeBytes, batch),
      q: partOf(q, sizeBytes, batch),
      sizeBytes,
    }));
  }

  async #encrypt(
    plaintexts: PlaintextVector,
    exponentsOf: (batch: Batch) => OwnerExponents | undefined,
  ): Promise<CiphertextVector> {
    const { publicKey } = this.key;
    checkPlaintexts(publicKey, plaintexts);
    const { sizeBytes } = plaintexts;
    const { ciphertextBytes } = publicKey;
    const batches = taskBatches(plaintexts.count, 2 * ciphertextBytes, encryptBatch);
    const results = await this.#run(batches, (batch) => {
      const value = { plaintexts: partOf(plaintexts.bytes, sizeBytes, batch), plaintextBytes: sizeBytes };
      const exponents = exponentsOf(batch);
      const given = exponents === undefined ? value : { ...value, exponents };
      return encodeMessage(PaillierTaskSchema, { kind: { case: "encrypt", value: given } });
    });
    const bytes = joinedBatches(batches, results, ciphertextBytes);
    checkBelow(bytes, ciphertextBytes, publicKey.nSquared, "ciphertext");
    checkNoZero(bytes, ciphertextBytes, "ciphertext");
    return new CiphertextVector(bytes, ciphertextBytes);
  }

  async decrypt(ciphertexts: CiphertextVector): Promise<PlaintextVector> {
    const { publicKey } = this.key;
    checkCiphertexts(publicKey, ciphertexts);
    const { ciphertextBytes, plaintextBytes } = publicKey;
    const batches = taskBatches(ciphertexts.count, ciphertextBytes, decryptBatch);
    const taskOf = (batch: Batch): Uint8Array => {
      const value = { ciphertexts: partOf(ciphertexts.bytes, ciphertextBytes, batch) };
      return encodeMessage(PaillierTaskSchema, { kind: { case: "decrypt", value } });
    };
    let results: Uint8Array[];
    try {
      results = await this.#run(batches, taskOf);
    } catch (error) {
      // The index among all elements is known only in this process.
      if (error instanceof TandemError && error.code === "CIPHERTEXT_RANGE") return this.#own.decrypt(ciphertexts);
      throw error;
    }
    const bytes = joinedBatches(batches, results, plaintextBytes);
    checkBelow(bytes, plaintextBytes, publicKey.n, "plaintext");
    return new PlaintextVector(bytes, plaintextBytes);
  }

  nthRoots(values: PlaintextVector): Promise<PlaintextVector> {
    return this.#own.nthRoots(values);
  }

  #run(batches: readonly Batch[], taskOf: (batch: Batch) => Uint8Array): Promise<Uint8Array[]> {
    const tasks = this.#tasks();
    return Promise.all(batches.map((batch) => tasks.run(taskOf(batch))));
  }
}

function partOf(flat: Uint8Array, elementBytes: number, { first, end }: Batch): Uint8Array {
  return flat.subarray(first * elementBytes, end * elementBytes);
}
