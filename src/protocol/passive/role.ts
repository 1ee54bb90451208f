/**
 * The passive party's state machine for one attempt at a job: one handler per message of proto/, each of which checks
 * that the message is allowed now before it changes anything. A message that arrives twice gets the same answer, or is
 * refused without harm. The role knows no network; a transport calls it. It never sees a label, and of its own splits
 * it gives away only their outcome.
 *
 * The active party may deviate in whatever it says: course.ts, parting-rules.ts, told-answers.ts and test-rows.ts say
 * what it gets then.
 *
 * @reveals active: number of features and of split candidates; for each split that a passive party wins, which side
 *   each person of the node falls on, or everybody of the job where members are hidden; of features with monotone
 *   constraints, which candidates they are, and the sign where one splits; with interaction groups, which of them it
 *   has features in, and for each split that it wins which of those that are open its feature is in
 */
import { equals, type MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import {
  type ActiveGradients,
  type ActiveHello,
  type ActiveHiddenSplits,
  ActiveHelloSchema,
  type ActiveJobFinished,
  type ActiveNode,
  type ActiveOrder,
  type ActiveOutcomeKeys,
  type ActivePredict,
  type ActiveSetUp,
  ActiveSetUpSchema,
  type ActiveSplitDecisions,
  type ActiveTestRows,
  type ActiveTreeFinished,
  type PassiveHelloSchema,
  type PassiveHintsSchema,
  type PassiveReadySchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { ActiveMaskOpen, ActiveMaskStep } from "../../wire/generated/tandem/v1/masked_pb.ts";
import { totalBinCount } from "../../gbdt/split/binning.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { groupsOf } from "../../gbdt/split/interactions.ts";
import { nodesOfJob, nodesPerTree, outputsPerTree, runOf } from "../hidden-nodes.ts";
import { firstTreeOf, treeCountOf } from "../job-parameters.ts";
import { candidatesSeen, hintsSeen } from "../../privacy/observation.ts";
import type { Tally } from "../../privacy/tally.ts";
import { peerText } from "../../wire/peer-text.ts";
import { protocolVersion } from "../../wire/version.ts";
import type { OwnSplit } from "./answered-splits.ts";
import { Attempt } from "./attempt.ts";
import { setUpDigest } from "./digests.ts";
import { RoundGradients } from "./gradients.ts";
import { checkHello } from "./hello-check.ts";
import { HiddenSplits } from "./hidden-splits.ts";
import type { PassiveJob } from "./job.ts";
import { PredictionAnswers } from "./prediction-answers.ts";
import { TreeAnswers } from "./tree-answers.ts";
import { PassiveTrees } from "./trees.ts";

export type { OwnSplit } from "./answered-splits.ts";
export type { PassiveJob, PassiveObserver } from "./job.ts";

export class PassiveRole {
  readonly #job: PassiveJob;
  readonly #attempt: Attempt;
  readonly #gradients: RoundGradients;
  readonly #trees: TreeAnswers;
  readonly #hiddenSplits: HiddenSplits;
  readonly #predictions: PredictionAnswers;
  #joined: { readonly hello: ActiveHello; readonly answer: MessageInitShape<typeof PassiveHelloSchema> } | null = null;
  #setUp: { readonly message: ActiveSetUp; readonly answer: MessageInitShape<typeof PassiveReadySchema> } | null = null;
  /** A set-up that comes twice waits for the first. */
  readonly #turns = new Exclusive();
  /** How many trees the model keeps; known at the end. */
  #kept: number | null = null;

  constructor(job: PassiveJob) {
    this.#job = job;
    this.#attempt = new Attempt(job);
    this.#gradients = new RoundGradients(this.#attempt);
    this.#trees = new TreeAnswers(this.#attempt);
    this.#hiddenSplits = new HiddenSplits(this.#attempt, (request) => this.#trees.decide(request));
    this.#predictions = new PredictionAnswers(this.#attempt, this.#gradients);
  }

  /** What either end has seen of the other in this attempt. */
  get tally(): Tally {
    return this.#attempt.tally;
  }

  /** How many trees the model has; null before the job's end. */
  get treesKept(): number | null {
    return this.#kept;
  }

  get ownSplits(): readonly OwnSplit[] {
    const kept = this.#kept ?? Infinity;
    return this.#attempt.splits.filter(({ tree }) => tree < kept);
  }

  /** @throws TandemError HANDSHAKE_MISMATCH, ID_MISMATCH or CHECKPOINT naming what differs */
  join(hello: ActiveHello): MessageInitShape<typeof PassiveHelloSchema> {
    if (this.#joined !== null && equals(ActiveHelloSchema, this.#joined.hello, hello)) return this.#joined.answer;
    const job = this.#job;
    const { course, stored: trees, progress } = this.#attempt;
    course.expect("waiting");
    checkHello(hello, job, trees, progress.current.round?.tree ?? 0);
    course.tree = Math.max(hello.trees, firstTreeOf(job.agreed)) - 1;
    course.phase = job.finished === true ? "finished" : "joined";
    this.#attempt.heldBack = hello.validationRows;
    const answer = {
      protocolVersion,
      passiveName: job.name,
      featureCount: job.features.length,
      trees,
      finished: job.finished === true,
      scheme: job.scheme.hidden?.greeting() ?? new Uint8Array(0),
    };
    this.#joined = { hello, answer };
    job.observer.joined(peerText(hello.activeName));
    return answer;
  }

  /** @throws TandemError PROTOCOL_STATE if the job was begun with another key, or set up in another way */
  setUp(setUp: ActiveSetUp): Promise<MessageInitShape<typeof PassiveReadySchema>> {
    return this.#turns.run(() => this.#setUpInTurn(setUp));
  }

  async #setUpInTurn(setUp: ActiveSetUp): Promise<MessageInitShape<typeof PassiveReadySchema>> {
    if (this.#setUp !== null && equals(ActiveSetUpSchema, this.#setUp.message, setUp)) return this.#setUp.answer;
    const { course, heldBack, progress, isMonotone, tally } = this.#attempt;
    course.expect("joined");
    const { instanceCount, features, scheme, agreed } = this.#job;
    const trees = new PassiveTrees(this.#job, setUp.skipBin, heldBack, () => progress.current.nodesReserved);
    const { candidateCount, nodesAskedMax, summed, nodeMinimum } = trees;
    const { schemeParameters: parameters, treesPerRound } = agreed;
    const lasting = await scheme.setUp(setUp.scheme, {
      parameters,
      instanceCount,
      run: runOf(agreed.job, this.#joined?.hello.jobId ?? new Uint8Array(0)),
      nodesPerTree: nodesPerTree(agreed),
      nodesMax: nodesOfJob(agreed),
      outputsPerTree: outputsPerTree(agreed),
      candidateCount,
      columns: { bins: features.map(({ bins }) => bins), binCounts: Uint32Array.from(features, totalBinCount) },
      summed,
      nodesAskedMax,
      treesPerRound,
      terms: agreed,
      allowsUnpacked: this.#job.allowsUnpacked ?? false,
    });
    course.expect("joined"); // the job may have ended meanwhile
    const digest = setUpDigest(setUp, lasting);
    const before = progress.current.setUp;
    if (before !== null && before !== digest)
      throw new TandemError("PROTOCOL_STATE", "this job was begun with another set-up: its key stays the same");
    this.#attempt.setUp(trees, digest);
    const answer = { candidateCount, monotone: isMonotone, nodeMinimum, groups: groupsOf(this.#job.features) };
    this.#setUp = { message: setUp, answer };
    course.phase = "ready";
    tally.see(candidatesSeen(candidateCount));
    return answer;
  }

  /** What the answers of this attempt are opened with: told once. */
  async *hints(): AsyncGenerator<MessageInitShape<typeof PassiveHintsSchema>> {
    this.#attempt.course.expect("ready");
    const { hidden } = this.#job.scheme;
    if (hidden === null) throw new TandemError("PROTOCOL_STATE", "this scheme has no hints");
    let bytes = 0;
    for await (const scheme of hidden.hints()) {
      bytes += scheme.length;
      yield { scheme };
    }
    this.#attempt.tally.see(hintsSeen(this.#attempt.trees.candidateCount, bytes));
  }

  gradients(chunks: AsyncIterable<ActiveGradients>): Promise<void> {
    return this.#gradients.take(chunks);
  }

  histograms(nodes: AsyncIterable<ActiveNode>): ReturnType<TreeAnswers["histograms"]> {
    return this.#trees.histograms(nodes);
  }

  order(request: ActiveOrder): ReturnType<TreeAnswers["order"]> {
    return this.#trees.order(request);
  }

  splits(request: ActiveSplitDecisions): ReturnType<TreeAnswers["splits"]> {
    return this.#trees.splits(request);
  }

  outcomeKeys(keys: ActiveOutcomeKeys): ReturnType<HiddenSplits["keys"]> {
    return this.#hiddenSplits.keys(keys);
  }

  hiddenSplits(messages: AsyncIterable<ActiveHiddenSplits>): ReturnType<HiddenSplits["splits"]> {
    return this.#hiddenSplits.splits(messages);
  }

  finishTree(finished: ActiveTreeFinished): Promise<void> {
    return this.#trees.finishTree(finished);
  }

  testRows(chunks: AsyncIterable<ActiveTestRows>): Promise<void> {
    return this.#predictions.testRows(chunks);
  }

  predict(request: ActivePredict): ReturnType<PredictionAnswers["predict"]> {
    return this.#predictions.predict(request);
  }

  maskOpen(request: ActiveMaskOpen): ReturnType<PredictionAnswers["maskOpen"]> {
    return this.#predictions.maskOpen(request);
  }

  maskStep(request: ActiveMaskStep): ReturnType<PredictionAnswers["maskStep"]> {
    return this.#predictions.maskStep(request);
  }

  /**
   * After success the model keeps its first rounds, all of them without early stopping; the active party may give up at
   * any time before.
   */
  finishJob({ failure, treeCount: kept }: ActiveJobFinished): void {
    const { course, stored } = this.#attempt;
    if (course.phase === "finished") {
      if (failure === "" && this.#kept !== null && kept !== this.#kept)
        throw new TandemError("PROTOCOL_STATE", `the job has ended and keeps ${this.#kept} trees, not ${kept}`);
      return;
    }
    if (failure !== "") {
      course.phase = "given up";
      return;
    }
    course.expect("joined", "ready");
    const { agreed } = this.#job;
    const grown = course.tree + 1;
    const fits = kept > agreed.startTrees && kept <= grown && kept % agreed.treesPerRound === 0 && stored === grown;
    if (!fits)
      throw new TandemError(
        "PROTOCOL_STATE",
        `the job ends after ${grown} of ${treeCountOf(agreed)} trees and keeps ${kept}`,
      );
    this.#kept = kept;
    course.phase = "finished";
  }
}
