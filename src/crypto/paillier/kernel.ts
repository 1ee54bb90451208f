/**
 * The interface of a kernel: coarse asynchronous operations over whole vectors, never single additions. The native
 * addon implements it, and so does the portable TypeScript kernel, which is the oracle for the native one.
 *
 * The two evaluators mirror the two kinds of key: a PublicEvaluator has no decrypt.
 */
import type { SecureRandom } from "../../base/random.ts";
import type { PrivateKey, PublicKey } from "./keys.ts";
import type { OwnerExponents } from "./nonces.ts";
import type { CiphertextVector, HeldVector, ObfuscatorVector, PlaintextVector, ResidentVector } from "./vectors.ts";

export interface Kernel {
  readonly name: string;
  publicEvaluator(key: PublicKey, options: EvaluatorOptions): PublicEvaluator;
  privateEvaluator(key: PrivateKey, options: EvaluatorOptions): PrivateEvaluator;
}

export interface EvaluatorOptions {
  readonly threads: number;
  /**
   * Exponents of the key owner's obfuscators. Default: full, uniform below p - 1 and q - 1. That needs no assumption
   * beyond Paillier's. "short" is the variant of Damgard, Jurik and Nielsen (2010): h^e for one n-th residue h of full
   * order and e of shortExponentBits(key) bits. It additionally assumes that such h^e are indistinguishable from random
   * n-th residues, because discrete logarithms of that length are hard modulo n.
   */
  readonly exponents?: "full" | "short";
}

/**
 * An evaluator holds its vectors; callers hold handles. `load` and `unload` are the only ways in and out. A vector of
 * another key or kernel fails an assertion.
 *
 * `allocate`, `slice`, `join` and `free` return at once, although the elements may live on another machine: a handle
 * has no content but its count, which the caller knows beforehand. A remote evaluator names the vector, sends the
 * command and does not wait. Later operations are in the same queue, and fail if it failed.
 */
export interface PublicEvaluator {
  readonly key: PublicKey;
  readonly kernelName: string;

  /** Allocates `count` ciphertexts that will be loaded in chunks. */
  allocate(count: number): ResidentVector;
  /** A view: it shares its elements with `vector`, so loads into one are visible in the other. */
  slice<V extends HeldVector>(vector: V, first: number, count: number): V;
  /** A copy of all elements, one vector after the other. */
  join<V extends HeldVector>(vectors: readonly V[]): V;
  /**
   * Releases the vector's memory: no later operation accepts it. Pending operations still finish, and views of the
   * vector stay valid until they are freed themselves. A vector that is never freed is garbage-collected.
   */
  free(vector: HeldVector): void;

  /**
   * Checks wire ciphertexts and writes them into `target` from element `offset` on.
   * @throws TandemError CIPHERTEXT_RANGE naming the index of the first c outside 0 < c < n^2; if there is none, of
   * the
   *   first that shares a factor with n: re-randomisation could not hide that factor in any product
   */
  load(source: CiphertextVector, target: ResidentVector, offset: number): Promise<void>;
  unload(source: ResidentVector): Promise<CiphertextVector>;
  /**
   * Uses encryptions of zero as obfuscators; only the key owner can vouch for them.
   * @throws as load does, except that common factors with n are not checked
   */
  loadObfuscators(zeros: CiphertextVector): Promise<ObfuscatorVector>;

  /** The index of the first element that is 1 modulo n, (1 + n)^m: an unencrypted plaintext. -1: there is none. */
  firstUnsealed(vector: ResidentVector): Promise<number>;

  /** Sets elements of `target` to the empty sum: an unobfuscated zero. */
  clear(target: ResidentVector, elements: Uint32Array): Promise<void>;

  /** Element-wise homomorphic operations; `scale` multiplies each plaintext by an unsigned scalar below n. */
  add(a: ResidentVector, b: ResidentVector): Promise<ResidentVector>;
  scale(a: ResidentVector, scalars: PlaintextVector): Promise<ResidentVector>;

  histogram(request: HistogramRequest): Promise<ResidentVector>;
  runningSums(request: RunningSumsRequest): Promise<ResidentVector>;
  /** Packed and re-randomised with a fresh r^n each, as `obfuscators` makes them. */
  pack(request: PackRequest): Promise<ResidentVector>;
  /** Adds a plaintext below n to each plaintext; this hides nothing. */
  addPlaintexts(a: ResidentVector, plaintexts: PlaintextVector): Promise<ResidentVector>;

  /**
   * Fresh r^n mod n^2, r uniform in Z_n^* from the OS: holds against the key owner too (native/public-operations.h says
   * why nothing cheaper does).
   */
  obfuscators(count: number): Promise<ObfuscatorVector>;
  /** Encryption with precomputed obfuscators: (1 + m n) times obfuscator i. Each may be used once. */
  sealWith(plaintexts: PlaintextVector, obfuscators: ObfuscatorVector): Promise<ResidentVector>;
  /** Textbook encryption with the public key only: (1 + m n) r^n mod n^2. */
  encrypt(plaintexts: PlaintextVector): Promise<ResidentVector>;
}

/** Some of the exponents of one draw. */
export interface ExponentPart {
  readonly random: SecureRandom;
  readonly drawn: number;
  readonly first: number;
  readonly count: number;
}

export interface PrivateEvaluator {
  readonly key: PrivateKey;
  readonly kernelName: string;
  /** Workers compute, so several concurrent calls keep them busy. Left out: this process computes. */
  readonly isElsewhere?: boolean;
  /**
   * Key-owner encryption modulo p^2 and q^2 with fixed-base tables; exponents according to the evaluator's options,
   * from the operating system.
   */
  encrypt(plaintexts: PlaintextVector): Promise<CiphertextVector>;
  /** With exponents of given draws: for each part, `count` of the `drawn`, from `first` on. */
  encryptDrawn(plaintexts: PlaintextVector, parts: readonly ExponentPart[]): Promise<CiphertextVector>;
  /**
   * With exponents that nonces.ts has drawn: g_p^e mod p^2 and g_q^e' mod q^2. They may be narrower than the primes.
   */
  encryptWithExponents(plaintexts: PlaintextVector, exponents: OwnerExponents): Promise<CiphertextVector>;
  /** CRT decryption. Elements of the result are key.publicKey.plaintextBytes wide. */
  decrypt(ciphertexts: CiphertextVector): Promise<PlaintextVector>;
  /** The unique x with x^n = value modulo n, for each value below n; plaintextBytes wide. */
  nthRoots(values: PlaintextVector): Promise<PlaintextVector>;
}

/** Sum of the gradients of `instances` per feature and bin. */
export interface HistogramRequest {
  /** Instance i's ciphertexts are elements i * ciphertextsPerInstance + j. */
  readonly gradients: ResidentVector;
  readonly ciphertextsPerInstance: number;
  readonly instances: Uint32Array;
  /** Per feature: the bin of every instance (indexed by instance, not by position in `instances`). */
  readonly bins: readonly Uint16Array[];
  /** Per feature: number of bins, the one for missing values included. */
  readonly binCounts: Uint32Array;
  /** Per feature: a bin that is left out of the sums, or -1. */
  readonly skippedBins: Int32Array;
  /** Sum groups of features in joint bins where that is cheaper; the result is the same. Default: true. */
  readonly jointBins?: boolean;
}
/* The result has sum(binCounts) * ciphertextsPerInstance elements: feature by feature, bin by bin, ciphertext by
   ciphertext. Empty and skipped bins hold the neutral element (an unobfuscated zero). */

/** Chains of additions: each step adds one source element to the chain's sum and may write the sum to the result. */
export interface RunningSumsRequest {
  readonly source: ResidentVector;
  /** Chain c consists of the steps chainOffsets[c] .. chainOffsets[c+1]-1; its sum starts at zero. */
  readonly chainOffsets: Uint32Array;
  /** Per step: index of the element that is added. */
  readonly sources: Uint32Array;
  /** Per step: index in the result to which the running sum is written, or -1. Each index is written exactly once. */
  readonly targets: Int32Array;
  readonly targetCount: number;
}

/** Horner packing: result e holds the plaintext sum over k of source[e * perCiphertext + k] * 2^(strideBits * k). */
export interface PackRequest {
  readonly source: ResidentVector;
  readonly strideBits: number;
  readonly perCiphertext: number;
}
