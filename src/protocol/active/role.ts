/**
 * The active party's side of one attempt at a job: join all passive parties, set up the scheme, grow the trees that are
 * missing one after the other, predict, finish. Straight-line on purpose: the order of the protocol is the order of
 * this file.
 *
 * A round is stored after every passive party has stored all of its trees: they are level with the active party or up
 * to a round ahead, never behind. A round that is redone has the same gradients, hence the same decisions.
 */
import { TandemError } from "../../base/error.ts";
import { nextTurn } from "../../base/event-loop-turn.ts";
import type { CodecParameters, TrainingParameters } from "../../base/parameters.ts";
import { quantise } from "../../codec/batch-codec.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { type BestRound, BoostingMonitor } from "../../gbdt/boost/boosting-monitor.ts";
import type { RealGradients } from "../../base/real-gradients.ts";
import { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import { ColumnSampler, columnRatesOf } from "../../gbdt/boost/column-sampling.ts";
import type { FoldTurns, Turn } from "../../gbdt/boost/fold-turns.ts";
import { checkSampling, sampleRows } from "../../gbdt/boost/row-sampling.ts";
import { addLeafWeights, checkConstraints, checkGrowth, growParametersOf, outputsOf } from "../../gbdt/boost/train.ts";
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import type { Tree } from "../../gbdt/tree/tree.ts";
import { roundsBefore, type StartModel } from "../../gbdt/boost/warm-start.ts";
import { bitmapFrom, isSet } from "../../wire/bitmap.ts";
import { Broadcast } from "./broadcast.ts";
import { BusyClock } from "./busy-clock.ts";
import { addMargins } from "./federated-margins.ts";
import { type ActiveRule, growFederatedTree } from "./federated-tree.ts";
import { gradientLayout } from "../../codec/gradient-layout.ts";
import { type AgreedStart, agreedParameters } from "../job-parameters.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { Ledger } from "../../privacy/ledger.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import type { Observation } from "../../privacy/observation.ts";
import type { Traffic } from "../../privacy/tally.ts";
import { PeerSession } from "./peer-session.ts";
import type { PhaseEdge } from "../phase.ts";
import type { ActiveScheme, GradientChunk } from "../../scheme/scheme.ts";
import { splitKey } from "../split-key.ts";
import { messageBytesMax, protocolVersion } from "../../wire/version.ts";

export interface ActiveJob {
  readonly name: string;
  readonly job: string;
  readonly training: TrainingParameters;
  readonly codec: CodecParameters;
  readonly subtraction: boolean;
  /** Each passive party leaves out the most frequent bin of each of its features; true where left out. */
  readonly skipBin?: boolean;
  readonly features: readonly BinnedFeature[];
  readonly labels: Float64Array;
  /** Null or left out: every instance counts once. */
  readonly weights?: Float64Array | null;
  /** Rows that are evaluated after every round, but not learnt from; ascending. Null or left out: none. */
  readonly validationRows?: Uint32Array | null;
  /** A cross-validation instead of one model: its folds, and what earlier attempts have left of it. */
  readonly folds?: FoldTurns;
  /** The validation rows are from files of their own, which all parties have. */
  readonly validationFile?: boolean;
  /** What it draws its columns with, where they are sampled. */
  readonly samplingSecret?: string;
  readonly idsDigest: Uint8Array;
  /**
   * Which of the parties' rows these are: rows aligned before or as they stand in the files; all of them, or a bitmap.
   */
  readonly rows?: { readonly aligned: boolean; readonly training: Uint8Array };
  readonly scheme: ActiveScheme;
  readonly peers: readonly PassivePeer[];
  readonly observer: ActiveObserver;
  /** The model that training goes on from; null or left out: none. */
  readonly start?: ActiveStart | null;
  /** What earlier attempts at this job have left; nothing, unless it says otherwise. */
  readonly progress?: ActiveProgress;
  /** Makes progress outlive this process; settles when it does. */
  readonly store?: (progress: ActiveProgress) => Promise<void>;
  /** 16 random bytes that tell this beginning of the job from others of the same name. */
  readonly run?: Uint8Array;
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
}

/**
 * The active party's share of a model that training goes on from; features and owners of its rules are those of this
 * job.
 */
export interface ActiveStart extends StartModel<ActiveRule>, AgreedStart {
  readonly trees: readonly Tree<ActiveRule>[];
  /** The active party's own columns of the job's instances. */
  readonly columns: readonly Float32Array[];
  /** What their codes stand for, of columns of categories. */
  readonly categoryNames?: readonly CategoryNames[];
}

/**
 * The trees of all rounds so far, those of a start model among them, every instance's margins after them, and the best
 * round on the validation rows.
 */
export interface ActiveProgress {
  readonly trees: readonly Tree<ActiveRule>[];
  readonly margins: Float64Array;
  readonly best: BestRound | null;
}

/** What the party around this role wants to know. No gradient, label or threshold passes through here. */
export interface ActiveObserver {
  joined(partyName: string, featureCount: number): void;
  layoutProven(layout: GradientLayout): void;
  treeBegan(tree: number): void;
  phase?(edge: PhaseEdge): void;
  /**
   * @param evaluate metrics of the training rows and, after a round, of the validation rows; computed when first asked
   * for
   * @param grown the active party's own view of the tree: for its own eyes
   */
  treeFinished(
    tree: number,
    margins: Float64Array,
    evaluate: () => Promise<RoundMetrics>,
    grown: Tree<ActiveRule>,
  ): void | Promise<void>;
  /** What either side sees of the other, as it happens: for this party's own eyes. */
  observed?(peer: string, observation: Observation): void;
}

export interface RoundMetrics {
  readonly train: Readonly<Record<string, number>>;
  readonly validation: Readonly<Record<string, number>> | null;
}

/** The active party's share: the shape of all trees, its own rules, the leaf weights. */
export interface ActiveModel {
  readonly objective: TrainingParameters["objective"];
  readonly baseMargin: number;
  /** As in Model; left out: one. */
  readonly outputCount?: number | undefined;
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
  /** Per column what its codes stand for; left out where no column has categories. */
  readonly categoryNames?: readonly CategoryNames[];
}

/** Chunks of gradients that may wait for a slow party. */
const chunksAhead = 4;
const idsPerPredictionBatch = 10_000;
/** Instances whose trees are walked before others get their turn. */
const instancesPerTurn = 10_000;
const idBytesPerPredictionBatch = messageBytesMax / 2;

export class ActiveRole {
  readonly phases: PhaseTimesMs = { handshake: 0, encrypt: 0, aggregate: 0, decrypt: 0 };
  readonly #job: ActiveJob;
  readonly #sessions: readonly PeerSession[];
  /** Trees that were grown, and how many of them the model keeps. */
  #grown: readonly Tree<ActiveRule>[] = [];
  #treesKept = 0;
  /** After the last round, whichever attempt grew it. */
  #evaluated: RoundMetrics | null = null;

  constructor(job: ActiveJob) {
    this.#job = job;
    this.#sessions = job.peers.map(
      (peer) =>
        new PeerSession(
          peer,
          job.scheme,
          (edge) => job.observer.phase?.(edge),
          (observation) => job.observer.observed?.(peer.name, observation),
        ),
    );
  }

  /** Bytes and disclosures per passive party, so far. */
  get exchanges(): readonly { readonly peer: string; readonly bytes: Traffic; readonly ledger: Ledger }[] {
    return this.#sessions.map(({ name, tally }) => ({ peer: name, bytes: tally.traffic, ledger: tally.ledger }));
  }

  get traffic(): Traffic {
    const total = { activeToPassive: 0, passiveToActive: 0 };
    for (const { tally } of this.#sessions) {
      const { traffic } = tally;
      total.activeToPassive += traffic.activeToPassive;
      total.passiveToActive += traffic.passiveToActive;
    }
    return total;
  }

  /** Metrics after the last round; null before training has ended. */
  get evaluated(): RoundMetrics | null {
    return this.#evaluated;
  }

  /** Agrees on version, parameters and ids with every party. */
  async join(): Promise<void> {
    const {
      job,
      name,
      training,
      folds,
      codec,
      scheme,
      labels,
      idsDigest,
      rows,
      observer,
      start = null,
      progress,
      run,
      now,
    } = this.#job;
    const started = now();
    checkGrowth(training);
    roundsBefore(start, this.#newTask(), training); // nobody hears of a model that does not fit
    const hello = {
      protocolVersion,
      activeName: name,
      instanceCount: labels.length,
      idsDigest,
      aligned: rows?.aligned ?? false,
      trainingRows: rows?.training ?? new Uint8Array(0),
      trees: folds?.treesDone ?? (progress ?? start)?.trees.length ?? 0,
      run: run ?? new Uint8Array(0),
      validationFile: this.#job.validationFile ?? false,
      validationRows: rowBitmap(this.#job.validationRows ?? null, labels.length),
      parameters: agreedParameters(
        job,
        folds === undefined ? training : roundsOfAll(training, folds.foldCount),
        codec,
        scheme,
        start,
      ),
    };
    await Promise.all(
      this.#sessions.map(async (session) => observer.joined(session.name, (await session.join(hello)).featureCount)),
    );
    this.phases.handshake = now() - started;
  }

  async train(): Promise<ActiveModel> {
    const { training, start = null, progress, store } = this.#job;
    checkSampling(training);
    checkConstraints(training, this.#job.features);
    const task = this.#newTask();
    const roundCount = roundsBefore(start, task, training) + training.num_round;
    const trees = [...((progress ?? start)?.trees ?? [])];
    const margins =
      progress?.margins.slice() ?? (start === null ? task.startMargins() : await this.#marginsAfter(start));
    let round = trees.length / task.treeOutputs.length;
    const monitor = new BoostingMonitor(training, task, { rounds: round, best: progress?.best ?? null });
    // Of the beginning: every attempt sets up the same.
    const layout = this.#layoutOf(sampleRows(training, 0, task.gradients(task.startMargins()), task.trainingRows));
    this.#job.observer.layoutProven(layout);
    const isOver = (): boolean => round === roundCount || monitor.isOver;
    if (!isOver()) await this.#setUp(task, layout);
    while (!isOver()) {
      this.#evaluated = await this.#round(
        { round, firstTree: trees.length, isLast: round + 1 === roundCount },
        task,
        monitor,
        margins,
        async (ofRound) => {
          trees.push(...ofRound);
          await store?.({ trees, margins, best: monitor.best });
        },
      );
      round++;
    }
    this.#evaluated ??= { train: await monitor.onTraining(margins), validation: await monitor.onValidation(margins) };
    this.#grown = trees.slice();
    trees.length = this.#treesKept = monitor.roundsKept * task.treeOutputs.length;
    return {
      objective: training.objective,
      baseMargin: start?.baseMargin ?? task.baseMargin(),
      ...outputsOf(task),
      passiveNames: this.#sessions.map((session) => session.name),
      trees,
    };
  }

  /**
   * Grows every fold's model by turns. To a passive party this is one job: trees one after the other, each with the
   * sample of its fold. Rows outside a sample are routed all the same, so a fold's held-out rows have margins without
   * being asked for.
   */
  async crossValidate(folds: FoldTurns): Promise<void> {
    const { training, features, observer } = this.#job;
    checkSampling(training);
    checkConstraints(training, features);
    const task = folds.firstTask;
    const layout = this.#layoutOf(sampleRows(training, 0, task.gradients(task.startMargins()), task.trainingRows));
    observer.layoutProven(layout);
    if (!folds.isOver) await this.#setUp(task, layout);
    while (!folds.isOver) {
      const turn = folds.next();
      await this.#round(turn, turn.task, turn.monitor, turn.margins, () => folds.finish(turn));
    }
    this.#treesKept = folds.treesDone;
  }

  /** Margins of rows that need not have been trained on, in one round per batch of ids. */
  async predict(model: ActiveModel, rows: PredictionRows): Promise<Float64Array> {
    const { outputCount = 1 } = model;
    const margins = new Float64Array(rows.ids.length * outputCount).fill(model.baseMargin);
    // Passive parties answer for all trees that were grown, also for those that early stopping has dropped.
    const splits = this.#sessions.map((_, peer) =>
      remoteSplits(this.#grown.length > model.trees.length ? this.#grown : model.trees, peer + 1),
    );
    for (let first = 0, end = 0; first < rows.ids.length; first = end) {
      end = predictionBatchEnd(rows.ids, first);
      const ids = rows.ids.slice(first, end);
      const outcomes = await Promise.all(this.#sessions.map((session, peer) => session.predict(ids, splits[peer])));
      addMargins(model, margins.subarray(first * outputCount, end * outputCount), {
        ownValue: (rule, i) => rows.features[rule.feature][first + i],
        ownNames: (rule) => rows.categoryNames?.[rule.feature] ?? null,
        remoteGoesLeft: (owner, tree, node, i) => goesLeft(outcomes[owner - 1], tree, node, i),
      });
    }
    return margins;
  }

  /** Every instance's margins after the trees of a start model. Nobody is named: instances have their order. */
  async #marginsAfter(start: ActiveStart): Promise<Float64Array> {
    const { outputCount = 1, trees, columns, categoryNames = [] } = start;
    const instanceCount = this.#job.labels.length;
    const margins = new Float64Array(instanceCount * outputCount).fill(start.baseMargin);
    const outcomes = await Promise.all(
      this.#sessions.map((session, peer) => session.predictStart(instanceCount, remoteSplits(trees, peer + 1))),
    );
    for (let first = 0; first < instanceCount; first += instancesPerTurn) {
      addMargins(start, margins.subarray(first * outputCount, (first + instancesPerTurn) * outputCount), {
        ownValue: (rule, i) => columns[rule.feature][first + i],
        ownNames: (rule) => categoryNames[rule.feature] ?? null,
        remoteGoesLeft: (owner, tree, node, i) => goesLeft(outcomes[owner - 1], tree, node, first + i),
      });
      await nextTurn();
    }
    return margins;
  }

  /** @param failure empty after success, otherwise what the other parties are told */
  async finish(failure = ""): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.finish(failure, this.#treesKept)));
  }

  #newTask(): BoostingTask {
    const { training, labels, weights, validationRows } = this.#job;
    return new BoostingTask(training, labels, weights, validationRows);
  }

  async #setUp(task: BoostingTask, layout: GradientLayout): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.setUp(layout, this.#job.skipBin ?? true)));
    if (task.treeOutputs[0].length > 1 && this.#sessions.some((session) => session.isMonotone)) {
      throw new TandemError(
        "USAGE",
        "a passive party has monotone constraints, which need trees of one output each. " +
          "Use multi_strategy one_output_per_tree",
      );
    }
  }

  #layoutOf(gradients: RealGradients): GradientLayout {
    return gradientLayout(this.#job.codec, this.#job.scheme.plaintextBitsMax, gradients);
  }

  /**
   * The trees of one round: they share their gradients, which are encrypted once.
   * @param keep called when all passive parties have stored the round's trees, and early stopping has seen it
   */
  async #round(
    { round, firstTree, isLast }: Pick<Turn, "round" | "firstTree" | "isLast">,
    task: BoostingTask,
    monitor: BoostingMonitor,
    margins: Float64Array,
    keep: (trees: readonly Tree<ActiveRule>[]) => Promise<void>,
  ): Promise<RoundMetrics | null> {
    const { features, observer, scheme, training, now } = this.#job;
    observer.treeBegan(firstTree);
    const { sample, ...real } = sampleRows(training, round, task.gradients(margins), task.trainingRows);
    const layout = this.#layoutOf(real);
    await nextTurn();
    const gradients = quantise(layout, real.values);
    await nextTurn();
    let growing = firstTree;
    const edge = (phase: "encrypt" | "decrypt") => (began: boolean) =>
      observer.phase?.({ party: this.#job.name, phase, began, tree: growing, level: 0 });
    const clocks = {
      encrypting: new BusyClock(now, edge("encrypt")),
      waiting: new BusyClock(now),
      decrypting: new BusyClock(now, edge("decrypt")),
    };

    const sessions = round < training.local_rounds ? [] : this.#sessions;
    const chunks = new Broadcast(timed(scheme.gradients(layout, gradients, sample), clocks.encrypting), chunksAhead);
    const readers = sessions.map(() => chunks.reader());
    const sampled = rowBitmap(sample, gradients.instanceCount);
    const gradientsTaken = sessions.map((session, i) => session.sendGradients(firstTree, sampled, readers[i]));
    if (sessions.length > 0 && !isLast)
      void Promise.allSettled(gradientsTaken).then(() =>
        scheme.expectTree(layout, sample?.length ?? gradients.instanceCount),
      );
    const sampler = new ColumnSampler(columnRatesOf(training), training.seed, this.#job.samplingSecret ?? "");
    const sharedRoot: CandidateRows[] | null = sampler.takesAll ? [] : null;
    const trees: Tree<ActiveRule>[] = [];
    let evaluated: RoundMetrics | null = null;
    for (const [i, outputs] of task.treeOutputs.entries()) {
      const tree = firstTree + i;
      growing = tree;
      if (i > 0) observer.treeBegan(tree);
      const grown = await growFederatedTree({
        tree,
        features,
        sampler,
        gradients,
        sample,
        layout,
        outputs,
        sharedRoot,
        parameters: growParametersOf(training),
        subtraction: this.#job.subtraction,
        sessions,
        isConstrained:
          features.some(({ monotone = 0 }) => monotone !== 0) || this.#sessions.some((session) => session.isMonotone),
        gradientsTaken,
        waiting: clocks.waiting,
        decrypting: clocks.decrypting,
      });
      await Promise.all(sessions.map((session) => session.finishTree(tree)));
      addLeafWeights(margins, task.outputCount, tree, grown.tree, grown.leaves);
      trees.push(grown.tree);
      await nextTurn();
      const isLast = i + 1 === task.treeOutputs.length;
      const validation = isLast ? await monitor.afterRound(margins) : null;
      if (isLast) await keep(trees);
      await nextTurn();
      await observer.treeFinished(
        tree,
        margins,
        async () => (evaluated = { train: await monitor.onTraining(margins), validation }),
        grown.tree,
      );
      await nextTurn();
    }
    this.phases.encrypt += clocks.encrypting.totalMs;
    this.phases.decrypt += clocks.decrypting.totalMs;
    this.phases.aggregate += Math.max(0, clocks.waiting.totalMs - clocks.decrypting.totalMs);
    return evaluated;
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
function remoteSplits(trees: readonly Tree<ActiveRule>[], owner: number): Set<string> {
  const keys = new Set<string>();
  trees.forEach((tree, treeIndex) =>
    tree.forEach((node, nodeIndex) => {
      if (node.kind === "split" && node.rule.owner === owner) keys.add(splitKey(treeIndex, nodeIndex));
    }),
  );
  return keys;
}

function goesLeft(outcomes: ReadonlyMap<string, Uint8Array>, tree: number, node: number, row: number): boolean {
  const bitmap = outcomes.get(splitKey(tree, node));
  return bitmap !== undefined && isSet(bitmap, row);
}

/** Counts the time in which the next chunk is being made. */
async function* timed(chunks: AsyncIterable<GradientChunk>, clock: BusyClock): AsyncGenerator<GradientChunk> {
  const iterator = chunks[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await clock.during(() => iterator.next());
    if (done === true) return;
    yield value;
  }
}

/** All folds' rounds, as passive parties count them. */
function roundsOfAll(training: TrainingParameters, folds: number): TrainingParameters {
  const { num_round: rounds, local_rounds: local } = training;
  return { ...training, num_round: rounds * folds, local_rounds: Math.min(local, rounds) * folds };
}

/** Empty for null. */
function rowBitmap(rows: Uint32Array | null, instanceCount: number): Uint8Array {
  if (rows === null) return new Uint8Array(0);
  const isNamed = new Uint8Array(instanceCount);
  for (const row of rows) isNamed[row] = 1;
  return bitmapFrom(instanceCount, (row) => isNamed[row] === 1);
}
