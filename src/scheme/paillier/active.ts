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
import { derivedSecretBytes, osRandom } from "../../base/random.ts";
import { coresIdle } from "../../base/scheduling/idle-cores.ts";
import { inOrder } from "../../base/scheduling/in-order.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { decodeSums, encode } from "../../codec/batch-codec.ts";
import { decodeShares } from "../../codec/masked-sums.ts";
import { columnCount, type GradientLayout, maskBitsIn } from "../../codec/layout.ts";
import { plaintextBitsMax, sumPacking } from "../../codec/packing.ts";
import { integerBytes } from "../../crypto/integers.ts";
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
import { type GradientChunk, noOperations, type SchemeParameters } from "../scheme.ts";
import { newShares, setShare } from "../candidates/node-masks.ts";
import type { SentActive } from "../sent-scheme.ts";
import { allShortcuts, type Shortcuts } from "../shortcuts.ts";
import { bigEndianBytes } from "../../wire/big-endian.ts";
import { gradientExponents, textbookNonces } from "./gradient-nonces.ts";
import { ObfuscatorPool } from "./obfuscator-pool.ts";
import { paillierSchemeName } from "./scheme-name.ts";
import type { TaskCrew } from "../tasks/tasks.ts";
import { OwnerTasks } from "./tasks/owner-tasks.ts";
import { chunkBytes } from "../../wire/version.ts";

/** Chunks encrypted at a time by workers: enough to keep many of them busy. */
const chunksElsewhere = 16;
/** Obfuscators computed at a time while cores are idle. */
const obfuscatorBatch = 256;
const noBytes = new Uint8Array(0);
/** Memory limit of precomputed obfuscators. */
const obfuscatorBytesMax = 256 << 20;

/** Where a plaintext of a candidate is, among decrypted bytes. */
interface OpenedField {
  readonly candidate: number;
  readonly p: number;
  readonly bytes: Uint8Array;
  readonly bitOffset: number;
}

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
  /** Obfuscators of the next round, from its first position on. */
  #ahead: { readonly serial: number; readonly pool: ObfuscatorPool } | null = null;
  readonly #untilIdle: typeof coresIdle;
  readonly #shortcuts: Shortcuts;
  /** Computed once, for all passive parties and attempts. */
  #roots: Promise<Uint8Array[]> | undefined;
  readonly #seed: Uint8Array;
  #maskBits = 0;

  constructor(
    kernel: Kernel,
    key: PrivateKey,
    threads: number,
    shortcuts: Shortcuts = allShortcuts,
    untilIdle = coresIdle,
    seed: Uint8Array = osRandom.fill(new Uint8Array(derivedSecretBytes)),
    crew?: TaskCrew,
  ) {
    this.#seed = seed;
    this.#untilIdle = untilIdle;
    this.#own = kernel.privateEvaluator(key, { threads });
    this.#tasks = crew === undefined ? null : new OwnerTasks(crew, this.#own);
    this.#evaluator = this.#tasks?.evaluator ?? this.#own;
    this.#public = kernel.publicEvaluator(key.publicKey, { threads });
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

  get maskBits(): number {
    return this.#maskBits;
  }

  async setUp({ layout }: { readonly layout: GradientLayout }): Promise<Uint8Array> {
    this.#maskBits = maskBitsIn(layout);
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
    serial: number,
  ): AsyncGenerator<GradientChunk> {
    const stock = await this.#stockFor(serial);
    const chunks = this.#chunksOf(layout, gradients, sample);
    const aheadMax = this.#evaluator.isElsewhere === true ? chunksElsewhere : 1;
    const made = inOrder(chunks, aheadMax, async ({ first, instances }) => ({
      first,
      ciphertexts: await this.#encrypt(
        encode(layout, gradients, instances),
        serial,
        first * layout.plaintexts.length,
        stock,
      ),
    }));
    for await (const { first, ciphertexts } of made) {
      this.counts.encryptions += ciphertexts.count;
      const message = encodeMessage(PaillierGradientsSchema, { firstInstance: first, ciphertexts: ciphertexts.bytes });
      yield { message, ciphertexts: ciphertexts.count };
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

  /** The obfuscators that were precomputed for this round; null: none. Those for another round are dropped. */
  async #stockFor(serial: number): Promise<ObfuscatorPool | null> {
    const ahead = this.#ahead;
    this.#ahead = null;
    await ahead?.pool.pause();
    return ahead?.serial === serial ? ahead.pool : null;
  }

  /** @param first the position of the first plaintext in the round @param stock obfuscators of the next positions */
  async #encrypt(
    plaintexts: PlaintextVector,
    serial: number,
    first: number,
    stock: ObfuscatorPool | null,
  ): Promise<CiphertextVector> {
    if (!this.#shortcuts.ownerEncryption) return this.#textbook(plaintexts, serial, first);
    const sealed = Math.min(plaintexts.count, stock?.stock ?? 0);
    const { bytes, sizeBytes, count } = plaintexts;
    const begin = new PlaintextVector(bytes.subarray(0, sealed * sizeBytes), sizeBytes);
    const rest = new PlaintextVector(bytes.subarray(sealed * sizeBytes), sizeBytes);
    const [prepared, encrypted] = await Promise.all([
      stock === null || sealed === 0
        ? null
        : stock.take(sealed).then(async (taken) => this.#public.unload(await this.#public.sealWith(begin, taken))),
      sealed === count
        ? null
        : this.#evaluator.encryptDrawn(rest, gradientExponents(this.#seed, serial, first + sealed, count - sealed)),
    ]);
    if (prepared === null || encrypted === null) return prepared ?? encrypted ?? new CiphertextVector(noBytes, 1);
    return new CiphertextVector(Buffer.concat([prepared.bytes, encrypted.bytes]), this.#ciphertextBytes);
  }

  /** (1 + m n) r^n modulo n^2, where r follows from the seed: in experiments too a redone round is the same. */
  async #textbook(plaintexts: PlaintextVector, serial: number, first: number): Promise<CiphertextVector> {
    const { key } = this.#public;
    const { count } = plaintexts;
    const nonces = this.#public.allocate(count);
    await this.#public.load(textbookNonces(this.#seed, key, serial, first, count), nonces, 0);
    const exponents = Buffer.concat(Array.from({ length: count }, () => integerBytes(key.n - 1n, key.plaintextBytes)));
    const powers = await this.#public.scale(nonces, new PlaintextVector(exponents, key.plaintextBytes));
    const obfuscators = await this.#public.unload(await this.#public.add(powers, nonces));
    return this.#public.unload(
      await this.#public.sealWith(plaintexts, await this.#public.loadObfuscators(obfuscators)),
    );
  }

  /** The number of precomputed obfuscators for the next gradients. */
  get obfuscatorsReady(): number {
    return this.#ahead?.pool.stock ?? 0;
  }

  expectRound(layout: GradientLayout, instanceCount: number, serial: number): void {
    if (!this.#shortcuts.ownerEncryption || this.#ahead?.serial === serial) return;
    void this.#ahead?.pool.pause();
    let position = 0;
    // An encryption of zero is an obfuscator.
    const make = async (count: number): Promise<ObfuscatorVector> => {
      const zeros = new PlaintextVector(new Uint8Array(count), 1);
      const exponents = gradientExponents(this.#seed, serial, position, count);
      position += count;
      return this.#public.loadObfuscators(await this.#own.encryptDrawn(zeros, exponents));
    };
    const pool = new ObfuscatorPool(this.#public, make, obfuscatorBatch, this.#untilIdle);
    this.#ahead = { serial, pool };
    const countMax = Math.floor(obfuscatorBytesMax / this.#ciphertextBytes); // in memory one is about as wide
    pool.prepare(Math.min(instanceCount * layout.plaintexts.length, countMax));
  }

  close(): void {
    void this.#ahead?.pool.pause();
    this.#tasks?.close();
  }

  async sums(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array> {
    const rowSums = columnCount(layout);
    const sums = new Float64Array(counts.length * rowSums);
    for (const { candidate, p, bytes, bitOffset } of await this.#opened(layout, message, counts.length)) {
      // Random bits are in the fields of empty candidates.
      if (counts[candidate] > 0) decodeSums(layout, p, bytes, bitOffset, counts[candidate], sums, candidate * rowSums);
    }
    return sums;
  }

  async shares(layout: GradientLayout, message: Uint8Array, count: number): Promise<Uint32Array[]> {
    const shares = layout.slots.map(() => newShares(count));
    for (const { candidate, p, bytes, bitOffset } of await this.#opened(layout, message, count))
      for (const { slot, share } of decodeShares(layout, p, bytes, bitOffset)) setShare(shares[slot], candidate, share);
    return shares;
  }

  /** The decrypted fields of consecutive candidates. */
  async #opened(layout: GradientLayout, message: Uint8Array, count: number): Promise<readonly OpenedField[]> {
    const { ciphertexts } = decodeMessage(PaillierSumsSchema, message);
    const perCandidate = layout.plaintexts.length;
    const packing = sumPacking(layout.plaintextBits, this.#keyBits, this.#shortcuts.packing);
    const plaintextCount = count * perCandidate;
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

    const fields: OpenedField[] = [];
    for (let c = 0; c < plain.count; c++) {
      const bytes = plain.bytes.subarray(c * plain.sizeBytes, (c + 1) * plain.sizeBytes);
      const first = c * packing.perCiphertext;
      const held = Math.min(packing.perCiphertext, plaintextCount - first);
      // Random bits are above these fields.
      for (let k = 0; k < held; k++)
        fields.push({
          candidate: Math.floor((first + k) / perCandidate),
          p: (first + k) % perCandidate,
          bytes,
          bitOffset: k * packing.strideBits,
        });
    }
    return fields;
  }
}
