/**
 * The active half of the Paillier scheme: it owns the private key, encrypts every instance's plaintexts once per tree
 * and decrypts packed candidate sums. Every decrypted sum is range-checked by the codec; bits outside the sums are
 * ignored.
 *
 * @reveals passive: encrypted gradients only; the number of instances
 * @reveals active: per candidate of a passive party, without its name: the sums of g and h of one side, and its count
 *   where counts are sent
 */
import { TandemError } from "../../base/error.ts";
import { coresIdle } from "../../base/scheduling/idle-cores.ts";
import { inOrder } from "../../base/scheduling/in-order.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { decodeSums, encode } from "../../codec/batch-codec.ts";
import { columnCount, type GradientLayout } from "../../codec/layout.ts";
import { plaintextBitsMax, sumPacking } from "../../codec/packing.ts";
import type { Kernel, PrivateEvaluator, PublicEvaluator } from "../../crypto/paillier/kernel.ts";
import type { PrivateKey } from "../../crypto/paillier/keys.ts";
import { modulusProof } from "../../crypto/paillier/modulus-proof.ts";
import { CiphertextVector, type ObfuscatorVector, PlaintextVector } from "../../crypto/paillier/vectors.ts";
import {
  PaillierGradientsSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../../wire/generated/tandem/v1/paillier_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import { type GradientChunk, type GradientRecipe, noOperations, type SchemeParameters } from "../scheme.ts";
import type { SentActive } from "../sent-scheme.ts";
import { allShortcuts, type Shortcuts } from "../shortcuts.ts";
import { bigEndianBytes } from "../../wire/big-endian.ts";
import { exponentParts, type NonceDraws } from "./nonce-draws.ts";
import { ObfuscatorPool } from "./obfuscator-pool.ts";
import { paillierSchemeName } from "./scheme-name.ts";
import type { TaskCrew } from "../tasks/tasks.ts";
import { OwnerTasks } from "./tasks/owner-tasks.ts";
import { chunkBytes } from "../../wire/version.ts";

/** Chunks encrypted at a time by workers: enough to keep many of them busy. */
const chunksElsewhere = 16;
/** Obfuscators computed at a time while cores are idle. */
const obfuscatorBatch = 256;
/** Memory limit of precomputed obfuscators. */
const obfuscatorBytesMax = 256 << 20;

export class PaillierActive implements SentActive {
  readonly name = paillierSchemeName;
  readonly membership = "sent";
  readonly counts = noOperations();
  readonly #evaluator: PrivateEvaluator;
  /** Runs in this process, even if workers do the rest. */
  readonly #own: PrivateEvaluator;
  /** Null: there are no workers. */
  readonly #tasks: OwnerTasks | null;
  readonly #public: PublicEvaluator;
  readonly #obfuscators: ObfuscatorPool;
  readonly #shortcuts: Shortcuts;
  /** Computed once, for all passive parties and attempts. */
  #roots: Promise<Uint8Array[]> | undefined;
  /** Null: nonces come from the operating system and cannot be reproduced. */
  readonly #draws: NonceDraws | null;

  constructor(
    kernel: Kernel,
    key: PrivateKey,
    threads: number,
    shortcuts: Shortcuts = allShortcuts,
    untilIdle = coresIdle,
    draws: NonceDraws | null = null,
    crew?: TaskCrew,
  ) {
    this.#draws = shortcuts.ownerEncryption ? draws : null;
    this.#own = kernel.privateEvaluator(key, { threads });
    this.#tasks = crew === undefined ? null : new OwnerTasks(crew, this.#own);
    this.#evaluator = this.#tasks?.evaluator ?? this.#own;
    this.#public = kernel.publicEvaluator(key.publicKey, { threads });
    this.#obfuscators = new ObfuscatorPool(
      this.#public,
      (count) => this.#makeObfuscators(count),
      obfuscatorBatch,
      untilIdle,
    );
    this.#shortcuts = shortcuts;
  }

  get parameters(): SchemeParameters {
    return { keyBits: this.#keyBits };
  }

  get #keyBits(): number {
    return this.#evaluator.key.publicKey.bits;
  }

  get #ciphertextBytes(): number {
    return this.#evaluator.key.publicKey.ciphertextBytes;
  }

  get plaintextBitsMax(): number {
    return plaintextBitsMax(this.#keyBits);
  }

  async setUp({ layout }: { readonly layout: GradientLayout }): Promise<Uint8Array> {
    this.#roots ??= modulusProof(this.#own, this.#public);
    await this.#tasks?.open();
    return encodeMessage(PaillierSetUpSchema, {
      modulus: bigEndianBytes(this.#evaluator.key.publicKey.n),
      ciphertextsPerInstance: layout.plaintexts.length,
      plaintextBits: layout.plaintextBits,
      packing: this.#shortcuts.packing,
      jointBins: this.#shortcuts.jointBins,
      roots: await this.#roots,
    });
  }

  async *gradients(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
  ): AsyncGenerator<GradientChunk> {
    this.#obfuscators.pause();
    this.#draws?.begin();
    const chunks = this.#chunksOf(layout, gradients, sample);
    const aheadMax = this.#evaluator.isElsewhere === true ? chunksElsewhere : 1;
    const made = inOrder(chunks, aheadMax, async ({ first, instances }) => ({
      first,
      ciphertexts: await this.#encrypt(encode(layout, gradients, instances)),
    }));
    for await (const { first, ciphertexts } of made) {
      this.counts.encryptions += ciphertexts.count;
      const message = encodeMessage(PaillierGradientsSchema, { firstInstance: first, ciphertexts: ciphertexts.bytes });
      yield { message, ciphertexts: ciphertexts.count };
    }
  }

  /** The messages of gradients that were sent before, made again. */
  async *gradientsAgain(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    recipe: GradientRecipe,
  ): AsyncGenerator<Uint8Array> {
    let chunk = 0;
    for (const { first, instances } of this.#chunksOf(layout, gradients, sample)) {
      const parts = exponentParts(recipe, recipe.chunks[chunk++] ?? []);
      const { bytes } = await this.#evaluator.encryptAgain(encode(layout, gradients, instances), parts);
      yield encodeMessage(PaillierGradientsSchema, { firstInstance: first, ciphertexts: bytes });
    }
  }

  *#chunksOf(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
  ): Generator<{ readonly first: number; readonly instances: Uint32Array }> {
    const perInstance = layout.plaintexts.length;
    const instancesPerChunk = Math.max(1, Math.floor(chunkBytes / (perInstance * this.#ciphertextBytes)));
    const instanceCount = sample?.length ?? gradients.instanceCount;
    for (let first = 0; first < instanceCount; first += instancesPerChunk) {
      const count = Math.min(instancesPerChunk, instanceCount - first);
      const instances =
        sample?.subarray(first, first + count) ?? Uint32Array.from({ length: count }, (_, i) => first + i);
      yield { first, instances };
    }
  }

  get recipe(): GradientRecipe | null {
    return this.#draws?.recipe ?? null;
  }

  async #encrypt(plaintexts: PlaintextVector): Promise<CiphertextVector> {
    if (!this.#shortcuts.ownerEncryption) return this.#public.unload(await this.#public.encrypt(plaintexts));
    if (this.#obfuscators.stock < plaintexts.count)
      return this.#evaluator.encrypt(plaintexts, this.#draws?.now(plaintexts.count));
    this.#draws?.take(plaintexts.count);
    return this.#public.unload(await this.#public.sealWith(plaintexts, await this.#obfuscators.take(plaintexts.count)));
  }

  /** The number of precomputed obfuscators for the next gradients. */
  get obfuscatorsReady(): number {
    return this.#obfuscators.stock;
  }

  /** An encryption of zero is an obfuscator. */
  async #makeObfuscators(count: number): Promise<ObfuscatorVector> {
    const zeros = new PlaintextVector(new Uint8Array(count), 1);
    return this.#public.loadObfuscators(await this.#own.encrypt(zeros, this.#draws?.ahead(count)));
  }

  expectRound(layout: GradientLayout, instanceCount: number): void {
    if (!this.#shortcuts.ownerEncryption) return;
    const countMax = Math.floor(obfuscatorBytesMax / this.#ciphertextBytes); // in memory one is about as wide
    this.#obfuscators.prepare(Math.min(instanceCount * layout.plaintexts.length, countMax));
  }

  close(): void {
    this.#obfuscators.pause();
    this.#tasks?.close();
  }

  async sums(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array> {
    const { ciphertexts } = decodeMessage(PaillierSumsSchema, message);
    const perCandidate = layout.plaintexts.length;
    const packing = sumPacking(layout.plaintextBits, this.#keyBits, this.#shortcuts.packing);
    const plaintextCount = counts.length * perCandidate;
    const expected = Math.ceil(plaintextCount / packing.perCiphertext);
    const width = this.#ciphertextBytes;
    if (ciphertexts.length !== expected * width) {
      throw new TandemError(
        "PROTOCOL_STATE",
        `an answer has ${ciphertexts.length} bytes; ${expected * width} were expected`,
      );
    }
    const plain = await this.#evaluator.decrypt(new CiphertextVector(ciphertexts, width));
    this.counts.decryptions += plain.count;
    this.counts.candidateCiphertexts += plain.count;

    const rowSums = columnCount(layout);
    const sums = new Float64Array(counts.length * rowSums);
    for (let c = 0; c < plain.count; c++) {
      const bytes = plain.bytes.subarray(c * plain.sizeBytes, (c + 1) * plain.sizeBytes);
      const first = c * packing.perCiphertext;
      const held = Math.min(packing.perCiphertext, plaintextCount - first);
      // Random bits are above these fields, and in the fields of empty candidates.
      for (let k = 0; k < held; k++) {
        const candidate = Math.floor((first + k) / perCandidate);
        if (counts[candidate] === 0) continue;
        decodeSums(
          layout,
          (first + k) % perCandidate,
          bytes,
          k * packing.strideBits,
          counts[candidate],
          sums,
          candidate * rowSums,
        );
      }
    }
    return sums;
  }
}
