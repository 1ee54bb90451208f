/**
 * The active party's end of one connection: typed calls to one passive party, checks of what comes back, bytes counted
 * both ways, and immediate notice when the party is gone. Errors name the party.
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { columnCount, type GradientLayout } from "../../codec/layout.ts";
import { categoryCountMax } from "../../gbdt/split/category-binning.ts";
import { rowStride } from "../../gbdt/split/histogram.ts";
import { checkBitmap } from "../../wire/bitmap.ts";
import type { BusyClock } from "./busy-clock.ts";
import { type CandidateRows, noCandidates } from "../../scheme/candidates/candidate-rows.ts";
import {
  type CategoryGroup,
  type CategorySet,
  groupsFrom,
  setMessage,
} from "../../scheme/candidates/category-group.ts";
import {
  type ActiveHelloSchema,
  type ActiveNode,
  ActiveNodeSchema,
  type ActivePredictSchema,
  type PassiveHello,
  type PassiveHistograms,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { fitsStoredTrees } from "../job-parameters.ts";
import { emptyLedger, type Ledger } from "../../privacy/ledger.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { OnPhase, Phase } from "../phase.ts";
import type { ActiveScheme, NodeDescription, SchemeTree } from "../../scheme/scheme.ts";
import { ordersFrom } from "../../scheme/candidates/side-order.ts";
import { decisionBytes, type Traffic } from "../traffic.ts";
import { splitKey } from "../split-key.ts";
import { candidateCountMax, protocolVersion } from "../../wire/version.ts";
import { withheldFrom } from "../../scheme/candidates/withheld.ts";

/** A node whose candidate sums are wanted. */
export interface NodeRequest extends NodeDescription {
  readonly instanceCount: number;
  /** Those that are summed. */
  readonly sampledCount: number;
}

/** What a party says of a split that it won. */
export interface SplitAnswer {
  /** Bitmap over the node's instances. */
  readonly leftMembers: Uint8Array;
  /** The constraint of the feature that splits: 1, -1, or 0 for none. */
  readonly monotone: number;
}

/** Which candidates of which node tie for the best gain. */
export interface Decision {
  readonly node: number;
  readonly instanceCount: number;
  readonly candidates: readonly number[];
  /** The same for sets of categories, at most one per group. */
  readonly sets: readonly CategorySet[];
  /** Instances on the summed side of each of these candidates: the split must agree with one of them. */
  readonly sideCounts: readonly number[];
  readonly sampledCount: number;
  /** Of a bitmap over the node's instances: how many of those set are sampled. */
  readonly countSampled: (bitmap: Uint8Array) => number;
}

export class PeerSession {
  readonly traffic: Traffic = { activeToPassive: 0, passiveToActive: 0 };
  /** What either end has learnt of the other. */
  readonly ledger: Ledger = emptyLedger();
  readonly #peer: PassivePeer;
  readonly #scheme: ActiveScheme;
  readonly #onPhase: OnPhase;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<(lost: TandemError) => void>();
  #candidateCount = 0;
  #candidateCountMax = 0;
  /** How often nodes of the current tree were asked for. */
  #level = 0;
  #isMonotone = false;
  /** No party leaves out columns: every node has all candidates. */
  #takesAllColumns = true;
  #takesCategories = false;
  /** Set when the party is gone. */
  #lost: TandemError | null = null;

  constructor(peer: PassivePeer, scheme: ActiveScheme, onPhase: OnPhase = () => {}) {
    this.#peer = peer;
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
        `party ${this.name} has stored ${theirs} trees of this job and we ${ours}: they do not belong together; begin anew under another name`,
      );
    }
    this.#takesCategories = hello.parameters?.enableCategorical ?? false;
    const binsMax = Math.max(hello.parameters?.maxBin ?? 0, this.#takesCategories ? categoryCountMax : 0);
    this.#candidateCountMax = Math.min(candidateCountMax, first.value.featureCount * 2 * binsMax);
    const { colsampleBytree, colsampleBylevel, colsampleBynode } = hello.parameters ?? {};
    this.#takesAllColumns = [colsampleBytree, colsampleBylevel, colsampleBynode].every((rate) => rate === 1);
    void this.#watch(stream);
    return first.value;
  }

  async setUp(layout: GradientLayout): Promise<void> {
    const ready = await this.#guard(this.#peer.setUp({ scheme: this.#scheme.setUp(layout) }, this.#options()));
    if (ready.candidateCount > this.#candidateCountMax)
      throw this.#deviates("more candidates than its features can have");
    this.#candidateCount = ready.candidateCount;
    this.ledger.candidates = ready.candidateCount;
    this.#isMonotone = ready.monotone;
  }

  /** Whether the party has monotone constraints; known after set-up. */
  get isMonotone(): boolean {
    return this.#isMonotone;
  }

  async sendGradients(tree: number, chunks: AsyncIterable<SchemeTree>): Promise<void> {
    const { traffic, ledger } = this;
    const counts = this.#scheme.counts;
    const width = this.#scheme.ciphertextBytes;
    async function* messages(): AsyncGenerator<{ tree: number; sequence: number; scheme: SchemeTree }> {
      let sequence = 0;
      for await (const scheme of chunks) {
        const bytes = scheme.value?.ciphertexts.length ?? 0;
        traffic.activeToPassive += bytes;
        counts.gradientCiphertexts += bytes / width;
        ledger.encryptedGradients += bytes / width;
        yield { tree, sequence: sequence++, scheme };
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
    const stride = rowStride(columnCount(layout));
    const tables = new Map(requests.map(({ node }) => [node, noCandidates]));
    const sizes = new Map(requests.map(({ node, sampledCount }) => [node, sampledCount]));
    const received = new Map(requests.map(({ node }) => [node, 0]));
    const answers = this.#peer.histograms(this.#nodeMessages(tree, requests), this.#options());
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
          const seen = received.get(answer.node);
          if (seen === undefined || seen !== answer.firstCandidate || answer.tree !== tree)
            throw this.#deviates("an answer that was not asked for");
          const { candidateCount } = answer;
          if (candidateCount > this.#candidateCount) throw this.#deviates("no candidates, or more than it has");
          if (seen === 0)
            tables.set(answer.node, {
              rows: new Float64Array(candidateCount * stride),
              orders: this.#isMonotone ? new Int8Array(candidateCount) : null,
              withheld: new Uint8Array(candidateCount),
              groups: this.#groupsOf(answer),
            });
          else if (answer.groups.length > 0) throw this.#deviates("groups of categories in the middle of an answer");
          const { rows, orders, withheld } = tables.get(answer.node) ?? noCandidates;
          if (
            rows.length !== candidateCount * stride ||
            answer.counts.length === 0 ||
            seen + answer.counts.length > candidateCount
          )
            throw this.#deviates("no candidates, or more than it has");
          this.traffic.passiveToActive +=
            4 * answer.counts.length + answer.withheld.length + (answer.scheme.value?.ciphertexts.length ?? 0);
          withheld.set(withheldFrom(answer.withheld, answer.counts), seen);
          orders?.set(ordersFrom(answer.orders, answer.counts.length), seen);
          await decrypting.during(() => this.#decode(layout, answer, rows, sizes.get(answer.node) ?? 0));
          received.set(answer.node, seen + answer.counts.length);
          this.ledger.candidateSums += answer.counts.length;
        }
      })(),
    );
    edge(false);
    this.#level++;
    for (const [node, seen] of received) {
      const expected = this.#takesAllColumns
        ? this.#candidateCount
        : (tables.get(node) ?? noCandidates).rows.length / stride;
      if (seen !== expected) throw this.#deviates(`only ${seen} of ${expected} candidates of node ${node}`);
    }
    return tables;
  }

  /** Per decision who goes left. */
  async splits(tree: number, decisions: readonly Decision[]): Promise<Map<number, SplitAnswer>> {
    const sizes = new Map(decisions.map(({ node, instanceCount }) => [node, instanceCount]));
    const decisionOf = new Map(decisions.map((decision) => [decision.node, decision]));
    const answers = new Map<number, SplitAnswer>();
    const request = {
      tree,
      decisions: decisions.map(({ node, candidates, sets }) => ({
        node,
        candidates: [...candidates],
        sets: sets.map(setMessage),
      })),
    };
    for (const { candidates, sets } of decisions) this.traffic.activeToPassive += decisionBytes(candidates, sets);
    await this.#guard(
      (async () => {
        for await (const split of this.#peer.splits(request, this.#options())) {
          const size = sizes.get(split.node);
          if (
            size === undefined ||
            split.tree !== tree ||
            answers.has(split.node) ||
            Math.abs(split.monotone) > (this.#isMonotone ? 1 : 0)
          )
            throw this.#deviates("a split that was not asked for");
          checkBitmap(split.leftMembers, size);
          const decision = decisionOf.get(split.node);
          const left = decision?.countSampled(split.leftMembers);
          if (decision?.sideCounts.some((count) => count === left || decision.sampledCount - count === left) !== true)
            throw this.#deviates("a split that is none of the candidates");
          this.traffic.passiveToActive += split.leftMembers.length;
          this.ledger.splitOutcomes += size;
          this.ledger.wins++;
          answers.set(split.node, { leftMembers: split.leftMembers, monotone: split.monotone });
        }
      })(),
    );
    if (answers.size !== decisions.length) throw this.#deviates("fewer splits than were asked for");
    return answers;
  }

  async finishTree(tree: number): Promise<void> {
    this.#level = 0;
    await this.#guard(this.#peer.finishTree({ tree }, this.#options()));
  }

  /**
   * The outcome of each of the party's splits, as a bitmap over `ids`.
   * @param splits the keys of all its splits: nothing else is accepted, and nothing less
   */
  predict(ids: readonly string[], splits: ReadonlySet<string>): Promise<Map<string, Uint8Array>> {
    this.ledger.predictedIds += ids.length;
    return this.#outcomes({ ids: [...ids] }, ids.length, splits);
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
        for await (const { tree, node, leftMembers } of this.#peer.predict(request, this.#options())) {
          const key = splitKey(tree, node);
          if (!splits.has(key) || outcomes.has(key)) throw this.#deviates("the outcome of a split that is not its own");
          checkBitmap(leftMembers, rowCount);
          this.ledger.predictionOutcomes += rowCount;
          outcomes.set(key, leftMembers);
        }
      })(),
    );
    if (outcomes.size !== splits.size)
      throw this.#deviates(`the outcomes of ${outcomes.size} of its ${splits.size} splits`);
    return outcomes;
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

  async *#nodeMessages(tree: number, requests: readonly NodeRequest[]): AsyncGenerator<ActiveNode> {
    for (const request of requests) {
      this.traffic.activeToPassive += request.origin?.members.length ?? 0;
      this.ledger.memberships += request.instanceCount;
      yield create(ActiveNodeSchema, { tree, node: request.node, scheme: this.#scheme.node(request) });
    }
  }

  #groupsOf({ groups, candidateCount }: PassiveHistograms): CategoryGroup[] {
    if (groups.length > 0 && !this.#takesCategories) throw this.#deviates("categories, which were not agreed on");
    return groupsFrom(groups, candidateCount);
  }

  async #decode(
    layout: GradientLayout,
    answer: PassiveHistograms,
    table: Float64Array,
    nodeSize: number,
  ): Promise<void> {
    if (answer.counts.some((count) => count > nodeSize))
      throw this.#deviates("a candidate with more instances than its node");
    const sums = await this.#naming(this.#scheme.sums(layout, answer.scheme, answer.counts));
    const columns = columnCount(layout);
    const stride = rowStride(columns);
    answer.counts.forEach((count, i) => {
      const row = (answer.firstCandidate + i) * stride;
      table.set(sums.subarray(i * columns, (i + 1) * columns), row);
      table[row + columns] = count;
    });
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

  #deviates(what: string): TandemError {
    return new TandemError("PROTOCOL_STATE", `party ${this.name} sent ${what}`);
  }

  #options(): { signal: AbortSignal } {
    return { signal: this.#closing.signal };
  }
}
