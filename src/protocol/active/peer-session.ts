/**
 * The active party's end of one connection: typed calls to one passive party, checks of what comes back, bytes counted
 * both ways, and immediate notice when the party is gone. Errors name the party.
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
import { nodeMessages, type NodeRequest } from "./node-request.ts";
import { areGroupsPossible, type Decision, namedMessage, type SplitAnswer } from "./split-decision.ts";
import {
  candidatesSeen,
  gradientsSeen,
  hintsSeen,
  idsSeen,
  orderSeen,
  outcomeSeen,
  predictionSeen,
  scoresSeen,
  splitGroupsSeen,
  sumsSeen,
  transferredSeen,
  winSeen,
} from "../../privacy/observation.ts";
import { Tally, type Watch } from "../../privacy/tally.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import {
  type ActiveGradients,
  type ActiveHelloSchema,
  type ActivePredictSchema,
  type ActiveSplitDecisionsSchema,
  type PassiveHello,
  type PassiveSplit,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { allGroups } from "../interaction-groups.ts";
import { fitsStoredTrees } from "../job-parameters.ts";
import type { MaskedPeer } from "../../scheme/masked/masked-scorer.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { OnPhase, Phase } from "../phase.ts";
import type { ActiveScheme, GradientChunk } from "../../scheme/scheme.ts";
import { splitKey } from "../split-key.ts";
import { candidateCountMax, protocolVersion } from "../../wire/version.ts";

const laterChunk = { sampled: new Uint8Array(0), colsampleBytree: 0 };

export class PeerSession {
  /** What either end has seen of the other. */
  readonly tally: Tally;
  readonly #peer: PassivePeer;
  /** Where outcomes are hidden; null: they are told. */
  #transfers: OutcomeTransfers | null = null;
  /** Among the passive parties. */
  readonly #index: number;
  readonly #scheme: ActiveScheme;
  readonly #onPhase: OnPhase;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<(lost: TandemError) => void>();
  #candidateCountMax = 0;
  #greeting: Uint8Array = new Uint8Array(0);
  #nodeMinimum = 0;
  #groupsOfJob = 0;
  #groups = 0;
  #traits: PartyTraits = { candidateCount: 0, isMonotone: false, takesAllColumns: true, takesCategories: false };
  /** How often nodes of the current tree were asked for. */
  #level = 0;
  /** Set when the party is gone. */
  #lost: TandemError | null = null;

  /** @param watch sees what either end sees of the other, as it happens */
  constructor(peer: PassivePeer, index: number, scheme: ActiveScheme, onPhase: OnPhase = () => {}, watch?: Watch) {
    this.tally = new Tally(watch);
    this.#peer = peer;
    this.#index = index;
    this.#scheme = scheme;
    this.#onPhase = onPhase;
  }

  get name(): string {
    return this.#peer.name;
  }

  async join(hello: MessageInitShape<typeof ActiveHelloSchema>): Promise<PassiveHello> {
    const stream = this.#peer.join(hello, { signal: this.#closing.signal })[Symbol.asyncIterator]();
    const first = await this.#naming(stream.next());
    if (first.done === true)
      throw new TandemError("PARTY_LOST", `party ${this.name} closed the connection before the job began`);
    if (first.value.protocolVersion !== protocolVersion) {
      throw new TandemError(
        "HANDSHAKE_MISMATCH",
        `party ${this.name} speaks protocol version ${first.value.protocolVersion}, we speak ${protocolVersion}`,
      );
    }
    const [ours, theirs] = [hello.trees ?? 0, first.value.trees];
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
    if (hiddenOutcomes && this.#scheme.hidden !== null) this.#transfers = new OutcomeTransfers(this.#peer, this.tally);
    const binsMax = Math.max(maxBin, enableCategorical ? categoryCountMax : 0);
    this.#candidateCountMax = Math.min(candidateCountMax, first.value.featureCount * 2 * binsMax);
    const { colsampleBytree, colsampleBylevel, colsampleBynode } = rates;
    const takesAllColumns = [colsampleBytree, colsampleBylevel, colsampleBynode].every((rate) => rate === 1);
    this.#traits = { ...this.#traits, takesAllColumns, takesCategories: enableCategorical };
    this.#greeting = first.value.scheme;
    void this.#watch(stream);
    return first.value;
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
    const ready = await this.#guard(this.#peer.setUp({ scheme, skipBin }, this.#options()));
    if (ready.candidateCount > this.#candidateCountMax)
      throw this.#deviates("more candidates than its features can have");
    const { candidateCount, monotone: isMonotone } = ready;
    this.#traits = { ...this.#traits, candidateCount, isMonotone };
    this.#nodeMinimum = ready.nodeMinimum;
    if ((ready.groups & ~this.#groupsOfJob) !== 0)
      throw this.#deviates("interaction groups that the job does not have");
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
    const hints = this.#peer.hints({}, this.#options());
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for await (const { scheme } of hints) {
        bytes += scheme.length;
        yield scheme;
      }
    }
    await this.#guard(this.#scheme.hidden?.hints(this.#index, candidateCount, pieces()) ?? Promise.resolve());
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
    const { tally } = this;
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
    await this.#during("send", tree, () => this.#guard(this.#peer.gradients(messages(), this.#options())));
  }

  /** Per requested node its candidates. */
  async histograms(
    tree: number,
    layout: GradientLayout,
    requests: readonly NodeRequest[],
    decrypting: BusyClock,
  ): Promise<Map<number, CandidateRows>> {
    const deviates = (what: string): TandemError => this.#deviates(what);
    const collected = new NodeAnswers(tree, requests, columnCount(layout), this.#traits, deviates);
    const answers = this.#peer.histograms(nodeMessages(tree, requests, this.#scheme, this.tally), this.#options());
    let phase: Phase = "aggregate";
    const edge = (began: boolean): void => this.#onPhase({ party: this.name, phase, began, tree, level: this.#level });
    edge(true);
    await this.#guard(
      (async () => {
        for await (const answer of answers) {
          if (phase === "aggregate") {
            edge(false);
            phase = "return";
            edge(true);
          }
          collected.check(answer);
          const tellsCounts = layout.noise === null && this.#scheme.hidden === null;
          if (!tellsCounts && answer.counts.some((count) => count !== 0))
            throw this.#deviates("counts, which nobody tells in this job");
          const summedMost = tellsCounts ? answer.counts : collected.summedMost(answer);
          const asked = { peer: this.#index, tree, node: answer.node };
          const sums = await decrypting.during(() => this.#scheme.sums(layout, answer.scheme, summedMost, asked));
          const isDrawn = this.#scheme.hidden !== null && !this.#traits.takesAllColumns;
          this.tally.see(sumsSeen(answer, collected.add(answer, sums), isDrawn));
        }
      })(),
    );
    edge(false);
    this.#level++;
    return collected.whole();
  }

  /** Per node the order of its candidates. @param entryCounts per node that is asked about */
  async orders(tree: number, entryCounts: ReadonlyMap<number, number>): Promise<Map<number, Uint32Array>> {
    const collected = new OrderAnswers(tree, entryCounts, (what) => this.#deviates(what));
    await this.#guard(
      (async () => {
        for await (const piece of this.#peer.order({ tree, nodes: [...entryCounts.keys()] }, this.#options())) {
          collected.add(piece);
          this.tally.see(orderSeen(piece));
        }
      })(),
    );
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
    await this.#guard(
      (async () => {
        for await (const split of this.#told(request, decisions, everybody)) {
          const decision = decisionOf.get(split.node);
          if (
            decision === undefined ||
            split.tree !== tree ||
            answers.has(split.node) ||
            Math.abs(split.monotone) > (this.#traits.isMonotone ? 1 : 0)
          )
            throw this.#deviates("a split that was not asked for");
          if (!areGroupsPossible(decision, split.groups, this.#groups))
            throw this.#deviates("a split of a feature that may not split this node: it is in no group that is open");
          const size = everybody ?? decision.instances.length;
          checkBitmap(split.leftMembers, size);
          const leftMembers =
            everybody === null ? split.leftMembers : pickedBits(split.leftMembers, decision.instances);
          if (everybody === null) this.#checkSums(decision, leftMembers);
          this.tally.see(
            this.#transfers === null
              ? outcomeSeen(split, size)
              : transferredSeen(split, size, { instanceCount: decision.instances.length, leftMembers }),
          );
          if (this.#groupsOfJob !== 0) this.tally.see(splitGroupsSeen(split));
          answers.set(split.node, { leftMembers, monotone: split.monotone, groups: split.groups });
        }
      })(),
    );
    if (answers.size !== decisions.length) throw this.#deviates("fewer splits than were asked for");
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
    return this.#transfers === null || everybody === null
      ? this.#peer.splits(request, this.#options())
      : this.#transfers.splits(request, decisions, everybody, this.#options());
  }

  #checkSums(decision: Decision | undefined, leftMembers: Uint8Array): void {
    if (decision?.addsUp(leftMembers) !== true)
      throw this.#deviates("a split whose people do not add up to what it had answered");
  }

  async finishTree(tree: number): Promise<void> {
    this.#level = 0;
    await this.#guard(this.#peer.finishTree({ tree }, this.#options()));
  }

  /** Names all who will be predicted, at once: nobody else may be asked about in this job. */
  async testRows(chunks: readonly (readonly string[])[]): Promise<void> {
    const { tally } = this;
    async function* messages(): AsyncGenerator<{ ids: string[] }> {
      for (const ids of chunks) {
        tally.see(idsSeen(ids));
        yield { ids: [...ids] };
      }
    }
    await this.#guard(this.#peer.testRows(messages(), this.#options()));
  }

  /**
   * The outcome of each of the party's splits, as a bitmap over so many of these rows.
   * @param splits the keys of all its splits: nothing else is accepted, and nothing less
   */
  predict(firstRow: number, rowCount: number, splits: ReadonlySet<string>): Promise<Map<string, Uint8Array>> {
    return this.#outcomes({ firstRow, rowCount }, rowCount, splits);
  }

  /** The same for the splits of a start model, over all instances of the job in their order. */
  async predictStart(instanceCount: number, splits: ReadonlySet<string>): Promise<Map<string, Uint8Array>> {
    return splits.size === 0 ? new Map() : this.#outcomes({ startInstances: true }, instanceCount, splits);
  }

  async #outcomes(
    request: MessageInitShape<typeof ActivePredictSchema>,
    rowCount: number,
    splits: ReadonlySet<string>,
  ): Promise<Map<string, Uint8Array>> {
    const outcomes = new Map<string, Uint8Array>();
    await this.#guard(
      (async () => {
        for await (const outcome of this.#peer.predict(request, this.#options())) {
          const { tree, node, leftMembers } = outcome;
          const key = splitKey(tree, node);
          if (!splits.has(key) || outcomes.has(key)) throw this.#deviates("the outcome of a split that is not its own");
          checkBitmap(leftMembers, rowCount);
          this.tally.see(predictionSeen(outcome, rowCount));
          outcomes.set(key, leftMembers);
        }
      })(),
    );
    if (outcomes.size !== splits.size)
      throw this.#deviates(`the outcomes of ${outcomes.size} of its ${splits.size} splits`);
    return outcomes;
  }

  /** The party as masked scoring asks it about so many rows. */
  masked(rowCount: number): MaskedPeer {
    return {
      name: this.name,
      maskOpen: (request) => this.#guard(this.#peer.maskOpen(request, this.#options())),
      maskStep: async (request) => {
        const { batch = 0, rows } = request;
        const answer = await this.#guard(this.#peer.maskStep(request, this.#options()));
        if (batch > 0 && rows === undefined) this.tally.see(scoresSeen(rowCount, answer.scheme));
        return answer;
      },
    };
  }

  /** Ends the job; after a failure tells the party why, without waiting long. */
  async finish(failure: string, treeCount: number): Promise<void> {
    const finished = this.#peer.finishJob(
      { failure, treeCount },
      failure === "" ? this.#options() : { signal: AbortSignal.timeout(2000) },
    );
    // Not guarded after success: the party may leave as soon as it has answered.
    await (failure === "" ? this.#naming(finished) : finished.catch(() => {}));
    this.#closing.abort();
  }

  /** Waits for the end of the join stream, which lasts as long as the party does. */
  async #watch(stream: AsyncIterator<PassiveHello>): Promise<void> {
    let lost = new TandemError("PARTY_LOST", `party ${this.name} closed its connection in the middle of the job`);
    try {
      while ((await stream.next()).done !== true);
    } catch (cause) {
      if (cause instanceof TandemError) lost = this.#named(cause);
    }
    this.#lost = lost;
    for (const reject of this.#waiting) reject(lost);
  }

  /** Fails at once when the party is gone. (Promise.race would keep every result alive until the job ends.) */
  #guard<T>(work: Promise<T>): Promise<T> {
    if (this.#lost !== null) {
      work.catch(() => {}); // it fails as well, with less to say
      return Promise.reject(this.#lost);
    }
    return this.#naming(
      new Promise<T>((resolve, reject) => {
        this.#waiting.add(reject);
        work.then(resolve, reject).finally(() => this.#waiting.delete(reject));
      }),
    );
  }

  async #during<T>(phase: Phase, tree: number, work: () => Promise<T>): Promise<T> {
    const edge = { party: this.name, phase, tree, level: this.#level };
    this.#onPhase({ ...edge, began: true });
    const result = await work();
    this.#onPhase({ ...edge, began: false });
    return result;
  }

  async #naming<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw error instanceof TandemError ? this.#named(error) : error;
    }
  }

  #named(error: TandemError): TandemError {
    if (error.message.startsWith(this.name) || error.message.includes(`party ${this.name}`)) return error;
    return new TandemError(error.code, `party ${this.name}: ${error.message}`, { cause: error });
  }

  /** The error that names the party. */
  deviates(what: string): TandemError {
    return this.#deviates(what);
  }

  #deviates(what: string): TandemError {
    return new TandemError("PROTOCOL_STATE", `party ${this.name} sent ${what}`);
  }

  #options(): { signal: AbortSignal } {
    return { signal: this.#closing.signal };
  }
}
