/**
 * The active half of the lattice scheme. Every node is sealed anew, under a secret of its own, with zeros for whoever
 * is not in it; so passive parties see records of every row at every node, and nothing else.
 *
 * @reveals passive: how many nodes of a tree are asked for, where members are hidden
 */
import { TandemError } from "../../base/error.ts";
import { columnCount, type GradientLayout } from "../../codec/layout.ts";
import type { LatticeKernel } from "../../crypto/lattice/kernel.ts";
import { LatticeSumsSchema } from "../../wire/generated/tandem/v1/lattice_pb.ts";
import { checkBitmap, isSet } from "../../wire/bitmap.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import {
  type ActiveHidden,
  type ActiveScheme,
  type ActiveSchemeJob,
  type AskedOfPeer,
  type GradientChunk,
  noOperations,
  type SchemeParameters,
} from "../scheme.ts";
import { ActiveAttempt } from "./active-attempt.ts";
import { latticeSchemeName } from "./scheme-name.ts";

/** No plaintext is cut by a key: the sums of a job are bounded by its number of rows. */
export const latticePlaintextBits = 4096;

export class LatticeActive implements ActiveScheme {
  readonly name = latticeSchemeName;
  readonly counts = noOperations();
  readonly parameters: SchemeParameters = {};
  readonly plaintextBitsMax = latticePlaintextBits;
  readonly hidden: ActiveHidden = {
    hints: (peer, candidateCount, pieces) => this.#current.hints(peer, candidateCount, pieces),
    seal: (node) => this.#counted(this.#current.seal(node)),
    endTree: (tree) => this.#attempt?.endTree(tree),
  };
  proof: readonly string[] = [];
  readonly #kernel: LatticeKernel;
  readonly #threads: number;
  #attempt: ActiveAttempt | null = null;

  constructor(kernel: LatticeKernel, threads: number) {
    this.#kernel = kernel;
    this.#threads = threads;
  }

  /** Everything is drawn anew: nothing of an earlier attempt is used again. */
  async setUp(job: ActiveSchemeJob): Promise<Uint8Array> {
    this.#attempt?.close();
    this.#attempt = new ActiveAttempt(this.#kernel, this.#threads, job);
    this.proof = this.#attempt.proof;
    return this.#attempt.setUpMessage;
  }

  /** A round is opened by an empty message: every node has gradients of its own. */
  async *gradients(): AsyncGenerator<GradientChunk> {
    yield { message: new Uint8Array(0), ciphertexts: 0 };
  }

  expectTree(): void {
    this.#attempt?.expectTree();
  }

  node(): Uint8Array {
    return new Uint8Array(0);
  }

  async sums(
    layout: GradientLayout,
    message: Uint8Array,
    counts: readonly number[],
    asked: AskedOfPeer,
  ): Promise<Float64Array> {
    const { words, answered } = decodeMessage(LatticeSumsSchema, message);
    const hintCount = this.#current.hintCount(asked.peer);
    const places = answered.length === 0 ? null : placesIn(answered, hintCount);
    const candidates = counts.flatMap((count, i) => (count === 0 ? [] : [i]));
    if (candidates.length !== (places?.length ?? hintCount))
      throw new TandemError("PROTOCOL_STATE", "an answer has other candidates than its node");
    const byOutput = await this.#current.open(asked, words, places);
    const sums = new Float64Array(counts.length * columnCount(layout));
    for (const { output, pairs } of byOutput) {
      candidates.forEach((candidate, i) => {
        const row = candidate * columnCount(layout) + 2 * output;
        sums[row] = pairs[2 * i];
        sums[row + 1] = pairs[2 * i + 1];
      });
    }
    this.counts.decryptions += candidates.length * byOutput.length;
    this.counts.candidateCiphertexts += candidates.length * byOutput.length;
    return sums;
  }

  close(): void {
    this.#attempt?.close();
    this.#attempt = null;
  }

  async *#counted(chunks: AsyncIterable<GradientChunk>): AsyncGenerator<GradientChunk> {
    for await (const chunk of chunks) {
      this.counts.encryptions += chunk.ciphertexts;
      yield chunk;
    }
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
