/**
 * The active half of the Paillier scheme: it owns the private key, encrypts every instance's plaintexts once per tree
 * and decrypts packed candidate sums. Trust: honest-but-curious peers; every decryption is range-checked by the codec.
 *
 * @reveals passive: encrypted gradients only; the number of instances; which instances are in each node that is split
 * @reveals active: per candidate of a passive party, without its name: the sums of g and h and the count of one side
 */
import { TandemError } from "../base/error.ts";
import { resolveParameters, speedParameters, type SpeedParameters } from "../base/parameters.ts";
import type { QuantisedGradients } from "../base/quantised-gradients.ts";
import { checkNothingAbove, decodeSums, encode } from "../codec/batch-codec.ts";
import type { GradientLayout } from "../codec/layout.ts";
import { plaintextBitsMax, sumPacking } from "../codec/packing.ts";
import type { Kernel, PrivateEvaluator, PublicEvaluator } from "../crypto/kernel.ts";
import type { PrivateKey } from "../crypto/keys.ts";
import { CiphertextVector, type PlaintextVector } from "../crypto/vectors.ts";
import { create } from "@bufbuild/protobuf";
import {
  PaillierGradientsSchema,
  PaillierNodeSchema,
  PaillierSetUpSchema,
} from "./generated/tandem/v1/tandem_pb.ts";
import { type ActiveScheme, type NodeDescription, noOperations, type SchemeAnswer, type SchemeNode, type SchemeSetUp, type SchemeTree } from "./scheme.ts";
import { bigEndianBytes } from "./big-endian.ts";
import { chunkBytes } from "./version.ts";

export const paillierSchemeName = "paillier";

export class PaillierActive implements ActiveScheme {
  readonly name = paillierSchemeName;
  readonly counts = noOperations();
  readonly #evaluator: PrivateEvaluator;
  /** Encrypts as somebody would who knows only n: for comparisons. */
  readonly #textbook: PublicEvaluator | null;
  readonly #speed: SpeedParameters;

  constructor(kernel: Kernel, key: PrivateKey, threads: number, speed: SpeedParameters = resolveParameters(speedParameters, {})) {
    this.#evaluator = kernel.privateEvaluator(key, { threads, exponents: speed.encryption === "short" ? "short" : "full" });
    this.#textbook = speed.encryption === "textbook" ? kernel.publicEvaluator(key.publicKey, { threads }) : null;
    this.#speed = speed;
  }

  get keyBits(): number {
    return this.#evaluator.key.publicKey.bits;
  }

  get ciphertextBytes(): number {
    return this.#evaluator.key.publicKey.ciphertextBytes;
  }

  get plaintextBitsMax(): number {
    return plaintextBitsMax(this.keyBits);
  }

  setUp(layout: GradientLayout): SchemeSetUp {
    const value = create(PaillierSetUpSchema, {
      modulus: bigEndianBytes(this.#evaluator.key.publicKey.n),
      ciphertextsPerInstance: layout.plaintexts.length,
      plaintextBits: layout.plaintextBits,
      packing: this.#speed.packing,
      skipBin: this.#speed.skip_bin,
      jointBins: this.#speed.joint_bins,
    });
    return { case: "paillier", value };
  }

  async *tree(layout: GradientLayout, gradients: QuantisedGradients): AsyncGenerator<SchemeTree> {
    const perInstance = layout.plaintexts.length;
    const instancesPerChunk = Math.max(1, Math.floor(chunkBytes / (perInstance * this.ciphertextBytes)));
    for (let first = 0; first < gradients.instanceCount; first += instancesPerChunk) {
      const count = Math.min(instancesPerChunk, gradients.instanceCount - first);
      const instances = Uint32Array.from({ length: count }, (_, i) => first + i);
      const ciphertexts = await this.#encrypt(encode(layout, gradients, instances));
      this.counts.encryptions += ciphertexts.count;
      yield { case: "paillier", value: create(PaillierGradientsSchema, { firstInstance: first, ciphertexts: ciphertexts.bytes }) };
    }
  }

  async #encrypt(plaintexts: PlaintextVector): Promise<CiphertextVector> {
    if (this.#textbook === null) return this.#evaluator.encrypt(plaintexts);
    return this.#textbook.unload(await this.#textbook.encrypt(plaintexts));
  }

  node(description: NodeDescription): SchemeNode {
    const { origin } = description;
    const value = create(PaillierNodeSchema, origin === null ? { isRoot: true } : { isRoot: false, ...origin });
    return { case: "paillier", value };
  }

  async sums(layout: GradientLayout, answer: SchemeAnswer, counts: readonly number[]): Promise<Float64Array> {
    if (answer.case !== "paillier") throw new TandemError("PROTOCOL_STATE", "an answer without Paillier ciphertexts");
    const perCandidate = layout.plaintexts.length;
    const packing = sumPacking(layout.plaintextBits, this.keyBits, this.#speed.packing);
    const plaintextCount = counts.length * perCandidate;
    const expected = Math.ceil(plaintextCount / packing.perCiphertext);
    const width = this.ciphertextBytes;
    if (answer.value.ciphertexts.length !== expected * width) {
      throw new TandemError("PROTOCOL_STATE", `an answer has ${answer.value.ciphertexts.length} bytes; ${expected * width} were expected`);
    }
    const plain = await this.#evaluator.decrypt(new CiphertextVector(answer.value.ciphertexts, width));
    this.counts.decryptions += plain.count;
    this.counts.candidateCiphertexts += plain.count;

    const slotCount = layout.slots.length;
    const sums = new Float64Array(counts.length * slotCount);
    for (let c = 0; c < plain.count; c++) {
      const bytes = plain.bytes.subarray(c * plain.sizeBytes, (c + 1) * plain.sizeBytes);
      const first = c * packing.perCiphertext;
      const held = Math.min(packing.perCiphertext, plaintextCount - first);
      for (let k = 0; k < held; k++) {
        const candidate = Math.floor((first + k) / perCandidate);
        decodeSums(layout, (first + k) % perCandidate, bytes, k * packing.strideBits, counts[candidate], sums, candidate * slotCount);
      }
      checkNothingAbove(bytes, held * packing.strideBits);
    }
    return sums;
  }
}
