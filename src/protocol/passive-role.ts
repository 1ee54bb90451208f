/**
 * The passive party's state machine: one handler per message of proto/, each of which checks that the message is
 * allowed now. It knows no network; a transport calls it. It never sees a label, and of its own splits it gives away
 * only their outcome.
 *
 * @reveals active: number of features and of split candidates; for each split that it wins, which side every instance
 *   of the node falls on; of features with monotone constraints, which candidates they are, and the sign where one splits; at prediction, the outcome of each of its splits for each id asked for, also off the path
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import { type BinnedFeature } from "../gbdt/binning.ts";
import { binGoesLeft, thresholdOf } from "../gbdt/candidate.ts";
import { ColumnSampler } from "../gbdt/column-sampling.ts";
import type { Minimums } from "../gbdt/offered-candidates.ts";
import { orderBytes } from "./side-order.ts";
import { valueGoesLeft } from "../gbdt/tree.ts";
import { bitmapFrom } from "./bitmap.ts";
import type {
  ActiveGradients,
  ActiveHello,
  ActiveJobFinished,
  ActiveNode,
  ActivePredict,
  ActiveSetUp,
  ActiveSplitDecisions,
  ActiveTreeFinished,
  PassiveHelloSchema,
  PassiveHistogramsSchema,
  PassivePredictionSchema,
  PassiveReadySchema,
  PassiveSplitSchema,
} from "./generated/tandem/v1/tandem_pb.ts";
import { type AgreedParameters, treeCountOf } from "./job-parameters.ts";
import { peerText } from "./peer-text.ts";
import type { PassiveScheme } from "./scheme.ts";
import { protocolVersion } from "./version.ts";

/** One of this party's own splits: its share of the model is a list of these. */
export interface OwnSplit {
  readonly tree: number;
  readonly node: number;
  readonly feature: number;
  readonly featureName: string;
  readonly threshold: number;
  readonly defaultLeft: boolean;
}

export interface PassiveJob {
  readonly name: string;
  /** What this party has agreed to; the hello must match field by field. */
  readonly agreed: AgreedParameters;
  readonly idsDigest: Uint8Array;
  readonly features: readonly BinnedFeature[];
  readonly instanceCount: number;
  readonly permutationSecret: Uint8Array;
  /** What it draws its columns with, where they are sampled. */
  readonly samplingSecret?: string;
  /** Its owner's: candidates with fewer people are withheld. */
  readonly minimums: Minimums;
  readonly scheme: PassiveScheme;
  /** Own feature values of ids that may be asked for, or null for an unknown id. */
  readonly lookUp: (id: string) => ((feature: number) => number) | null;
  readonly observer: PassiveObserver;
}

/** What the party around this role wants to know. */
export interface PassiveObserver {
  joined(activeName: string): void;
  gradientsBegan(tree: number): void;
  treeFinished(tree: number, ownSplits: readonly OwnSplit[]): void;
}

/** What the party is doing: "loading" takes a tree's gradients, "growing" answers for its nodes. */
type Phase = "waiting" | "joined" | "ready" | "loading" | "growing" | "finished";

export class PassiveRole {
  readonly #job: PassiveJob;
  #phase: Phase = "waiting";
  /** The last tree that has begun, the active party's own among them. */
  #tree: number;
  #splits: OwnSplit[] = [];
  /** Nodes of the current tree that this party has split: a node's memberships are given away once. */
  readonly #splitNodes = new Set<number>();

  constructor(job: PassiveJob) {
    this.#job = job;
    this.#tree = job.agreed.localRounds * job.agreed.treesPerRound - 1;
  }

  get ownSplits(): readonly OwnSplit[] {
    return this.#splits;
  }

  /** @throws TandemError HANDSHAKE_MISMATCH or ID_MISMATCH naming what differs */
  join(hello: ActiveHello): MessageInitShape<typeof PassiveHelloSchema> {
    this.#expect("waiting");
    const job = this.#job;
    const theirs = hello.protocolVersion;
    if (theirs !== protocolVersion) {
      throw new TandemError("HANDSHAKE_MISMATCH", `protocol version: the active party speaks ${theirs}, ${job.name} speaks ${protocolVersion}`);
    }
    for (const [field, ours] of Object.entries(job.agreed)) {
      const given = hello.parameters?.[field as keyof AgreedParameters];
      if (given !== ours) {
        const proposed = given === undefined ? "nothing" : peerText(String(given));
        throw new TandemError("HANDSHAKE_MISMATCH", `${field}: the active party proposes ${proposed}, ${job.name} has agreed to ${ours}`);
      }
    }
    if (hello.instanceCount !== job.instanceCount || Buffer.compare(hello.idsDigest, job.idsDigest) !== 0) {
      throw new TandemError("ID_MISMATCH", `${job.name} does not hold the same ids in the same order as the active party; align the data first`);
    }
    this.#phase = "joined";
    job.observer.joined(peerText(hello.activeName));
    return { protocolVersion, passiveName: job.name, featureCount: job.features.length };
  }

  setUp(setUp: ActiveSetUp): MessageInitShape<typeof PassiveReadySchema> {
    this.#expect("joined");
    const { features, instanceCount, permutationSecret, scheme, agreed } = this.#job;
    const { keyBits, maxDepth } = agreed;
    const rates = { byTree: agreed.colsampleBytree, byLevel: agreed.colsampleBylevel, byNode: agreed.colsampleBynode };
    const sampler = new ColumnSampler(rates, agreed.seed, this.#job.samplingSecret ?? "");
    const candidateCount = scheme.setUp(setUp.scheme, { features, instanceCount, permutationSecret, keyBits, maxDepth, treesPerRound: agreed.treesPerRound, sampler, minimums: this.#job.minimums });
    this.#phase = "ready";
    return { candidateCount, monotone: this.#isMonotone() };
  }

  async gradients(chunks: AsyncIterable<ActiveGradients>): Promise<void> {
    this.#expect("ready");
    const tree = this.#tree + 1;
    const treeCount = treeCountOf(this.#job.agreed);
    if (tree >= treeCount) throw new TandemError("PROTOCOL_STATE", `${treeCount} trees were agreed, not more`);
    this.#phase = "loading";
    this.#tree = tree;
    this.#splitNodes.clear();
    this.#job.observer.gradientsBegan(tree);
    this.#job.scheme.beginTree(tree);
    let sequence = 0;
    for await (const chunk of chunks) {
      if (chunk.tree !== tree || chunk.sequence !== sequence++) {
        throw new TandemError("PROTOCOL_STATE", `gradients of tree ${chunk.tree}, chunk ${chunk.sequence} arrived out of order`);
      }
      await this.#job.scheme.tree(chunk.scheme);
    }
    this.#job.scheme.endOfGradients();
    this.#phase = "growing";
  }

  async *histograms(nodes: AsyncIterable<ActiveNode>): AsyncGenerator<MessageInitShape<typeof PassiveHistogramsSchema>> {
    const isMonotone = this.#isMonotone();
    for await (const node of nodes) {
      this.#expectTree(node.tree);
      for await (const answer of this.#job.scheme.node(node.node, node.scheme)) {
        const { firstCandidate, candidateCount, counts, orders, withheld, scheme } = answer;
        yield { tree: node.tree, node: node.node, firstCandidate, candidateCount, counts: Array.from(counts), orders: isMonotone ? orderBytes(orders) : new Uint8Array(0), withheld, scheme };
      }
    }
  }

  /** Among candidates of equal gain the lowest feature, then the lowest threshold, then missing-right wins. */
  async *splits(request: ActiveSplitDecisions): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>> {
    this.#expectTree(request.tree);
    const { features, scheme } = this.#job;
    for (const decision of request.decisions) {
      const tied = decision.candidates.map((position) => scheme.candidateAt(decision.node, position));
      if (tied.length === 0) throw new TandemError("PROTOCOL_STATE", `no candidate was named for node ${decision.node}`);
      if (this.#splitNodes.has(decision.node)) throw new TandemError("PROTOCOL_STATE", `node ${decision.node} is split already`);
      const chosen = tied.reduce((best, candidate) => (candidate.rank < best.rank ? candidate : best));
      const feature = features[chosen.feature];
      const members = scheme.members(decision.node);
      this.#splitNodes.add(decision.node);
      this.#splits.push({
        tree: request.tree,
        node: decision.node,
        feature: chosen.feature,
        featureName: feature.name,
        threshold: thresholdOf(feature, chosen),
        defaultLeft: chosen.missingLeft,
      });
      const leftMembers = bitmapFrom(members.length, (i) => binGoesLeft(feature, chosen, feature.bins[members[i]]));
      yield { tree: request.tree, node: decision.node, leftMembers, monotone: feature.monotone ?? 0 };
    }
  }

  finishTree(finished: ActiveTreeFinished): void {
    this.#expectTree(finished.tree);
    const isLastOfRound = (finished.tree + 1) % this.#job.agreed.treesPerRound === 0;
    if (isLastOfRound) {
      this.#phase = "ready";
      this.#job.scheme.endTree();
    } else {
      this.#tree = finished.tree + 1;
      this.#splitNodes.clear();
      this.#job.scheme.nextTree(this.#tree);
    }
    this.#job.observer.treeFinished(finished.tree, this.#splits);
  }

  async *predict(request: ActivePredict): AsyncGenerator<MessageInitShape<typeof PassivePredictionSchema>> {
    this.#expect("ready");
    const rows = request.ids.map((id) => {
      const row = this.#job.lookUp(id);
      if (row === null) throw new TandemError("ID_MISMATCH", `${this.#job.name} does not hold one of the ids to predict`);
      return row;
    });
    for (const split of this.#splits) {
      const leftMembers = bitmapFrom(rows.length, (i) => valueGoesLeft(split, rows[i](split.feature)));
      yield { tree: split.tree, node: split.node, leftMembers };
    }
  }

  /** After success the model keeps its first trees, all of them without early stopping; the active party may give up at any time. */
  finishJob({ failure, treeCount: kept }: ActiveJobFinished): void {
    if (failure === "") {
      this.#expect("ready");
      const grown = this.#tree + 1;
      if (kept < 1 || kept > grown) throw new TandemError("PROTOCOL_STATE", `the job ends after ${grown} of ${treeCountOf(this.#job.agreed)} trees and keeps ${kept}`);
      this.#splits = this.#splits.filter(({ tree }) => tree < kept);
    }
    this.#phase = "finished";
  }

  #isMonotone(): boolean {
    return this.#job.features.some(({ monotone = 0 }) => monotone !== 0);
  }

  #expect(phase: Phase): void {
    if (this.#phase !== phase) {
      throw new TandemError("PROTOCOL_STATE", `${this.#job.name} is ${this.#phase} and cannot take this message now`);
    }
  }

  #expectTree(tree: number): void {
    this.#expect("growing");
    if (tree !== this.#tree) throw new TandemError("PROTOCOL_STATE", `${this.#job.name} is at tree ${this.#tree}, not ${tree}`);
  }
}
