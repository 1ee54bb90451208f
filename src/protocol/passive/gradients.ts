/**
 * A round's gradients, as a passive party takes them: who is sampled, and chunk after chunk of ciphertexts. A round
 * that is redone has the same sample. Where answers have noise it has the same gradients too, whatever comes this time:
 * the noise of a node is that of its parent less its sibling's, so three answers with three gradients would cancel it.
 */
import { TandemError } from "../../base/error.ts";
import { gradientsSeen } from "../../privacy/observation.ts";
import type { ActiveGradients } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { nodesOfJob } from "../hidden-nodes.ts";
import { treeCountOf } from "../job-parameters.ts";
import type { Attempt } from "./attempt.ts";
import { sampleDigest } from "./digests.ts";
import type { BegunRound } from "./progress.ts";

export class RoundGradients {
  readonly #attempt: Attempt;
  /** Of the round that began with this tree. */
  #taking: { readonly tree: number; readonly taken: Promise<void> } | null = null;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** Whether some came in this attempt. */
  get haveCome(): boolean {
    return this.#taking !== null;
  }

  /** A second copy of gradients that are being taken, or have been, is read to its end and changes nothing. */
  async take(chunks: AsyncIterable<ActiveGradients>): Promise<void> {
    const { course } = this.#attempt;
    course.expect("ready", "loading", "growing", "storing");
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      const first = await iterator.next();
      if (first.done === true) throw new TandemError("PROTOCOL_STATE", "gradients without a single chunk");
      const { tree } = first.value;
      if (this.#taking?.tree === tree) {
        const { taken } = this.#taking;
        while ((await iterator.next()).done !== true);
        return await taken;
      }
      course.expect("ready");
      this.#checkRound(first.value);
      const taken = this.#take(first.value, iterator);
      const taking = (this.#taking = { tree, taken });
      await taken.catch((error: unknown) => {
        if (this.#taking === taking) this.#taking = null;
        throw error;
      });
    } finally {
      await iterator.return?.();
    }
  }

  #checkRound(first: ActiveGradients): void {
    const { job, course, progress } = this.#attempt;
    const treeCount = treeCountOf(job.agreed);
    if (course.tree + 1 >= treeCount)
      throw new TandemError("PROTOCOL_STATE", `${treeCount} trees were agreed, not more`);
    if (progress.current.testRows !== null)
      throw new TandemError("PROTOCOL_STATE", "predictions were asked for: the training of this job is over");
    checkChunk(first, course.tree + 1, 0);
    this.#checkColumns(first.colsampleBytree);
    const { round } = progress.current;
    if (round?.tree === first.tree && round.sample !== sampleDigest(first))
      throw new TandemError("PROTOCOL_STATE", `the round of tree ${first.tree} was begun with another sample`);
  }

  /** Fewer columns than were agreed on would show which candidates are drawn together. */
  #checkColumns(rate: number): void {
    const { colsampleBytree: agreed } = this.#attempt.job.agreed;
    if (rate === 0 || (rate >= agreed && rate <= 1 && rate !== agreed)) return;
    throw new TandemError("PROTOCOL_STATE", `colsample_bytree of a round is ${rate}, where ${agreed} was agreed on`);
  }

  /** If it fails, the round has not begun. */
  async #take(first: ActiveGradients, rest: AsyncIterator<ActiveGradients>): Promise<void> {
    const { job, course, answered, rules, isHidden } = this.#attempt;
    const { tree, sampled } = first;
    course.phase = "loading";
    course.tree = tree;
    course.level = 0;
    answered.beginTree();
    job.observer.gradientsBegan(tree);
    course.edge("send", true);
    try {
      this.#checkSample(sampled);
      if (isHidden) await this.#openHidden(first, rest);
      else await this.#openTold(first, rest);
      rules.beginTree(tree);
      if (course.phase === "loading") course.phase = "growing";
    } catch (error) {
      if (course.phase === "loading") [course.phase, course.tree] = ["ready", tree - 1];
      throw error;
    } finally {
      course.edge("send", false);
    }
  }

  async #openTold(first: ActiveGradients, rest: AsyncIterator<ActiveGradients>): Promise<void> {
    const { tree } = first;
    this.#beginTree(first);
    await this.#attempt.job.admitRound?.(tree);
    const chunks = await this.#load(first, rest);
    await this.#begin({ tree, sample: sampleDigest(first), chunks });
  }

  /** There is nothing to load, and what is stored of the round is stored at once. */
  async #openHidden(first: ActiveGradients, rest: AsyncIterator<ActiveGradients>): Promise<void> {
    const { job, told } = this.#attempt;
    await this.#load(first, rest);
    // Both before anything is answered; in which order does not matter.
    const stored = await Promise.allSettled([job.admitRound?.(first.tree), this.#reserveNodes(first)]);
    for (const each of stored) if (each.status === "rejected") throw each.reason;
    this.#beginTree(first);
    await told.begin(first.tree);
  }

  #beginTree({ tree, sampled, colsampleBytree: columnRate }: ActiveGradients): void {
    const { trees, limit, splits, job } = this.#attempt;
    const nodes = trees.begin(tree, sampled, limit.beginTree(tree, splits), columnRate);
    this.#checkSampleSize(nodes.sample.count);
    job.scheme.beginRound(nodes);
  }

  /** From here on no earlier round is redone, and this one only with this sample. */
  async #begin(begun: BegunRound): Promise<void> {
    const { progress, told, job, setUpDigest } = this.#attempt;
    const { round } = progress.current;
    if (round?.tree !== begun.tree) {
      await progress.update(() => ({ setUp: setUpDigest, round: begun }));
      if (round !== null) await job.roundStore?.forget(round.tree);
    }
    await told.begin(begun.tree);
  }

  /**
   * Before a node of the round is answered all of them are counted, also if the round is redone: a job's secrets wear
   * off with every answer. With noise a round that is redone gets other noise, and may be split otherwise.
   */
  async #reserveNodes(first: ActiveGradients): Promise<void> {
    const { tree } = first;
    const { progress, job, trees, setUpDigest: setUp } = this.#attempt;
    const round = { tree, sample: sampleDigest(first), chunks: null };
    const most = nodesOfJob(job.agreed);
    await progress.update(({ nodesReserved, splits, trees: finished }) => {
      const reserved = nodesReserved + trees.nodesAskedMax * job.agreed.treesPerRound;
      if (reserved > most)
        throw new TandemError(
          "POLICY",
          `this job may ask ${job.name} for ${most} nodes in all its attempts, and they are used up. ` +
            "Begin anew under another name",
        );
      const begun = { nodesReserved: reserved, setUp, round };
      if (job.agreed.answerNoise === 0) return begun;
      const before = splits.filter((split) => split.tree < tree);
      return { ...begun, splits: before, trees: Math.min(finished, tree) };
    });
  }

  /** @returns how many chunks are kept; null: none need be */
  async #load(first: ActiveGradients, rest: AsyncIterator<ActiveGradients>): Promise<number | null> {
    const { job, progress, isHidden } = this.#attempt;
    const { scheme, roundStore = null, agreed } = job;
    const { tree } = first;
    const { round } = progress.current;
    const kept = round?.tree === tree ? round.chunks : null;
    const keeps = roundStore !== null && agreed.answerNoise > 0 && kept === null && !isHidden;
    let count = 0;
    for (let next: IteratorResult<ActiveGradients> = { value: first }; next.done !== true; next = await rest.next()) {
      const chunk = next.value;
      checkChunk(chunk, tree, count);
      if (count > 0 && (chunk.sampled.length > 0 || chunk.colsampleBytree !== 0))
        throw new TandemError("PROTOCOL_STATE", "a second sample of one tree");
      if (count > 0 && isHidden)
        throw new TandemError("PROTOCOL_STATE", "gradients of a round, where nodes have their own");
      if (kept === null) await this.#takeChunk(chunk); // what the scheme refuses is not stored
      if (keeps) await roundStore.writeGradients(tree, count, chunk.scheme);
      count++;
    }
    for (let i = 0; i < (kept ?? 0); i++) {
      const message = await roundStore?.readGradients(tree, i);
      if (!message) throw new TandemError("CHECKPOINT", "the gradients of this round are no longer stored");
      await this.#takeChunk({ ...first, sequence: i, scheme: message });
    }
    await scheme.endOfGradients();
    return keeps ? count : kept;
  }

  async #takeChunk(chunk: ActiveGradients): Promise<void> {
    const { tally, job } = this.#attempt;
    tally.see(gradientsSeen(chunk, await job.scheme.gradients(chunk.scheme)));
  }

  /** Validation rows are never summed: what they hold may have no bin, and their owner counts on it. */
  #checkSample(sampled: Uint8Array): void {
    if (this.#attempt.isHidden) {
      if (sampled.length > 0) throw new TandemError("PROTOCOL_STATE", "a sample, which this scheme hides");
      return; // they are not among the rows that are summed
    }
    const areSummed = this.#attempt.heldBack.some(
      (rows, i) => (rows & (sampled.length === 0 ? 255 : sampled[i])) !== 0,
    );
    if (areSummed) throw new TandemError("PROTOCOL_STATE", "a sample with rows that are held back for validation");
  }

  /** Sums over few people are easily taken apart. */
  #checkSampleSize(count: number): void {
    const { name, sampleMin = 1 } = this.#attempt.job;
    if (count < sampleMin)
      throw new TandemError(
        "POLICY",
        `the policy of ${name} does not allow this tree: it sums ${count} people, at least ${sampleMin} are allowed`,
      );
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
