/**
 * The active party's side of one attempt at a job: join all passive parties, set up the scheme, grow the remaining
 * trees one after the other, predict, finish. The order of this file is the order of the protocol.
 *
 * A round is stored after every passive party has stored all of its trees: passive parties have as many trees as the
 * active party, or up to a round more, never fewer. A round that is redone has the same gradients, hence the same
 * decisions.
 */
import { osRandom } from "../../base/random.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { BoostingMonitor } from "../../gbdt/boost/boosting-monitor.ts";
import { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import type { Turns } from "../../gbdt/boost/fold-turns.ts";
import {
  beginsBoostingRound,
  endsBoostingRound,
  boostingRoundOf,
  parallelTreesField,
  gradientRoundCount,
} from "../../gbdt/boost/gradient-rounds.ts";
import { checkSampling, sampleRows } from "../../gbdt/boost/row-sampling.ts";
import {
  checkConstraints,
  checkForest,
  checkGrowth,
  checkOrderedLeaves,
  modelOutputs,
} from "../../gbdt/boost/train.ts";
import { roundsBefore } from "../../gbdt/boost/warm-start.ts";
import type { Tree } from "../../gbdt/tree/tree.ts";
import type { Ledger } from "../../messages/ledger.ts";
import type { Traffic } from "../../messages/tally.ts";
import { rowBitmap } from "../../wire/bitmap.ts";
import { protocolVersion } from "../../wire/version.ts";
import { HiddenMembership } from "../hidden/active.ts";
import { checkHiddenFeatures, checkHiddenSums } from "../hidden-sums.ts";
import { agreedParameters, type AgreedParameters, noiseIn, proposedParameters } from "../job-parameters.ts";
import { SentMembership } from "../sent/active.ts";
import { checkDart, federatedDart } from "./dart-course.ts";
import { FederatedRound, layoutFor, type RoundTurn } from "./federated-round.ts";
import type { ActiveRule } from "./federated-tree.ts";
import type { ActiveJob, ActiveModel, PhaseTimesMs, PredictionRows, RoundMetrics, StoredRound } from "./job.ts";
import type { ActiveMembership } from "./membership.ts";
import type { PeerPredictions } from "./peer-predictions.ts";
import { sealKeyBytes } from "./peer-maximum.ts";
import { PeerSession } from "./peer-session.ts";
import { PlaintextJournal } from "./plaintext-journal.ts";
import { marginsAfter, predictRows } from "./predictions.ts";
import { type VettedPeer, vetPeers } from "./vetting.ts";
import { vettingGradients } from "../../gbdt/vet/vet-sums.ts";
import { checkScoreNoise } from "../../scheme/masked/score-noise.ts";
import { allShortcuts } from "../../scheme/shortcuts.ts";

export type {
  ActiveJob,
  ActiveModel,
  ActiveObserver,
  ActiveProgress,
  ActiveStart,
  OwnColumns,
  PhaseTimesMs,
  PredictionRows,
  RoundMetrics,
  SharedRows,
  StoredRound,
} from "./job.ts";

export class ActiveRole {
  readonly phases: PhaseTimesMs = { handshake: 0, setUp: 0, encrypt: 0, aggregate: 0, decrypt: 0 };
  readonly #job: ActiveJob;
  readonly #sessions: readonly PeerSession[];
  readonly #membership: ActiveMembership;
  /** The grown trees, and how many of them the model keeps. */
  #grown: readonly Tree<ActiveRule>[] = [];
  #treesKept = 0;
  /** After the last round, whichever attempt grew it. */
  #evaluated: RoundMetrics | null = null;

  constructor(job: ActiveJob) {
    const { scheme } = job;
    this.#job = job;
    const { journal = new PlaintextJournal(), sealKey = osRandom.fill(new Uint8Array(sealKeyBytes)) } = job;
    this.#membership =
      scheme.membership === "sent" ? new SentMembership(scheme, journal) : new HiddenMembership(scheme);
    this.#sessions = job.peers.map(
      (peer, index) =>
        new PeerSession(
          peer,
          index,
          scheme,
          (edge) => job.observer.phase?.(edge),
          (observation) => job.observer.observed?.(peer.name, observation),
          sealKey,
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
    const { name, job, folds, rows, idsDigest, sharedRows, observer, progress, jobId, now } = this.#job;
    const { training, start } = job;
    const started = now();
    checkGrowth(training);
    checkForest(training);
    noiseIn(job);
    checkHiddenSums(job);
    if (job.privacy.hidden_sums) checkHiddenFeatures(this.#job.features, name);
    roundsBefore(start, this.#newTask(), training); // checked before a party is contacted
    checkDart(this.#job);
    checkScoreNoise(this.#job.job.privacy, this.#job.job.start !== null);
    const hello = {
      protocolVersion,
      activeName: name,
      instanceCount: rows.count,
      idsDigest,
      aligned: sharedRows?.aligned ?? false,
      trainingRows: sharedRows?.training ?? new Uint8Array(0),
      trees: folds?.treesDone ?? (progress ?? start)?.trees.length ?? 0,
      jobId: jobId ?? new Uint8Array(0),
      validationFile: this.#job.validationFile ?? false,
      validationRows: rowBitmap(rows.validation, rows.count),
      parameters: proposedParameters(this.#agreed),
    };
    await Promise.all(
      this.#sessions.map(async (session) => {
        const { featureCount } = await session.join(hello);
        observer.joined?.(session.name, featureCount);
      }),
    );
    this.phases.handshake = now() - started;
  }

  async train(): Promise<ActiveModel> {
    const { progress, store } = this.#job;
    const { training, start } = this.#job.job;
    checkSampling(training);
    checkConstraints(training, this.#job.features);
    const task = this.#newTask();
    const roundCount = gradientRoundCount(roundsBefore(start, task, training) + training.num_round, training);
    const trees = [...((progress ?? start)?.trees ?? [])];
    const dart = await federatedDart(this.#job, task, this.#predictions);
    const margins = progress?.margins.slice() ?? (await (dart?.margins() ?? this.#marginsBefore(task)));
    let gradientRound = trees.length / task.treeOutputs.length;
    const boostingRounds = boostingRoundOf(gradientRound, training);
    const monitor = new BoostingMonitor(training, task, { rounds: boostingRounds, best: progress?.best ?? null });
    const boostingRoundMargins = (progress?.boostingRoundMargins ?? margins).slice();
    // From the beginning of the job: every attempt has the same set-up.
    const layout = layoutFor(
      this.#job,
      sampleRows(training, 0, task.gradients(task.startMargins()), task.rows.training),
    );
    const isOver = (): boolean =>
      gradientRound === roundCount || (beginsBoostingRound(gradientRound, training) && monitor.isOver);
    if (!isOver()) await this.#setUp(task.rows.training, layout);
    this.#job.observer.layoutProven?.(layout);
    let stored: Promise<RoundMetrics | null> = Promise.resolve(null);
    try {
      for (; !isOver(); gradientRound++) {
        const firstTree = gradientRound * task.treeOutputs.length;
        const turn = {
          gradientRound,
          firstTree,
          isLast: gradientRound + 1 === roundCount,
          boostingRoundMargins,
          training,
          dart,
        };
        const underWay = endsBoostingRound(gradientRound, training) || dart !== null ? {} : { boostingRoundMargins };
        const grown = await this.#round(turn, task, monitor, margins, stored, async (ofRound) => {
          trees.push(...ofRound.trees);
          const kept = dart === null ? underWay : { dart: dart.progress };
          await store?.({ trees, margins, best: monitor.best, ...kept }, ofRound);
        });
        stored = grown.ended;
        if (endsBoostingRound(gradientRound, training)) boostingRoundMargins.set(margins);
      }
    } finally {
      await stored.catch(() => {}); // nothing is written after this, also on failure
    }
    this.#evaluated = await stored;
    this.#evaluated ??= { train: await monitor.onTraining(margins), validation: await monitor.onValidation(margins) };
    this.#evaluated = monitor.metricsKept ?? this.#evaluated;
    this.#grown = trees.slice();
    trees.length = this.#treesKept = gradientRoundCount(monitor.roundsKept, training) * task.treeOutputs.length;
    return {
      objective: training.objective,
      baseMargin: start?.baseMargin ?? task.baseMargin(),
      ...modelOutputs(task),
      ...parallelTreesField(training),
      ...(dart === null ? {} : { treeWeights: monitor.weightsKept(dart.weights) }),
      passiveNames: this.#sessions.map((session) => session.name),
      trees,
    };
  }

  /**
   * Grows the models of all folds, interleaved. To a passive party this is one job: trees one after the other, each
   * with the sample of its fold. Rows outside a sample are routed as well, so a fold's held-out rows get margins
   * without a prediction request.
   */
  async crossValidate(folds: Turns): Promise<void> {
    const { features, observer } = this.#job;
    const { training } = this.#job.job;
    checkSampling(training);
    checkConstraints(training, features);
    const task = folds.firstTask;
    const layout = layoutFor(
      this.#job,
      sampleRows(training, 0, task.gradients(task.startMargins()), task.rows.training),
    );
    // Every row is summed in some fold.
    if (!folds.isOver) await this.#setUp(null, layout);
    observer.layoutProven?.(layout);
    while (!folds.isOver) {
      const turn = folds.next();
      // The next round belongs to another fold: it begins when this one has ended.
      const { task, monitor, margins } = turn;
      await (
        await this.#round(turn, task, monitor, margins, Promise.resolve(), () => folds.finish(turn))
      ).ended;
    }
    this.#treesKept = folds.treesDone;
  }

  /** Requests the root of one tree instead, and reads what each column is worth. */
  async vet(): Promise<readonly VettedPeer[]> {
    const real = vettingGradients(this.#job.rows.labels);
    const layout = layoutFor(this.#job, real);
    await this.#setUp(null, layout);
    this.#job.observer.layoutProven?.(layout);
    const vetted = await vetPeers(this.#job, this.#membership, this.#sessions, real);
    this.#treesKept = 1;
    return vetted;
  }

  /** Margins of arbitrary rows, with one request per batch of ids. */
  predict(model: ActiveModel, rows: PredictionRows): Promise<Float64Array> {
    // Passive parties answer for all trees that were grown, also for those that early stopping has dropped.
    const answered = this.#grown.length > model.trees.length ? this.#grown : model.trees;
    return predictRows(this.#predictions, model, answered, rows, this.#job.job.privacy);
  }

  /** The beginning of boosting: after the trees of a start model, if there is one. */
  async #marginsBefore(task: BoostingTask): Promise<Float64Array> {
    const { start } = this.#job.job;
    if (start === null) return task.startMargins();
    return marginsAfter(this.#predictions, start, this.#job, this.#job.job.privacy);
  }

  get #predictions(): readonly PeerPredictions[] {
    return this.#sessions.map(({ predictions }) => predictions);
  }

  /** @param failure empty after success, otherwise the reason sent to the other parties */
  async finish(failure = ""): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.finish(failure, this.#treesKept)));
  }

  get #agreed(): AgreedParameters {
    const { job, folds } = this.#job;
    return agreedParameters({ ...job, training: folds?.whole ?? job.training });
  }

  #newTask(): BoostingTask {
    return new BoostingTask(this.#job.job.training, this.#job.rows);
  }

  /** @param summed instances that are summed in some tree; null: all */
  async #setUp(summed: Uint32Array | null, layout: GradientLayout): Promise<void> {
    const { job, jobId = new Uint8Array(0), rows, now } = this.#job;
    const started = now();
    const terms = {
      agreed: this.#agreed,
      jobId,
      layout,
      instanceCount: rows.count,
      rows: summed,
      skipBin: (job.shortcuts ?? allShortcuts).skipBin,
    };
    await this.#membership.setUp(terms, this.#sessions);
    this.phases.setUp = now() - started;
    if (this.#sessions.some((session) => session.isMonotone))
      checkOrderedLeaves(job.training, "a passive party has monotone constraints: ");
  }

  async #round(
    turn: RoundTurn,
    task: BoostingTask,
    monitor: BoostingMonitor,
    margins: Float64Array,
    before: Promise<unknown>,
    keep: (round: StoredRound) => Promise<void>,
  ): ReturnType<FederatedRound["grow"]> {
    const { training } = turn;
    const sessions = boostingRoundOf(turn.gradientRound, training) < training.local_rounds ? [] : this.#sessions;
    const isConstrained =
      this.#job.features.some(({ monotone = 0 }) => monotone !== 0) ||
      this.#sessions.some((session) => session.isMonotone);
    const round = new FederatedRound(this.#job, this.#membership, task, sessions, isConstrained);
    const grown = await round.grow(turn, monitor, margins, keep, before);
    for (const phase of ["encrypt", "aggregate", "decrypt"] as const) this.phases[phase] += round.spent[phase];
    return grown;
  }
}
