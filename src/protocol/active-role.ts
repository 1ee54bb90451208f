/**
 * The active party's side of one attempt at a job: join all passive parties, set up the scheme, grow the trees that are
 * missing one after the other, predict, finish. Straight-line on purpose: the order of the protocol is the order of this
 * file.
 *
 * A tree is stored after every passive party has stored it: they are level with the active party or one tree ahead,
 * never behind. A tree that is redone has the same gradients, hence the same decisions.
 */
import { nextTurn } from "../base/event-loop-turn.ts";
import type { CodecParameters, TrainingParameters } from "../base/parameters.ts";
import { quantise } from "../codec/batch-codec.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { BinnedFeature } from "../gbdt/binning.ts";
import { objectiveFor } from "../gbdt/objective.ts";
import { addLeafWeights, growParametersOf } from "../gbdt/train.ts";
import type { Tree } from "../gbdt/tree.ts";
import { isSet } from "./bitmap.ts";
import { Broadcast } from "./broadcast.ts";
import { BusyClock } from "./busy-clock.ts";
import { addMargins } from "./federated-margins.ts";
import { type ActiveRule, growFederatedTree } from "./federated-tree.ts";
import { gradientLayout } from "./gradient-layout.ts";
import { agreedParameters } from "./job-parameters.ts";
import type { PassivePeer } from "./peer.ts";
import type { Ledger } from "./ledger.ts";
import { PeerSession, type Traffic } from "./peer-session.ts";
import type { PhaseEdge } from "./phase.ts";
import type { ActiveScheme, SchemeTree } from "./scheme.ts";
import { splitKey } from "./split-key.ts";
import { messageBytesMax, protocolVersion } from "./version.ts";

export interface ActiveJob {
  readonly name: string;
  readonly job: string;
  readonly training: TrainingParameters;
  readonly codec: CodecParameters;
  readonly subtraction: boolean;
  readonly features: readonly BinnedFeature[];
  readonly labels: Float64Array;
  readonly idsDigest: Uint8Array;
  /** Which of the parties' rows these are: rows aligned before or as they stand in the files; all of them, or a bitmap. */
  readonly rows?: { readonly aligned: boolean; readonly training: Uint8Array };
  readonly scheme: ActiveScheme;
  readonly peers: readonly PassivePeer[];
  readonly observer: ActiveObserver;
  /** What earlier attempts at this job have left; nothing, unless it says otherwise. */
  readonly progress?: ActiveProgress;
  /** Makes progress outlive this process; settles when it does. */
  readonly store?: (progress: ActiveProgress) => Promise<void>;
  /** 16 random bytes that tell this beginning of the job from others of the same name. */
  readonly run?: Uint8Array;
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
}

/** The trees so far, and every training instance's margin after them. */
export interface ActiveProgress {
  readonly trees: readonly Tree<ActiveRule>[];
  readonly margins: Float64Array;
}

/** What the party around this role wants to know. No gradient, label or threshold passes through here. */
export interface ActiveObserver {
  joined(partyName: string, featureCount: number): void;
  layoutProven(layout: GradientLayout): void;
  treeBegan(tree: number): void;
  phase?(edge: PhaseEdge): void;
  /** @param grown the active party's own view of the tree: for its own eyes */
  treeFinished(tree: number, margins: Float64Array, grown: Tree<ActiveRule>): void | Promise<void>;
}

/** The active party's share: the shape of all trees, its own rules, the leaf weights. */
export interface ActiveModel {
  readonly objective: TrainingParameters["objective"];
  readonly baseMargin: number;
  /** Names of the passive parties: rule.owner - 1 is the index here. */
  readonly passiveNames: readonly string[];
  readonly trees: readonly Tree<ActiveRule>[];
}

export interface PhaseTimesMs {
  handshake: number;
  encrypt: number;
  aggregate: number;
  decrypt: number;
}

/** Rows that are to be predicted: the active party's own columns of them. */
export interface PredictionRows {
  readonly ids: readonly string[];
  readonly features: readonly Float32Array[];
}

/** Chunks of gradients that may wait for a slow party. */
const chunksAhead = 4;
const idsPerPredictionBatch = 10_000;
const idBytesPerPredictionBatch = messageBytesMax / 2;

export class ActiveRole {
  readonly phases: PhaseTimesMs = { handshake: 0, encrypt: 0, aggregate: 0, decrypt: 0 };
  readonly #job: ActiveJob;
  readonly #sessions: readonly PeerSession[];

  constructor(job: ActiveJob) {
    this.#job = job;
    this.#sessions = job.peers.map((peer) => new PeerSession(peer, job.scheme, (edge) => job.observer.phase?.(edge)));
  }

  /** Bytes and disclosures per passive party, so far. */
  get exchanges(): readonly { readonly peer: string; readonly bytes: Traffic; readonly ledger: Ledger }[] {
    return this.#sessions.map(({ name, traffic, ledger }) => ({ peer: name, bytes: { ...traffic }, ledger: { ...ledger } }));
  }

  get traffic(): Traffic {
    const total = { activeToPassive: 0, passiveToActive: 0 };
    for (const { traffic } of this.#sessions) {
      total.activeToPassive += traffic.activeToPassive;
      total.passiveToActive += traffic.passiveToActive;
    }
    return total;
  }

  /** Agrees on version, parameters and ids with every party. */
  async join(): Promise<void> {
    const { job, name, training, codec, scheme, labels, idsDigest, rows, observer, progress, run, now } = this.#job;
    const started = now();
    const hello = {
      protocolVersion,
      activeName: name,
      instanceCount: labels.length,
      idsDigest,
      aligned: rows?.aligned ?? false,
      trainingRows: rows?.training ?? new Uint8Array(0),
      trees: progress?.trees.length ?? 0,
      run: run ?? new Uint8Array(0),
      parameters: agreedParameters(job, training, codec, scheme),
    };
    await Promise.all(
      this.#sessions.map(async (session) => observer.joined(session.name, (await session.join(hello)).featureCount)),
    );
    this.phases.handshake = now() - started;
  }

  async train(): Promise<ActiveModel> {
    const { training, labels, progress, store, observer } = this.#job;
    const objective = objectiveFor(training.objective);
    objective.checkLabels(labels);
    const baseMargin = objective.baseMargin(training.base_score);
    const atFirst = new Float64Array(labels.length).fill(baseMargin);
    const { layout } = this.#quantised(atFirst); // of the beginning: every attempt sets up the same
    observer.layoutProven(layout);
    const trees = [...(progress?.trees ?? [])];
    const margins = progress?.margins.slice() ?? atFirst;
    if (trees.length < training.num_round) await Promise.all(this.#sessions.map((session) => session.setUp(layout)));
    while (trees.length < training.num_round) {
      const tree = trees.length;
      trees.push(await this.#tree(tree, margins));
      await store?.({ trees, margins });
      await nextTurn();
      await observer.treeFinished(tree, margins, trees[tree]);
      await nextTurn();
    }
    return { objective: training.objective, baseMargin, passiveNames: this.#sessions.map((session) => session.name), trees };
  }

  /** Margins of rows that need not have been trained on, in one round per batch of ids. */
  async predict(model: ActiveModel, rows: PredictionRows): Promise<Float64Array> {
    const margins = new Float64Array(rows.ids.length).fill(model.baseMargin);
    const splits = this.#sessions.map((_, peer) => remoteSplits(model, peer + 1));
    for (let first = 0, end = 0; first < rows.ids.length; first = end) {
      end = predictionBatchEnd(rows.ids, first);
      const ids = rows.ids.slice(first, end);
      const outcomes = await Promise.all(this.#sessions.map((session, peer) => session.predict(ids, splits[peer])));
      addMargins(model, margins.subarray(first, end), {
        ownValue: (rule, i) => rows.features[rule.feature][first + i],
        remoteGoesLeft: (owner, tree, node, i) => {
          const bitmap = outcomes[owner - 1].get(splitKey(tree, node));
          return bitmap !== undefined && isSet(bitmap, i);
        },
      });
    }
    return margins;
  }

  /** @param failure empty after success, otherwise what the other parties are told */
  async finish(failure = ""): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.finish(failure)));
  }

  #quantised(margins: Float64Array): { layout: GradientLayout; values: Float64Array[] } {
    const { training, codec, labels, scheme } = this.#job;
    const objective = objectiveFor(training.objective);
    const { g, h } = objective.gradients(margins, labels);
    return { layout: gradientLayout(objective, codec, scheme.plaintextBitsMax, g, h), values: [g, h] };
  }

  async #tree(tree: number, margins: Float64Array): Promise<Tree<ActiveRule>> {
    const { features, observer, scheme, training, now } = this.#job;
    observer.treeBegan(tree);
    const { layout, values } = this.#quantised(margins);
    await nextTurn();
    const gradients = quantise(layout, values);
    await nextTurn();
    const edge = (phase: "encrypt" | "decrypt") => (began: boolean) => observer.phase?.({ party: this.#job.name, phase, began, tree, level: 0 });
    const clocks = { encrypting: new BusyClock(now, edge("encrypt")), waiting: new BusyClock(now), decrypting: new BusyClock(now, edge("decrypt")) };

    const chunks = new Broadcast(timed(scheme.tree(layout, gradients), clocks.encrypting), chunksAhead);
    const readers = this.#sessions.map(() => chunks.reader());
    const gradientsTaken = this.#sessions.map((session, i) => session.sendGradients(tree, readers[i]));
    if (tree + 1 < training.num_round) void Promise.allSettled(gradientsTaken).then(() => scheme.expectTree(layout, gradients.instanceCount));
    const grown = await growFederatedTree({
      tree,
      features,
      gradients,
      layout,
      parameters: growParametersOf(training),
      subtraction: this.#job.subtraction,
      sessions: this.#sessions,
      gradientsTaken,
      waiting: clocks.waiting,
      decrypting: clocks.decrypting,
    });
    await Promise.all(this.#sessions.map((session) => session.finishTree(tree)));
    this.phases.encrypt += clocks.encrypting.totalMs;
    this.phases.decrypt += clocks.decrypting.totalMs;
    this.phases.aggregate += Math.max(0, clocks.waiting.totalMs - clocks.decrypting.totalMs);
    addLeafWeights(margins, grown.tree, grown.leaves);
    return grown.tree;
  }
}

/** A batch is bounded by its number of ids and by their length: one message must hold it. */
function predictionBatchEnd(ids: readonly string[], first: number): number {
  let end = first + 1;
  let bytes = Buffer.byteLength(ids[first]);
  while (end < ids.length && end - first < idsPerPredictionBatch) {
    bytes += Buffer.byteLength(ids[end]) + 8;
    if (bytes > idBytesPerPredictionBatch) break;
    end++;
  }
  return end;
}

/** The keys of all splits of one passive party. */
function remoteSplits(model: ActiveModel, owner: number): Set<string> {
  const keys = new Set<string>();
  model.trees.forEach((tree, treeIndex) =>
    tree.forEach((node, nodeIndex) => {
      if (node.kind === "split" && node.rule.owner === owner) keys.add(splitKey(treeIndex, nodeIndex));
    }),
  );
  return keys;
}

/** Counts the time in which the next chunk is being made. */
async function* timed(chunks: AsyncIterable<SchemeTree>, clock: BusyClock): AsyncGenerator<SchemeTree> {
  const iterator = chunks[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await clock.during(() => iterator.next());
    if (done === true) return;
    yield value;
  }
}
