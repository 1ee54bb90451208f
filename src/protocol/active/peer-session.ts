/**
 * The calls of one attempt at a job to one passive party: the handshake, and all calls of trees. What comes back is
 * checked, and counted both ways.
 *
 * @reveals passive: which instances are in each node that is split; which instances are sampled for each tree
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { columnCount, type GradientLayout } from "../../codec/layout.ts";
import { categoryCountMax } from "../../gbdt/split/category-binning.ts";
import { checkBitmap, pickedBits } from "../../wire/bitmap.ts";
import { NodeAnswers, type PartyTraits } from "./node-answers.ts";
import { OrderAnswers } from "./order-answers.ts";
import { OutcomeTransfers } from "./outcome-transfers.ts";
import type { BusyClock } from "./busy-clock.ts";
import { PeerConnection } from "./peer-connection.ts";
import { PeerPredictions } from "./peer-predictions.ts";
import { nodeMessages, type NodeRequest } from "./node-request.ts";
import { areGroupsPossible, type Decision, namedMessage, type SplitAnswer } from "./split-decision.ts";
import {
  candidatesSeen,
  gradientsSeen,
  hintsSeen,
  orderSeen,
  outcomeSeen,
  splitGroupsSeen,
  sumsSeen,
  transferredSeen,
  winSeen,
} from "../../privacy/observation.ts";
import type { Tally, Watch } from "../../privacy/tally.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import {
  type ActiveGradients,
  type ActiveHelloSchema,
  type ActiveSplitDecisionsSchema,
  type PassiveHello,
  type PassiveSplit,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { allGroups } from "../interaction-groups.ts";
import { fitsStoredTrees } from "../job-parameters.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { OnPhase, Phase } from "../phase.ts";
import type { ActiveScheme, GradientChunk } from "../../scheme/scheme.ts";
import { candidateCountMax, requirePassiveVersion } from "../../wire/version.ts";

const laterChunk = { sampled: new Uint8Array(0), colsampleBytree: 0 };

export class PeerSession {
  /** What the party answers about rows after training. */
  readonly predictions: PeerPredictions;
  readonly #connection: PeerConnection;
  /** Where outcomes are hidden; null: they are told. */
  #transfers: OutcomeTransfers | null = null;
  /** Among the passive parties. */
  readonly #index: number;
  readonly #scheme: ActiveScheme;
  readonly #onPhase: OnPhase;
  #candidateCountMax = 0;
  #greeting: Uint8Array = new Uint8Array(0);
  #nodeMinimum = 0;
  #groupsOfJob = 0;
  #groups = 0;
  #traits: PartyTraits = { candidateCount: 0, isMonotone: false, takesAllColumns: true, takesCategories: false };
  /** How often nodes of the current tree were asked for. */
  #level = 0;

  /** @param watch sees what either end sees of the other, as it happens */
  constructor(peer: PassivePeer, index: number, scheme: ActiveScheme, onPhase: OnPhase = () => {}, watch?: Watch) {
    this.#connection = new PeerConnection(peer, watch);
    this.predictions = new PeerPredictions(this.#connection);
    this.#index = index;
    this.#scheme = scheme;
    this.#onPhase = onPhase;
  }

  get name(): string {
    return this.#connection.name;
  }

  /** What either end has seen of the other. */
  get tally(): Tally {
    return this.#connection.tally;
  }

  async join(hello: MessageInitShape<typeof ActiveHelloSchema>): Promise<PassiveHello> {
    const answer = await this.#connection.join(hello);
    requirePassiveVersion(answer.protocolVersion, this.name);
    const [ours, theirs] = [hello.trees ?? 0, answer.trees];
    if (
      hello.parameters !== undefined &&
      !fitsStoredTrees({ localRounds: 0, treesPerRound: 1, startTrees: 0, ...hello.parameters }, ours, theirs)
    ) {
      throw new TandemError(
        "CHECKPOINT",
        `party ${this.name} has stored ${theirs} trees of this job and we ${ours}: they do not belong together. ` +
          "Begin anew under another name",
      );
    }
    const { enableCategorical = false, maxBin = 0, hiddenOutcomes = false, ...rates } = hello.parameters ?? {};
    this.#groupsOfJob = allGroups(hello.parameters?.interactionGroups ?? "");
    if (hiddenOutcomes && this.#scheme.hidden !== null)
      this.#transfers = new OutcomeTransfers(this.#connection.peer, this.tally);
    const binsMax = Math.max(maxBin, enableCategorical ? categoryCountMax : 0);
    this.#candidateCountMax = Math.min(candidateCountMax, answer.featureCount * 2 * binsMax);
    const { colsampleBytree, colsampleBylevel, colsampleBynode } = rates;
    const takesAllColumns = [colsampleBytree, colsampleBylevel, colsampleBynode].every((rate) => rate === 1);
    this.#traits = { ...this.#traits, takesAllColumns, takesCategories: enableCategorical };
    this.#greeting = answer.scheme;
    return answer;
  }

  /** Candidates that the party can have, by its features and what was agreed. */
  get candidatesMax(): number {
    return this.#candidateCountMax;
  }

  /** What the scheme's passive half has said at the handshake. */
  get greeting(): Uint8Array {
    return this.#greeting;
  }

  /** @param scheme the set-up message, which is the same for all */
  async setUp(scheme: Uint8Array, skipBin: boolean): Promise<void> {
    const { peer, options } = this.#connection;
    const ready = await this.#connection.guard(peer.setUp({ scheme, skipBin }, options));
    if (ready.candidateCount > this.#candidateCountMax)
      throw this.deviates("more candidates than its features can have");
    const { candidateCount, monotone: isMonotone } = ready;
    this.#traits = { ...this.#traits, candidateCount, isMonotone };
    this.#nodeMinimum = ready.nodeMinimum;
    if ((ready.groups & ~this.#groupsOfJob) !== 0) throw this.deviates("interaction groups that the job does not have");
    this.#groups = ready.groups;
    this.tally.see(candidatesSeen(candidateCount));
  }

  /** Fewer people than these may be in neither of two nodes that the party is asked about; it cannot count them. */
  get nodeMinimum(): number {
    return this.#nodeMinimum;
  }

  /** Interaction groups that the party has features in, as bits; known after set-up. */
  get groups(): number {
    return this.#groups;
  }

  /** Takes what the party's answers are opened with. */
  async takeHints(): Promise<void> {
    const { candidateCount } = this.#traits;
    let bytes = 0;
    const { peer, options } = this.#connection;
    const hints = peer.hints({}, options);
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for await (const { scheme } of hints) {
        bytes += scheme.length;
        yield scheme;
      }
    }
    await this.#connection.guard(
      this.#scheme.hidden?.hints(this.#index, candidateCount, pieces()) ?? Promise.resolve(),
    );
    this.tally.see(hintsSeen(candidateCount, bytes));
  }

  /** Whether the party has monotone constraints; known after set-up. */
  get isMonotone(): boolean {
    return this.#traits.isMonotone;
  }

  /**
   * @param sampled bitmap of the instances that the round learns from; empty: all
   * @param columnRate of the round, where it is not the one that was agreed on; otherwise 0
   */
  async sendGradients(
    tree: number,
    sampled: Uint8Array,
    chunks: AsyncIterable<GradientChunk>,
    columnRate = 0,
  ): Promise<void> {
    const { tally, peer, options } = this.#connection;
    const { counts } = this.#scheme;
    async function* messages(): AsyncGenerator<Omit<ActiveGradients, "$typeName" | "$unknown">> {
      let sequence = 0;
      for await (const { message: scheme, ciphertexts } of chunks) {
        const first = sequence === 0 ? { sampled, colsampleBytree: columnRate } : laterChunk;
        const chunk = { tree, sequence, scheme, ...first };
        sequence++;
        counts.gradientCiphertexts += ciphertexts;
        tally.see(gradientsSeen(chunk, ciphertexts));
        yield chunk;
      }
    }
    this.#level = 0;
    const edge = { party: this.name, phase: "send", tree, level: 0 } as const;
    this.#onPhase({ ...edge, began: true });
    await this.#connection.guard(peer.gradients(messages(), options));
    this.#onPhase({ ...edge, began: false });
  }

  /** Per requested node its candidates. */
  async histograms(
    tree: number,
    layout: GradientLayout,
    requests: readonly NodeRequest[],
    decrypting: BusyClock,
  ): Promise<Map<number, CandidateRows>> {
    const deviates = (what: string): TandemError => this.deviates(what);
    const collected = new NodeAnswers(tree, requests, columnCount(layout), this.#traits, deviates);
    const { peer, options } = this.#connection;
    const answers = peer.histograms(nodeMessages(tree, requests, this.#scheme, this.tally), options);
    let phase: Phase = "aggregate";
    const edge = (began: boolean): void => this.#onPhase({ party: this.name, phase, began, tree, level: this.#level });
    edge(true);
    await this.#connection.each(answers, async (answer) => {
      if (phase === "aggregate") {
        edge(false);
        phase = "return";
        edge(true);
      }
      collected.check(answer);
      const tellsCounts = layout.noise === null && this.#scheme.hidden === null;
      if (!tellsCounts && answer.counts.some((count) => count !== 0))
        throw this.deviates("counts, which nobody tells in this job");
      const summedMost = tellsCounts ? answer.counts : collected.summedMost(answer);
      const asked = { peer: this.#index, tree, node: answer.node };
      const sums = await decrypting.during(() => this.#scheme.sums(layout, answer.scheme, summedMost, asked));
      const isDrawn = this.#scheme.hidden !== null && !this.#traits.takesAllColumns;
      this.tally.see(sumsSeen(answer, collected.add(answer, sums), isDrawn));
    });
    edge(false);
    this.#level++;
    return collected.whole();
  }

  /** Per node the order of its candidates. @param entryCounts per node that is asked about */
  async orders(tree: number, entryCounts: ReadonlyMap<number, number>): Promise<Map<number, Uint32Array>> {
    const collected = new OrderAnswers(tree, entryCounts, (what) => this.deviates(what));
    const { peer, options } = this.#connection;
    await this.#connection.each(peer.order({ tree, nodes: [...entryCounts.keys()] }, options), (piece) => {
      collected.add(piece);
      this.tally.see(orderSeen(piece));
    });
    return collected.whole();
  }

  /**
   * Per decision who goes left.
   * @param everybody where members are hidden: how many instances there are, since all of them are answered for
   */
  async splits(
    tree: number,
    decisions: readonly Decision[],
    everybody: number | null = null,
  ): Promise<Map<number, SplitAnswer>> {
    const decisionOf = new Map(decisions.map((decision) => [decision.node, decision]));
    const answers = new Map<number, SplitAnswer>();
    const named = decisions.map(({ node, named: one, constraints }) => ({
      node,
      named: namedMessage(one),
      constraints,
    }));
    const request = { tree, decisions: named };
    for (const decision of named) this.tally.see(winSeen(tree, decision));
    await this.#connection.each(this.#told(request, decisions, everybody), (split) => {
      const decision = decisionOf.get(split.node);
      if (
        decision === undefined ||
        split.tree !== tree ||
        answers.has(split.node) ||
        Math.abs(split.monotone) > (this.#traits.isMonotone ? 1 : 0)
      )
        throw this.deviates("a split that was not asked for");
      if (!areGroupsPossible(decision, split.groups, this.#groups))
        throw this.deviates("a split of a feature that may not split this node: it is in no group that is open");
      const size = everybody ?? decision.instances.length;
      checkBitmap(split.leftMembers, size);
      const leftMembers = everybody === null ? split.leftMembers : pickedBits(split.leftMembers, decision.instances);
      if (everybody === null) this.#checkSums(decision, leftMembers);
      this.tally.see(
        this.#transfers === null
          ? outcomeSeen(split, size)
          : transferredSeen(split, size, { instanceCount: decision.instances.length, leftMembers }),
      );
      if (this.#groupsOfJob !== 0) this.tally.see(splitGroupsSeen(split));
      answers.set(split.node, { leftMembers, monotone: split.monotone, groups: split.groups });
    });
    if (answers.size !== decisions.length) throw this.deviates("fewer splits than were asked for");
    // Where members are hidden a wrong side is noticed only if its person is in the node: which node is not shown.
    if (everybody !== null)
      for (const [node, { leftMembers }] of answers) this.#checkSums(decisionOf.get(node), leftMembers);
    return answers;
  }

  #told(
    request: MessageInitShape<typeof ActiveSplitDecisionsSchema>,
    decisions: readonly Decision[],
    everybody: number | null,
  ): AsyncIterable<PassiveSplit> {
    const { peer, options } = this.#connection;
    return this.#transfers === null || everybody === null
      ? peer.splits(request, options)
      : this.#transfers.splits(request, decisions, everybody, options);
  }

  #checkSums(decision: Decision | undefined, leftMembers: Uint8Array): void {
    if (decision?.addsUp(leftMembers) !== true)
      throw this.deviates("a split whose people do not add up to what it had answered");
  }

  async finishTree(tree: number): Promise<void> {
    this.#level = 0;
    const { peer, options } = this.#connection;
    await this.#connection.guard(peer.finishTree({ tree }, options));
  }

  /** Ends the job. @param failure empty after success */
  finish(failure: string, treeCount: number): Promise<void> {
    return this.#connection.finish(failure, treeCount);
  }

  /** The error that names the party. */
  deviates(what: string): TandemError {
    return this.#connection.deviates(what);
  }
}
