/**
 * A passive party receives a round's gradients: the sample, and chunks of ciphertexts. Their digest is stored before
 * the round begins (received-gradients.ts), and a round that is redone has the same gradients, byte for byte.
 */
import { TandemError } from "../../base/error.ts";
import { RoundDigest } from "../../messages/gradients.ts";
import type { SentPassive } from "../../scheme/sent-scheme.ts";
import type { ActiveGradients } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { digests } from "../chain/digests.ts";
import type { Attempt } from "../passive/attempt.ts";
import { sampleDigest } from "../passive/digests.ts";
import type { BegunRound } from "../passive/progress.ts";
import { RoundOpening } from "../passive/round-opening.ts";
import type { SignedGradients } from "../passive/round-store.ts";
import type { AnswerStore } from "./passive-answers.ts";
import type { NodeSplitRules } from "./passive-split-rules.ts";

/** Begins the first tree of a round, after its first chunk has arrived. */
type BeginTree = (first: ActiveGradients) => void;
/** These gradients were received before, for the round that began with this tree. */
type Repeats = (first: ActiveGradients, firstTree: number) => void;

export class RoundGradients {
  readonly #attempt: Attempt;
  readonly #scheme: SentPassive;
  readonly #store: AnswerStore;
  readonly #rules: NodeSplitRules;
  readonly #beginTree: BeginTree;
  readonly #repeats: Repeats;
  readonly #opening: RoundOpening;
  /** Of the round that began with this tree. */
  #digest: Uint8Array | null = null;
  #taking: { readonly tree: number; readonly taken: Promise<void> } | null = null;

  constructor(
    attempt: Attempt,
    scheme: SentPassive,
    store: AnswerStore,
    rules: NodeSplitRules,
    beginTree: BeginTree,
    repeats: Repeats,
  ) {
    this.#repeats = repeats;
    this.#attempt = attempt;
    this.#scheme = scheme;
    this.#store = store;
    this.#rules = rules;
    this.#beginTree = beginTree;
    this.#opening = new RoundOpening(attempt);
  }

  /** Of the current round, as the active party has signed it. */
  get digest(): Uint8Array {
    if (this.#digest === null) throw new TandemError("PROTOCOL_STATE", "the gradients of this round are incomplete");
    return this.#digest;
  }

  /** A duplicate of gradients is read to its end and changes nothing; it must be the same. */
  async take(chunks: AsyncIterable<ActiveGradients>): Promise<void> {
    const { course } = this.#attempt;
    course.expect("ready", "loading", "growing", "storing");
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      const first = await iterator.next();
      if (first.done === true) throw new TandemError("PROTOCOL_STATE", "gradients without a single chunk");
      const { tree } = first.value;
      if (this.#taking?.tree === tree) return await this.#compare(first.value, iterator, this.#taking.taken);
      course.expect("ready");
      checkChunk(first.value, course.tree + 1, 0);
      this.#opening.check(tree, first.value);
      const taken = this.#opening.open(tree, () => this.#take(first.value, iterator));
      const taking = (this.#taking = { tree, taken });
      await taken.catch((error: unknown) => {
        if (this.#taking === taking) this.#taking = null;
        throw error;
      });
    } finally {
      await iterator.return?.();
    }
  }

  /** Both parties record a call that succeeds, so no other gradients than those that were taken may succeed. */
  async #compare(first: ActiveGradients, rest: AsyncIterator<ActiveGradients>, taken: Promise<void>): Promise<void> {
    const copy = await this.#read(first, rest, async () => {});
    await taken;
    const { received, progress } = this.#attempt;
    await received.accept(copy);
    if (progress.current.round?.sample !== sampleDigest(first))
      throw new TandemError("PROTOCOL_STATE", `the round of tree ${first.tree} was begun with another sample`);
  }

  async #take(first: ActiveGradients, rest: AsyncIterator<ActiveGradients>): Promise<void> {
    const { course, job } = this.#attempt;
    const { tree, sampled } = first;
    course.edge("send", true);
    this.#digest = null;
    try {
      this.#checkSample(sampled);
      this.#beginTree(first);
      await job.admitRound?.(tree);
      const received = await this.#read(first, rest, (chunk) => this.#takeChunk(chunk));
      await this.#scheme.endOfGradients();
      const firstTree = await this.#attempt.received.accept(received);
      this.#digest = received.digest;
      if (firstTree !== tree) this.#repeats(first, firstTree);
      await this.#begin({ tree, sample: sampleDigest(first) });
    } finally {
      course.edge("send", false);
    }
  }

  /** From now on no earlier round is redone, and this one only with this sample. */
  async #begin(begun: BegunRound): Promise<void> {
    const { progress, job, setUpDigest } = this.#attempt;
    const { round } = progress.current;
    if (round?.tree !== begun.tree) {
      await progress.update(() => ({ setUp: setUpDigest, round: begun }));
      if (round !== null) await job.roundStore?.forget(round.tree);
    }
    await this.#store.begin(begun.tree);
    this.#rules.beginTree(begun.tree);
  }

  /** @returns their digest, and the active party's signature */
  async #read(
    first: ActiveGradients,
    rest: AsyncIterator<ActiveGradients>,
    take: (chunk: ActiveGradients) => Promise<void>,
  ): Promise<SignedGradients> {
    const { tree } = first;
    const round = new RoundDigest(digests);
    let count = 0;
    for (let next: IteratorResult<ActiveGradients> = { value: first }; ; next = await rest.next()) {
      if (next.done === true) throw new TandemError("PROTOCOL_STATE", `the gradients of tree ${tree} have no end`);
      const chunk = next.value;
      checkChunk(chunk, tree, count);
      if (count > 0 && (chunk.sampled.length > 0 || chunk.colsampleBytree !== 0))
        throw new TandemError("PROTOCOL_STATE", "a second sample of one tree");
      round.add(chunk);
      if (count > this.#attempt.job.instanceCount)
        throw new TandemError("PROTOCOL_STATE", `the gradients of tree ${tree} are in more chunks than instances`);
      if (chunk.last) return { tree, node: null, digest: round.digest, signature: chunk.signature };
      await take(chunk);
      count++;
    }
  }

  async #takeChunk(chunk: ActiveGradients): Promise<void> {
    const { scheme, bases } = chunk;
    if (bases.length === 0) {
      this.#attempt.tally.see("gradients", chunk, await this.#scheme.gradients(scheme));
      return;
    }
    if (scheme.length > 0 || this.#scheme.bases === undefined)
      throw new TandemError("PROTOCOL_STATE", "a message with bases that does not belong to this scheme");
    await this.#scheme.bases(bases);
    this.#attempt.tally.see("gradients", chunk, 0);
  }

  /** Validation rows are never summed: their values may have no bin. */
  #checkSample(sampled: Uint8Array): void {
    const areSummed = this.#attempt.heldBack.some(
      (rows, i) => (rows & (sampled.length === 0 ? 255 : sampled[i])) !== 0,
    );
    if (areSummed) throw new TandemError("PROTOCOL_STATE", "a sample with validation rows");
  }
}

function checkChunk(chunk: ActiveGradients, tree: number, sequence: number): void {
  if (chunk.tree !== tree || chunk.sequence !== sequence) {
    throw new TandemError(
      "PROTOCOL_STATE",
      `gradients of tree ${chunk.tree}, chunk ${chunk.sequence} arrived out of order`,
    );
  }
}
