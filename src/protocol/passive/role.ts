/**
 * The passive party's state machine for one attempt at a job: one handler per call of proto/, each of which checks that
 * a message is allowed now before it changes anything. A message that arrives twice gets the same answer, or is refused
 * without a change of state. The role has no network; a transport calls it. It never sees a label, and reveals only the
 * outcomes of its own splits.
 *
 * What depends on the training protocol is behind membership.ts. An active party may deviate in any message: see
 * course.ts, split-count.ts, test-rows.ts, protocol/sent and protocol/hidden.
 *
 * @reveals active: number of features and of split candidates; for each split that a passive party wins, the side of
 *   each instance of the node, or of every instance of the job where members are hidden; of features with monotone
 *   constraints, which candidates they are, and the sign where one splits; with interaction groups, which of them it
 *   has features in, and for each split that it wins which of those that are open its feature is in
 */
import { equals, type MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { callsAmong } from "../../wire/every-call.ts";
import {
  type ActiveHello,
  ActiveHelloSchema,
  type ActiveJobFinished,
  type ActiveSetUp,
  ActiveSetUpSchema,
  type PassiveHelloSchema,
  PassiveParty,
  type PassiveReadySchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { groupsOf } from "../../gbdt/split/interactions.ts";
import { HiddenMembers } from "../hidden/passive.ts";
import { checkHiddenFeatures } from "../hidden-sums.ts";
import { firstTreeOf, treeCountOf } from "../job-parameters.ts";
import type { Tally } from "../../messages/tally.ts";
import { peerText } from "../../wire/peer-text.ts";
import { SentMembers } from "../sent/passive.ts";
import { protocolVersion } from "../../wire/version.ts";
import type { OwnSplit } from "./answered-splits.ts";
import { Attempt } from "./attempt.ts";
import { setUpDigest } from "./digests.ts";
import { checkHello } from "./hello-check.ts";
import type { PassiveJob } from "./job.ts";
import type { PassiveMembership, ProtocolCalls } from "./membership.ts";
import { PredictionAnswers } from "./prediction-answers.ts";
import { TreeAnswers } from "./tree-answers.ts";
import { columnMessages, vettingCalls } from "../vetting.ts";

export type { OwnSplit } from "./answered-splits.ts";
export type { PassiveJob, PassiveObserver } from "./job.ts";

type MethodsOf<Handler> = { [Name in keyof Handler]: Handler[Name] };

/** The handlers by call name. Calls of the other training protocol are refused. */
export type PassiveAnswers = Pick<PassiveRole, "join" | "setUp" | "finishJob"> &
  MethodsOf<TreeAnswers> &
  MethodsOf<PredictionAnswers> &
  Required<ProtocolCalls>;

export class PassiveRole {
  readonly #job: PassiveJob;
  readonly #attempt: Attempt;
  readonly #membership: PassiveMembership;
  /** What answers each call of proto/. */
  readonly answers: PassiveAnswers;
  #joined: { readonly hello: ActiveHello; readonly answer: MessageInitShape<typeof PassiveHelloSchema> } | null = null;
  #setUp: { readonly message: ActiveSetUp; readonly answer: MessageInitShape<typeof PassiveReadySchema> } | null = null;
  /** A repeated set-up waits for the first. */
  readonly #turns = new Exclusive();
  /** Number of trees that the model keeps; known at the end. */
  #kept: number | null = null;

  constructor(job: PassiveJob) {
    this.#job = job;
    this.#attempt = new Attempt(job);
    const { scheme } = job;
    this.#membership =
      scheme.membership === "sent" ? new SentMembers(this.#attempt, scheme) : new HiddenMembers(this.#attempt, scheme);
    const trees = new TreeAnswers(this.#attempt, this.#membership);
    const predictions = new PredictionAnswers(this.#attempt);
    const missing = (name: string): never => {
      throw new TandemError("PROTOCOL_STATE", `the protocol of this job has no call '${name}'`);
    };
    const answers: PassiveAnswers = callsAmong(
      PassiveParty,
      [this, trees, predictions, this.#membership.calls],
      missing,
    );
    this.answers = job.agreed.vetting ? vettingCalls(answers, missing) : answers;
  }

  /** What either party has seen of the other in this attempt. */
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
      scheme: this.#membership.greeting,
    };
    this.#joined = { hello, answer };
    job.observer.joined?.(peerText(hello.activeName));
    return answer;
  }

  /** @throws TandemError PROTOCOL_STATE if the job began with another key or set-up */
  setUp(setUp: ActiveSetUp): Promise<MessageInitShape<typeof PassiveReadySchema>> {
    return this.#turns.run(() => this.#setUpInTurn(setUp));
  }

  async #setUpInTurn(setUp: ActiveSetUp): Promise<MessageInitShape<typeof PassiveReadySchema>> {
    if (this.#setUp !== null && equals(ActiveSetUpSchema, this.#setUp.message, setUp)) return this.#setUp.answer;
    const { course, progress, isMonotone, tally } = this.#attempt;
    course.expect("joined");
    const { agreed, features, name } = this.#job;
    if (agreed.defences.hidden_sums) checkHiddenFeatures(features, name);
    const jobId = this.#joined?.hello.jobId ?? new Uint8Array(0);
    const { lasting, nodeMinimum, accept } = await this.#membership.setUp(setUp, jobId);
    course.expect("joined"); // the job may have ended meanwhile
    const digest = setUpDigest(setUp, lasting);
    const before = progress.current.setUp;
    if (before !== null && before !== digest)
      throw new TandemError("PROTOCOL_STATE", "this job began with another set-up; its key must stay the same");
    accept(digest);
    const { candidateCount } = this.#attempt.trees;
    const { columns = [] } = this.#job;
    const answer = {
      candidateCount,
      monotone: isMonotone,
      nodeMinimum,
      groups: groupsOf(features),
      columns: columnMessages(columns),
    };
    this.#setUp = { message: setUp, answer };
    course.phase = "ready";
    tally.see("candidates", candidateCount);
    if (agreed.vetting) tally.see("columns", answer.columns);
    return answer;
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
