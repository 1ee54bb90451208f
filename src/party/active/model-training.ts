/**
 * The work of `tandem train`: one model. Each round is stored, so that another process can resume; at the end test rows
 * are predicted, and the share is stored.
 */
import { join } from "node:path";
import { tableDigestsInTurns } from "../../data/table-digest.ts";
import { categoryNamesPerFeature } from "../../data/dataset.ts";
import { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import { roundsBefore } from "../../gbdt/boost/warm-start.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import type {
  ActiveObserver,
  ActiveProgress,
  ActiveRole,
  PhaseTimesMs,
  RoundMetrics,
} from "../../protocol/active/role.ts";
import { agreedParameters, treesPerBoostingRound } from "../../protocol/job-parameters.ts";
import type { Emit } from "../../record/events.ts";
import type { JobNotes } from "../../record/job-record.ts";
import { ProcessMeter } from "../../record/process-meter.ts";
import { ProgressSampler } from "../../record/progress-sampler.ts";
import { base64, noTranscript, type TranscriptNotes } from "../../record/transcript-file.ts";
import type { ActiveConfig } from "../config/config.ts";
import { openTranscript } from "../job-transcript.ts";
import type { Attempt, AttemptTerms, JobWork, PreparedJob } from "./attempts.ts";
import type { ActiveCheckpoints, BegunJob } from "./checkpoints.ts";
import { comparesAlone, evaluateJob } from "./job-evaluation.ts";
import { trainAlone } from "./plain-training.ts";
import { oneClassWords } from "./results.ts";
import { storeModel } from "./store-model.ts";
import type { JobTables } from "./tables.ts";
import type { ActiveWorld } from "./world.ts";

/** Metrics of a round that eval_every skips. */
const notEvaluated: RoundMetrics = { train: {}, validation: null };

export class ModelTraining implements JobWork<void> {
  readonly folds = 0;
  readonly #config: ActiveConfig;
  readonly #checkpoints: ActiveCheckpoints;
  readonly #emit: Emit;
  readonly #notes: JobNotes;
  readonly #world: ActiveWorld;
  readonly #meter = new ProcessMeter();
  /** Sum over all attempts of this process. */
  readonly #spent = {
    phases: { handshake: 0, setUp: 0, encrypt: 0, aggregate: 0, decrypt: 0 },
    trainingMs: 0,
    activeToPassive: 0,
    passiveToActive: 0,
  };
  readonly #accounted = new WeakSet<ActiveRole>();
  #transcript: TranscriptNotes = noTranscript;
  /** Margins of the job's rows after the last tree. */
  #margins: Float64Array | null = null;
  /** The same after the best round, with early stopping. */
  #best: { readonly round: number; readonly margins: Float64Array } | null = null;

  constructor(config: ActiveConfig, checkpoints: ActiveCheckpoints, emit: Emit, notes: JobNotes, world: ActiveWorld) {
    this.#config = config;
    this.#checkpoints = checkpoints;
    this.#emit = emit;
    this.#notes = notes;
    this.#world = world;
  }

  readonly kind = "training";

  get folder(): string {
    return this.#checkpoints.folder;
  }

  get whole(): TrainingParameters {
    return this.#config.job.training;
  }

  get alignedPath(): string {
    return join(this.folder, "aligned.csv");
  }

  get begun(): BegunJob | null {
    return this.#checkpoints.checkpoint;
  }

  get treesDone(): number {
    return (this.#checkpoints.checkpoint?.progress ?? this.#config.job.start)?.trees.length ?? 0;
  }

  begin(job: BegunJob): Promise<void> {
    return this.#checkpoints.begin(job);
  }

  requested(isWaiting: boolean): Promise<void> {
    return this.#checkpoints.requested(isWaiting);
  }

  checkRows({ rows }: JobTables): void {
    const { training, start } = this.#config.job;
    roundsBefore(start, new BoostingTask(training, rows), training);
  }

  async prepared({ train, test, rows }: PreparedJob): Promise<void> {
    const { name, job } = this.#config;
    const data = {
      trainRows: rows.count,
      testRows: test?.ids.length ?? 0,
      featureCount: train.features.length,
    };
    this.#emit({ type: "data", party: name, job: job.name, data });
    for (const words of oneClassWords(job.training, { rows, test })) this.#emit({ type: "notice", party: name, words });
    const [sha256] = await tableDigestsInTurns(train);
    this.#notes.own({ kind: "data", sha256 });
    for (const [tree, nodes] of (job.start?.trees ?? []).entries()) this.#notes.own({ kind: "tree", tree, nodes });
  }

  attempt(terms: AttemptTerms): Attempt<void> {
    const { train } = terms.prepared;
    const progress = this.#checkpoints.checkpoint?.progress ?? null;
    if (this.#transcript === noTranscript && this.#config.output.transcript)
      this.#transcript = this.#openTranscript(terms.prepared, progress === null);
    const sampler = new ProgressSampler({
      party: this.#config.name,
      decides: true,
      bytes: () => Object.fromEntries(terms.role().exchanges.map(({ peer, bytes }) => [peer, bytes])),
      emit: this.#emit,
    });
    return {
      job: {
        columns: { features: train.features, categoryNames: categoryNamesPerFeature(train) },
        ...(progress === null ? {} : { progress }),
        store: (after, round) => {
          this.#keepBest(after);
          return terms.keep(() => this.#checkpoints.store(after, round));
        },
      },
      observer: this.#observer(terms, sampler),
      run: async (role) => {
        if (!terms.isFirst) this.#sayResumed(terms.begun);
        await this.#run(role, terms);
      },
      ended: (role) => {
        sampler.stop();
        this.#account(role);
      },
    };
  }

  close(): void {
    this.#transcript.close();
    this.#meter.close();
  }

  #openTranscript({ rows, config }: PreparedJob, isFresh: boolean): TranscriptNotes {
    return openTranscript(agreedParameters(config.job), {
      party: config.name,
      role: "active",
      people: rows.count,
      folder: this.folder,
      isFresh,
    });
  }

  #observer({ scheme, role }: AttemptTerms, sampler: ProgressSampler): ActiveObserver {
    return {
      observed: (peer, observation) => this.#transcript.observed(peer, observation),
      treeBegan: () => this.#meter.start(),
      phase: sampler.edge,
      treeFinished: async (tree, margins, evaluateRound, grown) => {
        this.#meter.stop();
        this.#margins = margins;
        this.#notes.own({ kind: "tree", tree, nodes: grown });
        const { train, validation } = this.#isEvaluated(tree) ? await evaluateRound() : notEvaluated;
        sampler.treeEnded();
        this.#tellLedger(role());
        this.#emit({
          type: "tree",
          party: this.#config.name,
          tree,
          treeCount: this.#treeCount,
          metrics: train,
          ...(validation === null ? {} : { validation }),
          counts: { ...scheme.counts },
        });
      },
    };
  }

  /** The trees of a boosting round are evaluated together. */
  #isEvaluated(tree: number): boolean {
    const { training } = this.#config.job;
    const { eval_every: every } = training;
    const round = Math.floor(tree / treesPerBoostingRound(training)) + 1;
    return tree + 1 === this.#treeCount || (every > 0 && round % every === 0);
  }

  /** Trees of the whole model without early stopping. */
  get #treeCount(): number {
    const { training, start } = this.#config.job;
    return (start?.trees.length ?? 0) + training.num_round * treesPerBoostingRound(training);
  }

  #sayResumed({ aligned }: BegunJob): void {
    const { name, job } = this.#config;
    this.#emit({
      type: "resumed",
      party: name,
      job: job.name,
      trees: this.treesDone,
      treeCount: this.#treeCount,
      ...(aligned === null ? {} : { commonCount: aligned.length }),
    });
  }

  #tellLedger(role: ActiveRole): void {
    for (const { peer, ledger } of role.exchanges)
      this.#emit({ type: "ledger", party: this.#config.name, peer, ledger });
  }

  async #run(role: ActiveRole, { prepared, scheme, keygenMs, begun }: AttemptTerms): Promise<void> {
    const { name, job } = this.#config;
    const { now } = this.#world;
    const started = now();
    const model = await role.train().finally(() => (this.#spent.trainingMs += now() - started));
    if (model.treeWeights !== undefined) this.#notes.own({ kind: "tree-weights", weights: model.treeWeights });
    const margins = this.#margins ?? this.#checkpoints.checkpoint?.progress?.margins;
    if (margins !== undefined)
      this.#transcript.note({ kind: "people", labels: base64(prepared.rows.labels), scores: base64(margins) });
    const kept = this.#keptMargins(margins ?? null);
    const test = await storeModel(role, model, prepared, kept, this.folder, this.#world.storage);
    await role.finish();
    await this.#checkpoints.finish();
    this.#tellLedger(role);
    this.#account(role);
    const alone = comparesAlone(this.#config, prepared) ? await this.#alone(prepared, begun) : null;
    const evaluation = await evaluateJob({
      prepared,
      margins: kept,
      testMargins: test?.margins ?? null,
      alone: alone?.margins ?? null,
    });
    if (evaluation !== null) this.#notes.own({ kind: "evaluation", evaluation });
    const { phases, trainingMs, activeToPassive, passiveToActive } = this.#spent;
    const { train, validation } = role.evaluated ?? notEvaluated;
    this.#emit({
      type: "active-result",
      party: name,
      result: {
        trees: model.trees.length,
        startTrees: job.start?.trees.length ?? 0,
        metrics: { train, ...(validation === null ? {} : { validation }), test: test?.metrics ?? null },
        ...(alone === null || this.#config.compare_alone !== true ? {} : { alone: alone.metrics }),
        phasesMs: { ...phases, keygen: keygenMs, training: trainingMs },
        ...this.#meter.use,
        counts: scheme.counts,
        bytes: { activeToPassive, passiveToActive },
      },
    });
  }

  #keepBest({ best, margins }: ActiveProgress): void {
    if (this.whole.early_stopping_rounds > 0 && best !== null && best.round !== this.#best?.round)
      this.#best = { round: best.round, margins: margins.slice() };
  }

  /** Of the rounds that the model keeps; null: an earlier process had the best round. */
  #keptMargins(last: Float64Array | null): Float64Array | null {
    return this.whole.early_stopping_rounds === 0 ? last : (this.#best?.margins ?? null);
  }

  /** All rounds, also where the job continues a start model of all parties. */
  #alone(prepared: PreparedJob, { samplingSecret }: BegunJob): ReturnType<typeof trainAlone> {
    const { job } = prepared.config;
    const { training } = job;
    const rounds = this.#treeCount / treesPerBoostingRound(training);
    const alone = { ...job, start: null, training: { ...training, num_round: rounds } };
    return trainAlone(alone, prepared, samplingSecret);
  }

  /** Adds the times of an attempt once. */
  #account(role: ActiveRole): void {
    if (this.#accounted.has(role)) return;
    this.#accounted.add(role);
    for (const phase of Object.keys(this.#spent.phases) as (keyof PhaseTimesMs)[])
      this.#spent.phases[phase] += role.phases[phase];
    this.#spent.activeToPassive += role.traffic.activeToPassive;
    this.#spent.passiveToActive += role.traffic.passiveToActive;
  }
}
