/** An evaluator whose packing, with its fresh r^n, runs at workers, in batches. */
import type {
  HistogramRequest,
  PackRequest,
  PublicEvaluator,
  RunningSumsRequest,
} from "../../../crypto/paillier/kernel.ts";
import type { PublicKey } from "../../../crypto/paillier/keys.ts";
import { checkPack } from "../../../crypto/paillier/request-checks.ts";
import {
  CiphertextVector,
  type HeldVector,
  type ObfuscatorVector,
  type PlaintextVector,
  type ResidentVector,
} from "../../../crypto/paillier/vectors.ts";
import { PaillierTaskSchema } from "../../../wire/generated/tandem/v1/tasks_pb.ts";
import { encodeMessage } from "../../../wire/scheme-message.ts";
import type { Tasks } from "../../tasks/tasks.ts";
import { taskBatches, fits, joinedBatches } from "./batches.ts";

/** About 50 ms of one core per batch. */
const packBatch = 8;

export class TaskPublicEvaluator implements PublicEvaluator {
  readonly key: PublicKey;
  readonly kernelName: string;
  readonly #own: PublicEvaluator;
  readonly #tasks: Tasks;

  constructor(own: PublicEvaluator, tasks: Tasks) {
    this.key = own.key;
    this.kernelName = own.kernelName;
    this.#own = own;
    this.#tasks = tasks;
  }

  async pack(request: PackRequest): Promise<ResidentVector> {
    const { source, strideBits, perCiphertext } = request;
    const { ciphertextBytes } = this.key;
    const count = checkPack(this.key, request);
    const elementBytes = perCiphertext * ciphertextBytes;
    if (!fits(elementBytes)) return this.#own.pack(request);
    const { bytes } = await this.#own.unload(source);
    const batches = taskBatches(count, elementBytes, packBatch);
    const results = batches.map(({ first, end }) => {
      const ciphertexts = bytes.subarray(first * elementBytes, end * elementBytes); // the last may hold fewer
      const value = { ciphertexts, strideBits, perCiphertext };
      return this.#tasks.run(encodeMessage(PaillierTaskSchema, { kind: { case: "pack", value } }));
    });
    const packed = this.#own.allocate(count);
    const joined = joinedBatches(batches, await Promise.all(results), ciphertextBytes);
    await this.#own.load(new CiphertextVector(joined, ciphertextBytes), packed, 0);
    return packed;
  }

  obfuscators(count: number): Promise<ObfuscatorVector> {
    return this.#own.obfuscators(count);
  }

  encrypt(plaintexts: PlaintextVector): Promise<ResidentVector> {
    return this.#own.encrypt(plaintexts);
  }

  allocate(count: number): ResidentVector {
    return this.#own.allocate(count);
  }

  slice<V extends HeldVector>(vector: V, first: number, count: number): V {
    return this.#own.slice(vector, first, count);
  }

  join<V extends HeldVector>(vectors: readonly V[]): V {
    return this.#own.join(vectors);
  }

  free(vector: HeldVector): void {
    this.#own.free(vector);
  }

  load(source: CiphertextVector, target: ResidentVector, offset: number): Promise<void> {
    return this.#own.load(source, target, offset);
  }

  unload(source: ResidentVector): Promise<CiphertextVector> {
    return this.#own.unload(source);
  }

  loadObfuscators(zeros: CiphertextVector): Promise<ObfuscatorVector> {
    return this.#own.loadObfuscators(zeros);
  }

  firstUnsealed(vector: ResidentVector): Promise<number> {
    return this.#own.firstUnsealed(vector);
  }

  clear(target: ResidentVector, elements: Uint32Array): Promise<void> {
    return this.#own.clear(target, elements);
  }

  add(a: ResidentVector, b: ResidentVector): Promise<ResidentVector> {
    return this.#own.add(a, b);
  }

  addPlaintexts(a: ResidentVector, plaintexts: PlaintextVector): Promise<ResidentVector> {
    return this.#own.addPlaintexts(a, plaintexts);
  }

  scale(a: ResidentVector, scalars: PlaintextVector): Promise<ResidentVector> {
    return this.#own.scale(a, scalars);
  }

  histogram(request: HistogramRequest): Promise<ResidentVector> {
    return this.#own.histogram(request);
  }

  runningSums(request: RunningSumsRequest): Promise<ResidentVector> {
    return this.#own.runningSums(request);
  }

  sealWith(plaintexts: PlaintextVector, obfuscators: ObfuscatorVector): Promise<ResidentVector> {
    return this.#own.sealWith(plaintexts, obfuscators);
  }
}
