/**
 * The active half of the lattice scheme. Every node is encrypted under its own secret, with zeros for instances outside
 * the node; so passive parties see one ciphertext record per row at every node, and nothing else. A node that is
 * requested again in a later attempt is the same bytes: its secret follows from the seed of the job and the plaintexts.
 *
 * @reveals passive: how many nodes of a tree are requested, where members are hidden
 */
import { TandemError } from "../../base/error.ts";
import { columnCount, type GradientLayout } from "../../codec/layout.ts";
import type { LatticeKernel } from "../../crypto/lattice/kernel.ts";
import { LatticeSumsSchema } from "../../wire/generated/tandem/v1/lattice_pb.ts";
import { checkBitmap, isSet } from "../../wire/bitmap.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import { newShares, setShare } from "../candidates/node-masks.ts";
import type { HiddenActive, HiddenActiveJob, HiddenNode } from "../hidden-scheme.ts";
import { type AskedOfPeer, type GradientChunk, noOperations, type SchemeParameters } from "../scheme.ts";
import { ActiveAttempt } from "./active-attempt.ts";
import { latticeSchemeName } from "./scheme-name.ts";

/** Unlike with Paillier no key limits the plaintext: the sums of a job are bounded by its number of rows. */
export const latticePlaintextBits = 4096;

export class LatticeActive implements HiddenActive {
  readonly name = latticeSchemeName;
  readonly membership = "hidden";
  readonly counts = noOperations();
  readonly parameters: SchemeParameters = {};
  readonly plaintextBitsMax = latticePlaintextBits;
  proof: readonly string[] = [];
  readonly #kernel: LatticeKernel;
  readonly #threads: number;
  readonly #jobSeed: Uint8Array;
  #attempt: ActiveAttempt | null = null;

  constructor(kernel: LatticeKernel, threads: number, jobSeed: Uint8Array) {
    this.#kernel = kernel;
    this.#threads = threads;
    this.#jobSeed = jobSeed;
  }

  /** The same message in every attempt at the job. */
  async setUp(job: HiddenActiveJob): Promise<Uint8Array> {
    this.#attempt?.close();
    this.#attempt = new ActiveAttempt(this.#kernel, this.#threads, this.#jobSeed, job);
    this.proof = this.#attempt.proof;
    return this.#attempt.setUpMessage;
  }

  hints(peer: number, candidateCount: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#current.hints(peer, candidateCount, pieces);
  }

  async *seal(node: HiddenNode): AsyncGenerator<GradientChunk> {
    for await (const chunk of this.#current.seal(node)) {
      this.counts.encryptions += chunk.ciphertexts;
      yield chunk;
    }
  }

  endTree(tree: number): void {
    this.#attempt?.endTree(tree);
  }

  async sums(
    layout: GradientLayout,
    message: Uint8Array,
    counts: readonly number[],
    asked: AskedOfPeer,
  ): Promise<Float64Array> {
    const candidates = counts.flatMap((count, i) => (count === 0 ? [] : [i]));
    const byOutput = await this.#opened(message, candidates.length, asked);
    const sums = new Float64Array(counts.length * columnCount(layout));
    for (const { output, pairs } of byOutput) {
      candidates.forEach((candidate, i) => {
        const row = candidate * columnCount(layout) + 2 * output;
        sums[row] = pairs[2 * i];
        sums[row + 1] = pairs[2 * i + 1];
      });
    }
    return sums;
  }

  get maskBits(): number {
    return this.#current.maskBits;
  }

  async shares(layout: GradientLayout, message: Uint8Array, count: number, asked: AskedOfPeer): Promise<Uint32Array[]> {
    const shares = layout.slots.map(() => newShares(count));
    const decoder = this.#current.shareDecoder;
    for (const { output, pairs } of await this.#opened(message, count, asked))
      for (let i = 0; i < pairs.length; i++) setShare(shares[2 * output + (i % 2)], i >>> 1, decoder.share(pairs[i]));
    return shares;
  }

  /** Per output of the tree what the answer holds of each of its candidates. */
  async #opened(message: Uint8Array, count: number, asked: AskedOfPeer): ReturnType<ActiveAttempt["open"]> {
    const { words, answered } = decodeMessage(LatticeSumsSchema, message);
    const hintCount = this.#current.hintCount(asked.peer);
    const places = answered.length === 0 ? null : placesIn(answered, hintCount);
    if (count !== (places?.length ?? hintCount))
      throw new TandemError("PROTOCOL_STATE", "an answer has different candidates than its node");
    const byOutput = await this.#current.open(asked, words, places);
    this.counts.decryptions += count * byOutput.length;
    this.counts.candidateCiphertexts += count * byOutput.length;
    return byOutput;
  }

  close(): void {
    this.#attempt?.close();
    this.#attempt = null;
  }

  get #current(): ActiveAttempt {
    if (this.#attempt === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#attempt;
  }
}

function placesIn(bitmap: Uint8Array, count: number): Uint32Array {
  checkBitmap(bitmap, count);
  return Uint32Array.from({ length: count }, (_, i) => i).filter((i) => isSet(bitmap, i));
}
