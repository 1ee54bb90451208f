/** Paillier's tasks at a worker. The key arrives with the terms and is only kept in the memory of this object. */
import { TandemError } from "../../../base/error.ts";
import { parsePrivateKey } from "../../../crypto/paillier/key-format.ts";
import type { Kernel, PrivateEvaluator, PublicEvaluator } from "../../../crypto/paillier/kernel.ts";
import { CiphertextVector, PlaintextVector } from "../../../crypto/paillier/vectors.ts";
import {
  type PaillierEncryptTask,
  type PaillierPackTask,
  PaillierTaskSchema,
  PaillierTaskTermsSchema,
} from "../../../wire/generated/tandem/v1/tasks_pb.ts";
import { decodeMessage } from "../../../wire/scheme-message.ts";
import type { TaskWork } from "../../tasks/tasks.ts";
import { checkedPublicKey } from "../received-key.ts";

/** @throws TandemError KEY_FORMAT, PROTOCOL_STATE for invalid terms */
export async function paillierTaskWork(kernel: Kernel, terms: Uint8Array, threads: number): Promise<TaskWork> {
  const { key, keyBits } = decodeMessage(PaillierTaskTermsSchema, terms);
  if (key.case === "modulus")
    return new PaillierTaskWork(kernel.publicEvaluator(checkedPublicKey(key.value, keyBits), { threads }), null);
  if (key.case !== "privateKey") throw unknown();
  // The required key length was checked when the job began.
  const privateKey = await parsePrivateKey(key.value, { insecure: true });
  return new PaillierTaskWork(
    kernel.publicEvaluator(privateKey.publicKey, { threads }),
    kernel.privateEvaluator(privateKey, { threads }),
  );
}

class PaillierTaskWork implements TaskWork {
  readonly #public: PublicEvaluator;
  readonly #private: PrivateEvaluator | null;

  constructor(anyone: PublicEvaluator, owner: PrivateEvaluator | null) {
    this.#public = anyone;
    this.#private = owner;
  }

  async do(task: Uint8Array): Promise<Uint8Array> {
    const { kind } = decodeMessage(PaillierTaskSchema, task);
    if (kind.case === "encrypt") return this.#encrypt(kind.value);
    if (kind.case === "decrypt") return (await this.#owner.decrypt(this.#wire(kind.value.ciphertexts))).bytes;
    if (kind.case === "pack") return this.#pack(kind.value);
    throw unknown();
  }

  async #encrypt({ plaintexts, plaintextBytes, exponents }: PaillierEncryptTask): Promise<Uint8Array> {
    const vector = new PlaintextVector(plaintexts, plaintextBytes);
    if (exponents === undefined) return (await this.#owner.encrypt(vector)).bytes;
    return (await this.#owner.encryptWithExponents(vector, exponents)).bytes;
  }

  async #pack({ ciphertexts, strideBits, perCiphertext }: PaillierPackTask): Promise<Uint8Array> {
    const received = this.#wire(ciphertexts);
    const source = this.#public.allocate(received.count);
    await this.#public.load(received, source, 0);
    return (await this.#public.unload(await this.#public.pack({ source, strideBits, perCiphertext }))).bytes;
  }

  get #owner(): PrivateEvaluator {
    if (this.#private === null) throw new TandemError("PROTOCOL_STATE", "this task needs the private key");
    return this.#private;
  }

  #wire(bytes: Uint8Array): CiphertextVector {
    return new CiphertextVector(bytes, this.#public.key.ciphertextBytes);
  }
}

function unknown(): TandemError {
  return new TandemError("PROTOCOL_STATE", "unknown task of this scheme");
}
