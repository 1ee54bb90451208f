/**
 * The passive party's state machine for one attempt at a job: one handler per message of proto/, each of which checks
 * that the message is allowed now before it changes anything. A message that arrives twice gets the same answer, or is
 * refused without harm. The role knows no network; a transport calls it. It never sees a label, and of its own splits
 * it gives away only their outcome.
 *
 * @reveals active: number of features and of split candidates; for each split that a passive party wins, which side
 *   each person of the node falls on; of features with monotone constraints, which candidates they are, and the sign
 *   where one splits
 */
import { equals, type MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/exclusive.ts";
import {
  type ActiveGradients,
  type ActiveHello,
  ActiveHelloSchema,
  type ActiveJobFinished,
  type ActiveNode,
  type ActiveOrder,
  type ActivePredict,
  type ActiveSetUp,
  ActiveSetUpSchema,
  type ActiveSplitDecisions,
  type ActiveTreeFinished,
  type PassiveHelloSchema,
  type PassiveHistogramsSchema,
  type PassiveOrderSchema,
  type PassiveReadySchema,
  type PassiveSplitSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type {
  ActiveMaskOpen,
  ActiveMaskStep,
  PassiveMaskOpenedSchema,
  PassiveMaskStepSchema,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import { firstTreeOf, treeCountOf } from "../job-parameters.ts";
import {
  candidatesSeen,
  gradientsSeen,
  idsSeen,
  membersSeen,
  orderSeen,
  outcomeSeen,
  predictionSeen,
  sumsSeen,
  winSeen,
} from "../../privacy/observation.ts";
import { Tally } from "../../privacy/tally.ts";
import type { NodeTask } from "../../scheme/candidates/node-task.ts";
import { decideSplit } from "./decide-split.ts";
import { checkHello } from "./hello-check.ts";
import { histogramAnswer } from "./histogram-answer.ts";
import { MaskedPredictions } from "./masked-predictions.ts";
import { outcomeMessage, outcomesOfIds, outcomesOfInstances } from "./predictions.ts";
import { toldOrder } from "./told-order.ts";
import { PassiveTrees } from "./trees.ts";
import { ThresholdLimit } from "./threshold-limit.ts";
import { countSet } from "../../wire/bitmap.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { PassiveJob } from "./job.ts";
import type { Phase as Work } from "../phase.ts";
import { noProgress, type OwnSplit, AnsweredSplits } from "./answered-splits.ts";
import { protocolVersion } from "../../wire/version.ts";

export type { OwnSplit } from "./answered-splits.ts";
export type { PassiveJob, PassiveObserver } from "./job.ts";

/**
 * What the party is doing: "loading" takes a tree's gradients, "growing" answers for its nodes; "finished" has ended
 * well, "given up" has not.
 */
type Phase = "waiting" | "joined" | "ready" | "loading" | "growing" | "finished" | "given up";

export class PassiveRole {
  readonly #job: PassiveJob;
  readonly #answered: AnsweredSplits;
  readonly #limit: ThresholdLimit;
  /** Whatever changes the answered splits waits for its turn. */
  readonly #turns = new Exclusive();
  #phase: Phase = "waiting";
  /** The tree under way, or the last one that both sides have, the active party's own among them. */
  #tree: number;
  #joined: { readonly hello: ActiveHello; readonly answer: MessageInitShape<typeof PassiveHelloSchema> } | null = null;
  #setUp: { readonly message: ActiveSetUp; readonly answer: MessageInitShape<typeof PassiveReadySchema> } | null = null;
  /** Of the round that began with this tree. */
  #gradients: { readonly tree: number; readonly taken: Promise<void> } | null = null;
  /** How many trees the model keeps; known at the end. */
  #kept: number | null = null;
  /** How often nodes of the current tree were asked for. */
  #level = 0;
  /** Known after set-up. */
  #trees: PassiveTrees | null = null;
  /** What either end has seen of the other in this attempt. */
  readonly tally: Tally;
  readonly #masked: MaskedPredictions;

  constructor(job: PassiveJob) {
    this.#job = job;
    this.tally = new Tally(job.observer.observed);
    this.#masked = new MaskedPredictions(job, this.tally);
    this.#tree = firstTreeOf(job.agreed) - 1;
    this.#answered = new AnsweredSplits(
      job.progress ?? noProgress,
      job.store ?? (() => Promise.resolve()),
      job.agreed.treesPerRound,
    );
    this.#limit = new ThresholdLimit(job.agreed.maxThresholds, this.#splits);
  }

  /** How many trees the model has; null before the job's end. */
  get treesKept(): number | null {
    return this.#kept;
  }

  get ownSplits(): readonly OwnSplit[] {
    const kept = this.#kept ?? Infinity;
    return this.#splits.filter(({ tree }) => tree < kept);
  }

  /** Those of a start model first. */
  get #splits(): readonly OwnSplit[] {
    return [...(this.#job.start ?? []).map(({ split }) => split), ...this.#answered.splits];
  }

  /** Finished trees, those of a start model and the active party's own among them. */
  get #stored(): number {
    return Math.max(this.#answered.trees, firstTreeOf(this.#job.agreed));
  }

  /** @throws TandemError HANDSHAKE_MISMATCH, ID_MISMATCH or CHECKPOINT naming what differs */
  join(hello: ActiveHello): MessageInitShape<typeof PassiveHelloSchema> {
    if (this.#joined !== null && equals(ActiveHelloSchema, this.#joined.hello, hello)) return this.#joined.answer;
    this.#expect("waiting");
    const job = this.#job;
    const trees = this.#stored;
    checkHello(hello, job, trees);
    this.#tree = Math.max(hello.trees, firstTreeOf(job.agreed)) - 1;
    this.#phase = job.finished === true ? "finished" : "joined";
    const answer = {
      protocolVersion,
      passiveName: job.name,
      featureCount: job.features.length,
      trees,
      finished: job.finished === true,
    };
    this.#joined = { hello, answer };
    job.observer.joined(peerText(hello.activeName));
    return answer;
  }

  setUp(setUp: ActiveSetUp): MessageInitShape<typeof PassiveReadySchema> {
    if (this.#setUp !== null && equals(ActiveSetUpSchema, this.#setUp.message, setUp)) return this.#setUp.answer;
    this.#expect("joined");
    const { instanceCount, scheme, agreed } = this.#job;
    const trees = new PassiveTrees(this.#job, setUp.skipBin, countSet(this.#heldBack, instanceCount));
    const { candidateCount, nodesAskedMax } = trees;
    const { schemeParameters: parameters, treesPerRound } = agreed;
    scheme.setUp(setUp.scheme, {
      parameters,
      instanceCount,
      candidateCount,
      nodesAskedMax,
      treesPerRound,
      terms: agreed,
      allowsUnpacked: this.#job.allowsUnpacked ?? false,
    });
    this.#trees = trees;
    const answer = { candidateCount, monotone: this.#isMonotone };
    this.#setUp = { message: setUp, answer };
    this.#phase = "ready";
    this.tally.see(candidatesSeen(candidateCount));
    return answer;
  }

  /** A second copy of gradients that are being taken, or have been, is read to its end and changes nothing. */
  async gradients(chunks: AsyncIterable<ActiveGradients>): Promise<void> {
    if (this.#phase !== "loading" && this.#phase !== "growing") this.#expect("ready");
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      const first = await iterator.next();
      if (first.done === true) throw new TandemError("PROTOCOL_STATE", "gradients without a single chunk");
      const { tree } = first.value;
      if (this.#gradients?.tree === tree) {
        const { taken } = this.#gradients;
        while ((await iterator.next()).done !== true);
        return await taken;
      }
      this.#expect("ready");
      const treeCount = treeCountOf(this.#job.agreed);
      if (this.#tree + 1 >= treeCount)
        throw new TandemError("PROTOCOL_STATE", `${treeCount} trees were agreed, not more`);
      this.#checkChunk(first.value, this.#tree + 1, 0);
      const taken = this.#take(first.value, iterator);
      const taking = (this.#gradients = { tree, taken });
      await taken.catch((error: unknown) => {
        if (this.#gradients === taking) this.#gradients = null;
        throw error;
      });
    } finally {
      await iterator.return?.();
    }
  }

  /** If it fails, the round has not begun. */
  async #take(first: ActiveGradients, rest: AsyncIterator<ActiveGradients>): Promise<void> {
    const { scheme, observer } = this.#job;
    const { tree } = first;
    this.#phase = "loading";
    this.#tree = tree;
    this.#answered.beginTree();
    this.#level = 0;
    observer.gradientsBegan(tree);
    this.#edge("send", true);
    try {
      this.#checkSample(first.sampled);
      const nodes = this.#grown.begin(tree, first.sampled, this.#limit.beginTree(tree, this.#splits));
      this.#checkSampleSize(nodes.sample.count);
      await this.#job.admitRound?.(tree);
      scheme.beginRound(nodes);
      await this.#takeChunk(first);
      for (let sequence = 1; ; sequence++) {
        const next = await rest.next();
        if (next.done === true) break;
        this.#checkChunk(next.value, tree, sequence);
        if (next.value.sampled.length > 0) throw new TandemError("PROTOCOL_STATE", "a second sample of one tree");
        await this.#takeChunk(next.value);
      }
      scheme.endOfGradients();
      if (this.#phase === "loading") this.#phase = "growing";
    } catch (error) {
      if (this.#phase === "loading") [this.#phase, this.#tree] = ["ready", tree - 1];
      throw error;
    } finally {
      this.#edge("send", false);
    }
  }

  /** Validation rows are never summed: what they hold may have no bin, and their owner counts on it. */
  #checkSample(sampled: Uint8Array): void {
    const areSummed = this.#heldBack.some((rows, i) => (rows & (sampled.length === 0 ? 255 : sampled[i])) !== 0);
    if (areSummed) throw new TandemError("PROTOCOL_STATE", "a sample with rows that are held back for validation");
  }

  /** Sums over few people are easily taken apart. */
  #checkSampleSize(count: number): void {
    const { name, sampleMin = 1 } = this.#job;
    if (count < sampleMin)
      throw new TandemError(
        "POLICY",
        `the policy of ${name} does not allow this tree: it sums ${count} people, at least ${sampleMin} are allowed`,
      );
  }

  async #takeChunk(chunk: ActiveGradients): Promise<void> {
    this.tally.see(gradientsSeen(chunk, await this.#job.scheme.gradients(chunk.scheme)));
  }

  #checkChunk(chunk: ActiveGradients, tree: number, sequence: number): void {
    if (chunk.tree !== tree || chunk.sequence !== sequence) {
      throw new TandemError(
        "PROTOCOL_STATE",
        `gradients of tree ${chunk.tree}, chunk ${chunk.sequence} arrived out of order`,
      );
    }
  }

  async *histograms(
    nodes: AsyncIterable<ActiveNode>,
  ): AsyncGenerator<MessageInitShape<typeof PassiveHistogramsSchema>> {
    let work: Work = "aggregate";
    this.#edge(work, true);
    for await (const request of nodes) {
      await this.#job.admitNode?.();
      this.#expectTree(request.tree);
      const task = this.#place(request);
      let firstCandidate = 0;
      for await (const piece of this.#job.scheme.sums(task, request.scheme)) {
        if (work === "aggregate") {
          this.#edge(work, false);
          work = "return";
          this.#edge(work, true);
        }
        const answer = histogramAnswer(request.tree, task, firstCandidate, piece, this.#isMonotone);
        firstCandidate += piece.candidateCount;
        this.tally.see(sumsSeen(answer, null));
        yield answer;
      }
    }
    this.#edge(work, false);
    this.#level++;
  }

  /** Who is in the node is known from here on. */
  #place(request: ActiveNode): NodeTask {
    const { node, members } = request;
    const { current } = this.#grown;
    current.place(node, members);
    this.tally.see(membersSeen(request, members, current.members(node).length));
    return current.task(node);
  }

  /** Asked for where some of its candidates tie: which of them is not said. */
  async *order({ tree, nodes }: ActiveOrder): AsyncGenerator<MessageInitShape<typeof PassiveOrderSchema>> {
    this.#expectTree(tree);
    const { current } = this.#grown;
    for (const node of nodes) {
      for (const piece of toldOrder(current, tree, node)) {
        this.tally.see(orderSeen({ tree, node, ranks: piece.ranks }));
        yield piece;
      }
    }
  }

  /** What is named splits its node. */
  async *splits(request: ActiveSplitDecisions): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>> {
    const answers = await this.#turns.run(async () => {
      this.#expectTree(request.tree);
      const decided = request.decisions.map((decision) =>
        decideSplit(this.#grown.current, this.#job.features, request.tree, decision),
      );
      const own = decided.map(({ split }) => split);
      this.#limit.check(own);
      await this.#answered.keep(decided);
      this.#limit.answered(own);
      return decided;
    });
    for (const decision of request.decisions) this.tally.see(winSeen(request.tree, decision));
    for (const { split, members, leftMembers, monotone } of answers) {
      const answer = { tree: split.tree, node: split.node, leftMembers, monotone };
      this.tally.see(outcomeSeen(answer, members.length));
      yield answer;
    }
  }

  /** Stored before it is answered. The next tree of a round begins at once: its gradients are there. */
  async finishTree(finished: ActiveTreeFinished): Promise<void> {
    await this.#turns.run(async () => {
      const isPast = finished.tree < this.#tree || (finished.tree === this.#tree && this.#phase === "ready");
      if (isPast) return;
      this.#expectTree(finished.tree);
      await this.#answered.finishTree(finished.tree);
      const isLastOfRound = (finished.tree + 1) % this.#job.agreed.treesPerRound === 0;
      if (isLastOfRound) {
        this.#phase = "ready";
        this.#job.scheme.endRound();
      } else {
        this.#tree = finished.tree + 1;
        this.#answered.beginTree();
        const used = this.#limit.beginTree(this.#tree, this.#splits);
        this.#job.scheme.nextTree(this.#grown.next(this.#tree, used));
      }
      this.#level = 0;
      this.#job.observer.treeFinished(finished.tree, this.#answered.splits);
    });
  }

  async *predict(request: ActivePredict): AsyncGenerator<ReturnType<typeof outcomeMessage>> {
    this.#expectPrediction();
    if (this.#job.agreed.maskedScoring)
      throw new TandemError("PROTOCOL_STATE", "this job agreed on masked scoring: no outcome of a split is told");
    const { ids, startInstances } = request;
    if (startInstances && ids.length > 0)
      throw new TandemError("PROTOCOL_STATE", "ids are named beside the job's instances");
    const outcomes = startInstances
      ? outcomesOfInstances(this.#job)
      : outcomesOfIds(this.#job, ids, this.#settledSplits);
    const rowCount = startInstances ? this.#job.instanceCount : ids.length;
    await this.#job.admitScores?.(rowCount);
    if (!startInstances) this.tally.see(idsSeen(ids));
    for (const outcome of outcomes) {
      const message = outcomeMessage(outcome, rowCount);
      this.tally.see(predictionSeen(message, rowCount));
      yield message;
    }
  }

  maskOpen(request: ActiveMaskOpen): MessageInitShape<typeof PassiveMaskOpenedSchema> {
    this.#expectPrediction();
    const start = (this.#job.start ?? []).map(({ split }) => split);
    return this.#masked.open(request, request.startModel ? start : this.#settledSplits);
  }

  maskStep(request: ActiveMaskStep): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    this.#expectPrediction();
    return this.#masked.step(request);
  }

  /** Others are of a round that is yet to be redone. */
  get #settledSplits(): readonly OwnSplit[] {
    return this.#splits.filter((split) => split.tree <= this.#tree);
  }

  /**
   * After success the model keeps its first rounds, all of them without early stopping; the active party may give up at
   * any time before.
   */
  finishJob({ failure, treeCount: kept }: ActiveJobFinished): void {
    if (this.#phase === "finished") {
      if (failure === "" && this.#kept !== null && kept !== this.#kept)
        throw new TandemError("PROTOCOL_STATE", `the job has ended and keeps ${this.#kept} trees, not ${kept}`);
      return;
    }
    if (failure !== "") {
      this.#phase = "given up";
      return;
    }
    if (this.#phase !== "joined") this.#expect("ready");
    const { agreed } = this.#job;
    const grown = this.#tree + 1;
    const fits =
      kept > agreed.startTrees && kept <= grown && kept % agreed.treesPerRound === 0 && this.#stored === grown;
    if (!fits)
      throw new TandemError(
        "PROTOCOL_STATE",
        `the job ends after ${grown} of ${treeCountOf(agreed)} trees and keeps ${kept}`,
      );
    this.#kept = kept;
    this.#phase = "finished";
  }

  get #grown(): PassiveTrees {
    if (this.#trees === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#trees;
  }

  /** Bitmap of the validation rows; empty: none. */
  get #heldBack(): Uint8Array {
    return this.#joined?.hello.validationRows ?? new Uint8Array(0);
  }

  get #isMonotone(): boolean {
    return this.#job.features.some(({ monotone = 0 }) => monotone !== 0);
  }

  #edge(phase: Work, began: boolean): void {
    this.#job.observer.phase?.({ party: this.#job.name, phase, began, tree: this.#tree, level: this.#level });
  }

  #expectPrediction(): void {
    if (this.#phase !== "joined" && this.#phase !== "finished") this.#expect("ready");
  }

  #expect(phase: Phase): void {
    if (this.#phase !== phase) {
      throw new TandemError("PROTOCOL_STATE", `${this.#job.name} is ${this.#phase} and cannot take this message now`);
    }
  }

  #expectTree(tree: number): void {
    this.#expect("growing");
    if (tree !== this.#tree)
      throw new TandemError("PROTOCOL_STATE", `${this.#job.name} is at tree ${this.#tree}, not ${tree}`);
  }
}
