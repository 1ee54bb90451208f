/**
 * The passive party's state machine for one attempt at a job: one handler per message of proto/, each of which checks
 * that the message is allowed now before it changes anything. A message that arrives twice gets the same answer, or is
 * refused without harm. The role knows no network; a transport calls it. It never sees a label, and of its own splits
 * it gives away only their outcome.
 *
 * @reveals active: number of features and of split candidates; for each split that it wins, which side every instance
 *   of the node falls on; of features with monotone constraints, which candidates they are, and the sign where one splits; at prediction, the outcome of each of its splits for each id asked for, also off the path;
 *   where training goes on from an earlier model, the outcome of each of its splits of that model for each instance of the job
 */
import { equals, type MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/exclusive.ts";
import { leftBins } from "../../gbdt/split/candidate.ts";
import { ColumnSampler } from "../../gbdt/boost/column-sampling.ts";
import { orderBytes } from "../../scheme/candidates/side-order.ts";
import { columnTest, testOf } from "../../gbdt/split/split-test.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import {
  type ActiveGradients,
  type ActiveHello,
  ActiveHelloSchema,
  type ActiveJobFinished,
  type ActiveNode,
  type ActivePredict,
  type ActiveSetUp,
  ActiveSetUpSchema,
  type ActiveSplitDecision,
  type ActiveSplitDecisions,
  type ActiveTreeFinished,
  type PassiveHelloSchema,
  type PassiveHistogramsSchema,
  type PassivePredictionSchema,
  type PassiveReadySchema,
  type PassiveSplitSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { firstTreeOf, treeCountOf } from "../job-parameters.ts";
import { emptyLedger, type Ledger } from "../../privacy/ledger.ts";
import { groupMessages } from "../../scheme/candidates/category-group.ts";
import { checkHello } from "./hello-check.ts";
import { decisionBytes, type Traffic } from "../traffic.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { PassiveJob } from "./job.ts";
import type { Phase as Work } from "../phase.ts";
import { type DecidedSplit, noProgress, type OwnSplit, SplitLedger } from "./split-ledger.ts";
import { protocolVersion } from "../../wire/version.ts";

export type { OwnSplit } from "./split-ledger.ts";
export type { PassiveJob, PassiveObserver } from "./job.ts";

/**
 * What the party is doing: "loading" takes a tree's gradients, "growing" answers for its nodes; "finished" has ended
 * well, "given up" has not.
 */
type Phase = "waiting" | "joined" | "ready" | "loading" | "growing" | "finished" | "given up";

export class PassiveRole {
  readonly #job: PassiveJob;
  readonly #ledger: SplitLedger;
  /** Whatever changes the ledger waits for its turn. */
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
  /** What either end has learnt of the other in this attempt. */
  readonly disclosures: Ledger = emptyLedger();
  /** Payload bytes, without the framing of the transport. */
  readonly traffic: Traffic = { activeToPassive: 0, passiveToActive: 0 };

  constructor(job: PassiveJob) {
    this.#job = job;
    this.#tree = firstTreeOf(job.agreed) - 1;
    this.#ledger = new SplitLedger(
      job.progress ?? noProgress,
      job.store ?? (() => Promise.resolve()),
      job.agreed.treesPerRound,
    );
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
    return [...(this.#job.start ?? []).map(({ split }) => split), ...this.#ledger.splits];
  }

  /** Finished trees, those of a start model and the active party's own among them. */
  get #stored(): number {
    return Math.max(this.#ledger.trees, firstTreeOf(this.#job.agreed));
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
    const { features, instanceCount, permutationSecret, scheme, agreed } = this.#job;
    const { keyBits, maxDepth, maxLeaves } = agreed;
    const rates = { byTree: agreed.colsampleBytree, byLevel: agreed.colsampleBylevel, byNode: agreed.colsampleBynode };
    const sampler = new ColumnSampler(rates, agreed.seed, this.#job.samplingSecret ?? "");
    const candidateCount = scheme.setUp(setUp.scheme, {
      features,
      instanceCount,
      permutationSecret,
      keyBits,
      maxDepth,
      maxLeaves,
      treesPerRound: agreed.treesPerRound,
      sampler,
      minimums: this.#job.minimums,
    });
    const answer = { candidateCount, monotone: this.#isMonotone() };
    this.#setUp = { message: setUp, answer };
    this.#phase = "ready";
    this.disclosures.candidates = candidateCount;
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
      this.#gradients = { tree, taken };
      await taken;
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
    this.#ledger.beginTree();
    this.#level = 0;
    observer.gradientsBegan(tree);
    this.#edge("send", true);
    try {
      scheme.beginTree(tree);
      await this.#takeChunk(first);
      for (let sequence = 1; ; sequence++) {
        const next = await rest.next();
        if (next.done === true) break;
        this.#checkChunk(next.value, tree, sequence);
        await this.#takeChunk(next.value);
      }
      scheme.endOfGradients();
      if (this.#phase === "loading") this.#phase = "growing";
      this.disclosures.encryptedGradients = scheme.counts.gradientCiphertexts;
    } catch (error) {
      this.#gradients = null;
      if (this.#phase === "loading") [this.#phase, this.#tree] = ["ready", tree - 1];
      throw error;
    } finally {
      this.#edge("send", false);
    }
  }

  async #takeChunk({ scheme }: ActiveGradients): Promise<void> {
    this.traffic.activeToPassive += scheme.value?.ciphertexts.length ?? 0;
    await this.#job.scheme.tree(scheme);
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
    const isMonotone = this.#isMonotone();
    let work: Work = "aggregate";
    this.#edge(work, true);
    for await (const node of nodes) {
      this.#expectTree(node.tree);
      this.traffic.activeToPassive += node.scheme.value?.members.length ?? 0;
      for await (const answer of this.#job.scheme.node(node.node, node.scheme)) {
        const { firstCandidate, candidateCount, counts, orders, withheld, groups, scheme } = answer;
        if (firstCandidate === 0) this.disclosures.memberships += this.#job.scheme.members(node.node).length;
        this.disclosures.candidateSums += counts.length;
        this.traffic.passiveToActive += 4 * counts.length + (scheme.value?.ciphertexts.length ?? 0);
        if (work === "aggregate") {
          this.#edge(work, false);
          work = "return";
          this.#edge(work, true);
        }
        yield {
          tree: node.tree,
          node: node.node,
          firstCandidate,
          candidateCount,
          counts: Array.from(counts),
          orders: isMonotone ? orderBytes(orders) : new Uint8Array(0),
          withheld,
          groups: groupMessages(groups),
          scheme,
        };
      }
    }
    this.#edge(work, false);
    this.#level++;
  }

  /** Among candidates of equal gain the lowest feature, then the lowest threshold, then missing-right wins. */
  async *splits(request: ActiveSplitDecisions): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>> {
    const answers = await this.#turns.run(async () => {
      this.#expectTree(request.tree);
      const decided = request.decisions.map((decision) => this.#decide(request.tree, decision));
      await this.#ledger.record(decided);
      return decided;
    });
    for (const { candidates, sets } of request.decisions)
      this.traffic.activeToPassive += decisionBytes(candidates, sets);
    for (const { split, members, leftMembers, monotone } of answers) {
      this.disclosures.splitOutcomes += members.length;
      this.disclosures.wins++;
      this.traffic.passiveToActive += leftMembers.length;
      yield { tree: split.tree, node: split.node, leftMembers, monotone };
    }
  }

  #decide(
    tree: number,
    { node, candidates, sets }: ActiveSplitDecision,
  ): DecidedSplit & { readonly leftMembers: Uint8Array; readonly monotone: number } {
    const { features, scheme } = this.#job;
    const tied = [
      ...candidates.map((position) => scheme.candidateAt(node, position)),
      ...sets.map((set) => scheme.setAt(node, set)),
    ];
    if (tied.length === 0) throw new TandemError("PROTOCOL_STATE", `no candidate was named for node ${node}`);
    const chosen = tied.reduce((best, candidate) => (candidate.rank < best.rank ? candidate : best));
    const feature = features[chosen.feature];
    const members = scheme.members(node);
    const split = { tree, node, feature: chosen.feature, featureName: feature.name, ...testOf(feature, chosen) };
    const goesLeft = leftBins(feature, chosen);
    const leftMembers = bitmapFrom(members.length, (i) => goesLeft[feature.bins[members[i]]] === 1);
    return { split, members, leftMembers, monotone: feature.monotone ?? 0 };
  }

  /** Stored before it is answered. The next tree of a round begins at once: its gradients are there. */
  async finishTree(finished: ActiveTreeFinished): Promise<void> {
    await this.#turns.run(async () => {
      const isPast = finished.tree < this.#tree || (finished.tree === this.#tree && this.#phase === "ready");
      if (isPast) return;
      this.#expectTree(finished.tree);
      await this.#ledger.finishTree(finished.tree);
      const isLastOfRound = (finished.tree + 1) % this.#job.agreed.treesPerRound === 0;
      if (isLastOfRound) {
        this.#phase = "ready";
        this.#job.scheme.endTree();
      } else {
        this.#tree = finished.tree + 1;
        this.#ledger.beginTree();
        this.#job.scheme.nextTree(this.#tree);
      }
      this.#level = 0;
      this.#job.observer.treeFinished(finished.tree, this.#ledger.splits);
    });
  }

  async *predict(request: ActivePredict): AsyncGenerator<MessageInitShape<typeof PassivePredictionSchema>> {
    if (this.#phase !== "joined" && this.#phase !== "finished") this.#expect("ready");
    if (request.startInstances) return yield* this.#predictStart(request);
    const rows = request.ids.map((id) => {
      const row = this.#job.lookUp(id);
      if (row === null)
        throw new TandemError("ID_MISMATCH", `${this.#job.name} does not hold one of the ids to predict`);
      return row;
    });
    const splits = this.#splits.filter((split) => split.tree <= this.#tree); // others are of a round that is yet to be redone
    this.disclosures.predictedIds += rows.length;
    this.disclosures.predictionOutcomes += rows.length * splits.length;
    for (const split of splits) {
      const goesLeft = columnTest(split, this.#job.categoryNames?.[split.feature] ?? null);
      const leftMembers = bitmapFrom(rows.length, (i) => goesLeft(rows[i](split.feature)));
      yield { tree: split.tree, node: split.node, leftMembers };
    }
  }

  *#predictStart({ ids }: ActivePredict): Generator<MessageInitShape<typeof PassivePredictionSchema>> {
    const { start, instanceCount } = this.#job;
    if (start === undefined || ids.length > 0)
      throw new TandemError("PROTOCOL_STATE", "this job goes on from no model, or ids are named beside its instances");
    this.disclosures.predictionOutcomes += instanceCount * start.length;
    for (const { split, values, names = null } of start) {
      const goesLeft = columnTest(split, names);
      yield { tree: split.tree, node: split.node, leftMembers: bitmapFrom(instanceCount, (i) => goesLeft(values[i])) };
    }
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

  #isMonotone(): boolean {
    return this.#job.features.some(({ monotone = 0 }) => monotone !== 0);
  }

  #edge(phase: Work, began: boolean): void {
    this.#job.observer.phase?.({ party: this.#job.name, phase, began, tree: this.#tree, level: this.#level });
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
