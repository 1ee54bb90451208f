/**
 * The calls of one attempt at a job to one passive party: the handshake, and the calls of trees that both training
 * protocols have. Answers are checked, and disclosures in both directions counted.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { type MembershipFacts, membershipFacts } from "../../base/membership.ts";
import { columnCount, type GradientLayout } from "../../codec/layout.ts";
import { categoryCountMax } from "../../gbdt/split/category-binning.ts";
import { checkBitmap } from "../../wire/bitmap.ts";
import { NodeAnswers, type PartyTraits } from "./node-answers.ts";
import { OrderAnswers } from "./order-answers.ts";
import type { BusyClock } from "./busy-clock.ts";
import { PeerConnection } from "./peer-connection.ts";
import { PeerMaximum } from "./peer-maximum.ts";
import { PeerPredictions } from "./peer-predictions.ts";
import type { SessionQuestion } from "./asked-nodes.ts";
import { areGroupsPossible, type Decision, namedMessage, type SplitAnswer } from "./split-decision.ts";
import type { OutcomeFacts } from "../../messages/splits.ts";
import type { Tally, Watch } from "../../messages/tally.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import { joinedShares, type NodeShares } from "../../scheme/maximum/node-shares.ts";
import {
  type ActiveHelloSchema,
  type ActiveSplitDecisionsSchema,
  type PassiveColumn,
  type PassiveHistograms,
  type PassiveHello,
  type PassiveSplit,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { allGroups } from "../interaction-groups.ts";
import { fitsStoredTrees } from "../job-parameters.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { OnPhase, Phase } from "../phase.ts";
import type { ActiveScheme } from "../../scheme/scheme.ts";
import { candidateCountMax, requirePassiveVersion } from "../../wire/version.ts";

/** Requests the outcomes of a party's splits, and decodes its answers. */
export interface SplitOutcomes {
  ask(request: MessageInitShape<typeof ActiveSplitDecisionsSchema>): AsyncIterable<PassiveSplit>;
  /** Required number of bits of an answer. */
  bitsOf(decision: Decision): number;
  /**
   * @returns bitmap over the node's instances of those that go left, and the number of instances that the answer covers
   */
  read(split: PassiveSplit, decision: Decision): { readonly leftMembers: Uint8Array; readonly facts: OutcomeFacts };
}

export class PeerSession {
  /** The party's predictions for rows after training. */
  readonly predictions: PeerPredictions;
  readonly connection: PeerConnection;
  /** The best candidates of its nodes, where sums are hidden. */
  readonly maximum: PeerMaximum;
  /** Its index among the passive parties. */
  readonly index: number;
  readonly #scheme: ActiveScheme;
  readonly #facts: MembershipFacts;
  readonly #onPhase: OnPhase;
  #candidateCountMax = 0;
  #greeting: Uint8Array = new Uint8Array(0);
  #nodeMinimum = 0;
  #groupsOfJob = 0;
  #groups = 0;
  #isVetting = false;
  #columns: readonly PassiveColumn[] = [];
  #traits: PartyTraits = { candidateCount: 0, isMonotone: false, takesAllColumns: true, takesCategories: false };
  /** How often nodes of the current tree were requested. */
  #level = 0;

  /**
   * @param watch receives what either party sees of the other, as it happens
   * @param sealKey of what the party keeps for this one
   */
  constructor(
    peer: PassivePeer,
    index: number,
    scheme: ActiveScheme,
    onPhase: OnPhase,
    watch: Watch,
    sealKey: Uint8Array,
  ) {
    this.connection = new PeerConnection(peer, watch);
    this.predictions = new PeerPredictions(this.connection);
    this.maximum = new PeerMaximum(this.connection, sealKey);
    this.index = index;
    this.#scheme = scheme;
    this.#facts = membershipFacts[scheme.membership];
    this.#onPhase = onPhase;
  }

  get name(): string {
    return this.connection.name;
  }

  /** What either party has seen of the other. */
  get tally(): Tally {
    return this.connection.tally;
  }

  async join(hello: MessageInitShape<typeof ActiveHelloSchema>): Promise<PassiveHello> {
    const answer = await this.connection.join(hello);
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
    const { enableCategorical = false, maxBin = 0, vetting = false, ...rates } = hello.parameters ?? {};
    this.#isVetting = vetting;
    this.#groupsOfJob = allGroups(hello.parameters?.interactionGroups ?? "");
    const binsMax = Math.max(maxBin, enableCategorical ? categoryCountMax : 0);
    this.#candidateCountMax = Math.min(candidateCountMax, answer.featureCount * 2 * binsMax);
    const { colsampleBytree, colsampleBylevel, colsampleBynode } = rates;
    const takesAllColumns = [colsampleBytree, colsampleBylevel, colsampleBynode].every((rate) => rate === 1);
    this.#traits = { ...this.#traits, takesAllColumns, takesCategories: enableCategorical };
    this.#greeting = answer.scheme;
    return answer;
  }

  /** Upper bound of the party's candidates, by its features and the agreed parameters. */
  get candidatesMax(): number {
    return this.#candidateCountMax;
  }

  /** The handshake message of the scheme's passive half. */
  get greeting(): Uint8Array {
    return this.#greeting;
  }

  /** @param scheme the set-up message, the same for all parties */
  async setUp(scheme: Uint8Array, skipBin: boolean): Promise<void> {
    const { peer, options } = this.connection;
    const ready = await this.connection.guard(peer.setUp({ scheme, skipBin }, options));
    if (ready.candidateCount > this.#candidateCountMax)
      throw this.deviates("more candidates than its features can have");
    const { candidateCount, monotone: isMonotone } = ready;
    this.#traits = { ...this.#traits, candidateCount, isMonotone };
    this.#nodeMinimum = ready.nodeMinimum;
    if ((ready.groups & ~this.#groupsOfJob) !== 0) throw this.deviates("interaction groups that the job does not have");
    this.#groups = ready.groups;
    this.tally.see("candidates", candidateCount);
    if (this.#isVetting) this.tally.see("columns", ready.columns);
    this.#columns = ready.columns;
  }

  /** In a vetting what the party says about its columns, in the order of their candidates; known after set-up. */
  get columns(): readonly PassiveColumn[] {
    return this.#columns;
  }

  /** Minimum number of instances of both nodes of a requested pair; the party cannot count them itself. */
  get nodeMinimum(): number {
    return this.#nodeMinimum;
  }

  /** Bits of its masks, where sums are hidden; known after set-up. */
  get maskBits(): number {
    return this.#scheme.maskBits ?? 0;
  }

  /** Interaction groups that the party has features in, as bits; known after set-up. */
  get groups(): number {
    return this.#groups;
  }

  /** Whether the party has monotone constraints; known after set-up. */
  get isMonotone(): boolean {
    return this.#traits.isMonotone;
  }

  /** What the party has announced; known after set-up. */
  get traits(): PartyTraits {
    return this.#traits;
  }

  /** A phase of the party's work begins or ends. */
  edge(phase: Phase, tree: number, began: boolean): void {
    this.#onPhase({ party: this.name, phase, began, tree, level: this.#level });
  }

  /** The candidates of each requested node. */
  async histograms(
    tree: number,
    layout: GradientLayout,
    question: SessionQuestion,
    decrypting: BusyClock,
  ): Promise<Map<number, CandidateRows>> {
    const collected = this.#answersTo(tree, question, columnCount(layout));
    const hasCounts = !layout.hidesCounts && this.#facts.countsAreSent;
    await this.#ask(tree, question, async (answer) => {
      collected.check(answer);
      if (!hasCounts) this.#checkUncounted(answer);
      const summedMost = hasCounts ? answer.counts : collected.summedMost(answer);
      const asked = { peer: this.index, tree, node: answer.node };
      const sums = await decrypting.during(() => this.#scheme.sums(layout, answer.scheme, summedMost, asked));
      this.tally.see("sums", answer, collected.add(answer, sums), this.#isDrawn);
    });
    return collected.whole();
  }

  /**
   * This party's shares of the sums of each requested node, where sums are hidden.
   * @param slot of g
   */
  async shares(
    tree: number,
    layout: GradientLayout,
    question: SessionQuestion,
    decrypting: BusyClock,
    slot: number,
  ): Promise<Map<number, NodeShares>> {
    const collected = this.#answersTo(tree, question, 0);
    const pieces = new Map<number, NodeShares[]>();
    await this.#ask(tree, question, async (answer) => {
      collected.check(answer);
      this.#checkUncounted(answer);
      const { node, counts } = answer;
      if (answer.suppressed.length > 0 || answer.groups.length > 0 || this.#scheme.shares === undefined)
        throw this.deviates("suppressed candidates or categories, which are not sent where sums are hidden");
      const asked = { peer: this.index, tree, node };
      const opened = await decrypting.during(
        async () => this.#scheme.shares?.(layout, answer.scheme, counts.length, asked) ?? [],
      );
      collected.add(answer, new Float64Array(0));
      this.tally.see("sums", answer, null, this.#isDrawn, true);
      const piece = { candidates: counts.length, gradients: opened[slot], hessians: opened[slot + 1] };
      pieces.set(node, [...(pieces.get(node) ?? []), piece]);
    });
    collected.whole();
    return new Map(
      question.nodes.map(({ node }) => {
        const ofNode = pieces.get(node) ?? [];
        const candidates = ofNode.reduce((sum, piece) => sum + piece.candidates, 0);
        return [node, { candidates, ...joinedShares(ofNode) }];
      }),
    );
  }

  get #isDrawn(): boolean {
    return this.#facts.candidatesAreLinked && !this.#traits.takesAllColumns;
  }

  #answersTo(tree: number, { nodes }: SessionQuestion, columns: number): NodeAnswers {
    return new NodeAnswers(tree, nodes, columns, this.#traits, (what) => this.deviates(what));
  }

  #checkUncounted({ counts }: PassiveHistograms): void {
    if (counts.some((count) => count !== 0)) throw this.deviates("counts, which are not allowed in this job");
  }

  async #ask(
    tree: number,
    { messages }: SessionQuestion,
    take: (answer: PassiveHistograms) => Promise<void>,
  ): Promise<void> {
    const { peer, options } = this.connection;
    let phase: Phase = "aggregate";
    this.edge(phase, tree, true);
    await this.connection.each(peer.histograms(messages, options), async (answer) => {
      if (phase === "aggregate") {
        this.edge(phase, tree, false);
        phase = "return";
        this.edge(phase, tree, true);
      }
      await take(answer);
    });
    this.edge(phase, tree, false);
    this.#level++;
  }

  /** The candidate order of each node. @param entryCounts per requested node */
  async orders(tree: number, entryCounts: ReadonlyMap<number, number>): Promise<Map<number, Uint32Array>> {
    const collected = new OrderAnswers(tree, entryCounts, (what) => this.deviates(what));
    const { peer, options } = this.connection;
    await this.connection.each(peer.order({ tree, nodes: [...entryCounts.keys()] }, options), (piece) => {
      collected.add(piece);
      this.tally.see("order", piece);
    });
    return collected.whole();
  }

  /** Per decision the members that go left. @param outcomes requests and decodes the party's answers */
  async splits(
    tree: number,
    decisions: readonly Decision[],
    outcomes: SplitOutcomes,
  ): Promise<Map<number, SplitAnswer>> {
    const decisionOf = new Map(decisions.map((decision) => [decision.node, decision]));
    const answers = new Map<number, SplitAnswer>();
    const named = decisions.map(({ node, named: one, constraints }) => ({
      node,
      named: namedMessage(one),
      constraints,
    }));
    for (const decision of named) this.tally.see("win", tree, decision);
    await this.connection.each(outcomes.ask({ tree, decisions: named }), (split) => {
      const decision = decisionOf.get(split.node);
      if (
        decision === undefined ||
        split.tree !== tree ||
        answers.has(split.node) ||
        Math.abs(split.monotone) > (this.#traits.isMonotone ? 1 : 0)
      )
        throw this.deviates("a split that was not asked for");
      if (!areGroupsPossible(decision, split.groups, this.#groups))
        throw this.deviates(
          "a split of a feature that may not split this node: none of its interaction groups is allowed here",
        );
      checkBitmap(split.leftMembers, outcomes.bitsOf(decision));
      const { leftMembers, facts } = outcomes.read(split, decision);
      this.tally.see("outcome", split, facts);
      if (this.#groupsOfJob !== 0) this.tally.see("split groups", split);
      answers.set(split.node, { leftMembers, monotone: split.monotone, groups: split.groups });
    });
    if (answers.size !== decisions.length) throw this.deviates("fewer splits than were asked for");
    // After all answers: where members are hidden, the party must not see at which node a wrong side was detected.
    for (const [node, { leftMembers }] of answers)
      if (decisionOf.get(node)?.addsUp(leftMembers) !== true)
        throw this.deviates("a split whose instances do not add up to its sums");
    return answers;
  }

  async finishTree(tree: number): Promise<void> {
    this.#level = 0;
    const { peer, options } = this.connection;
    await this.connection.guard(peer.finishTree({ tree }, options));
  }

  /** Ends the job. @param failure empty after success */
  finish(failure: string, treeCount: number): Promise<void> {
    return this.connection.finish(failure, treeCount);
  }

  /** The error that names the party. */
  deviates(what: string): TandemError {
    return this.connection.deviates(what);
  }
}
