/**
 * A job of the active party in one process, over all of its attempts: align once, join, train on, predict, keep the
 * share.
 */
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { tableDigestsInTurns } from "../../data/table-digest.ts";
import { categoryNamesOf } from "../../data/dataset.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import { scoreCurves } from "../../gbdt/metric/score-curves.ts";
import { objectiveFor } from "../../gbdt/objective/objectives.ts";
import { roundsBefore } from "../../gbdt/boost/warm-start.ts";
import { recordedPeer } from "../../protocol/active/recorded-peer.ts";
import { ActiveRole, type PhaseTimesMs, type RoundMetrics } from "../../protocol/active/role.ts";
import { idsDigestInTurns } from "../../protocol/ids.ts";
import { agreedParameters, firstTreeOf, treesPerLayer } from "../../protocol/job-parameters.ts";
import { modelId } from "../../protocol/model-id.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import type { ActiveScheme, SchemeSecret } from "../../scheme/scheme.ts";
import type { ActiveCheckpoint } from "../../store/active-checkpoint.ts";
import { baseMarginMark, maskedMark, writeActiveShare } from "../../store/share-files.ts";
import type { ActiveCheckpoints } from "./checkpoints.ts";
import { layoutSummary, makeSecret, tellFailure, oneClassWords, writePredictions } from "./results.ts";
import { type JobTables, jobTables, type ReadTables } from "./tables.ts";
import type { ActiveWorld, ConnectedPeer } from "./world.ts";
import { connectWatched } from "./watched-peers.ts";
import { alignAndWrite } from "./aligned-file.ts";
import { withCodecOfJob } from "./job-codec.ts";
import type { ActiveConfig } from "../config/config.ts";
import { evaluate } from "../evaluate.ts";
import { predictionsFrom } from "../../gbdt/objective/objectives.ts";
import type { Emit } from "../../record/events.ts";
import { binningOf, binTableInTurns } from "../tables/party-data.ts";
import { rowsOfTable } from "../tables/table-rows.ts";
import type { Patience } from "./patience.ts";
import { trainAlone } from "./plain-training.ts";
import { ProcessMeter } from "../../record/process-meter.ts";
import { ProgressSampler } from "../../record/progress-sampler.ts";
import type { JobNotes } from "../../record/job-record.ts";
import { samplingSecretOf } from "../sampling-secret.ts";
import { base64, noTranscript, type TranscriptNotes } from "../../record/transcript-file.ts";
import { openTranscript } from "../job-transcript.ts";
import type { ActiveEvidence } from "./job-evidence.ts";
import { openActiveEvidence } from "./open-evidence.ts";
import type { PassivePeer } from "../../wire/peer.ts";

/** What is the same in every attempt once the rows are known. */
interface Prepared {
  readonly tables: JobTables;
  readonly features: readonly BinnedFeature[];
  readonly digest: Uint8Array;
  /** The config, with what the scheme can do of the resolution that it asks for. */
  readonly config: ActiveConfig;
}

/** A job in this process, over all of its attempts. */
/** A round that nobody asked about. */
const notEvaluated: RoundMetrics = { train: {}, validation: null };

export class JobAttempts {
  readonly #config: ActiveConfig;
  readonly #read: ReadTables;
  readonly #checkpoints: ActiveCheckpoints;
  readonly #emit: Emit;
  readonly #notes: JobNotes;
  readonly #world: ActiveWorld;
  readonly #meter = new ProcessMeter();
  readonly #spent = {
    phases: { handshake: 0, setUp: 0, encrypt: 0, aggregate: 0, decrypt: 0 },
    keygenMs: 0,
    trainingMs: 0,
    activeToPassive: 0,
    passiveToActive: 0,
  };
  #prepared: Prepared | null = null;
  #scheme: ActiveScheme | null = null;
  #secret: SchemeSecret | null = null;
  #attemptCount = 0;
  #evidence: ActiveEvidence | null = null;
  #transcript: TranscriptNotes = noTranscript;
  /** Of the rows that take part, after the last tree. */
  #margins: Float64Array | null = null;

  constructor(
    config: ActiveConfig,
    read: ReadTables,
    checkpoints: ActiveCheckpoints,
    emit: Emit,
    notes: JobNotes,
    world: ActiveWorld,
  ) {
    this.#config = config;
    this.#read = read;
    this.#checkpoints = checkpoints;
    this.#emit = emit;
    this.#notes = notes;
    this.#world = world;
  }

  async next(patience: Patience): Promise<void> {
    const isFresh = this.#attemptCount++ === 0 && this.#checkpoints.checkpoint === null;
    const secret = this.#checkpoints.checkpoint?.secret ?? (await this.#newSecret());
    patience.knocking();
    await this.#world.crew?.ready(); // nobody else waits for them
    const peers = await connectWatched(this.#world, this.#config, this.#emit, (ms) => patience.wasted(ms));
    try {
      const begun = this.#checkpoints.checkpoint ?? (await this.#begin(secret, peers, patience));
      if (this.#prepared === null) await this.#prepare(begun);
      if (this.#transcript === noTranscript && this.#config.output.transcript)
        this.#transcript = this.#openTranscript(begun);
      const { role, sampler } = this.#role(begun, await this.#recorded(begun, peers), patience);
      try {
        await role.join();
        patience.joined();
        if (!isFresh) this.#sayResumed(begun);
        await this.#trainAndFinish(role, begun);
      } catch (seen) {
        const error = this.#world.crew?.failure ?? seen; // a call that ends for it looks like a party that is gone
        await tellFailure(role, error);
        throw error;
      } finally {
        sampler.stop();
        this.#account(role);
      }
    } finally {
      for (const peer of peers) peer.close();
    }
  }

  /** The rows of an attempt that has begun. */
  get #ready(): Prepared {
    assert(this.#prepared !== null, "rows are prepared before they are used");
    return this.#prepared;
  }

  close(): void {
    this.#transcript.close();
    this.#meter.close();
    this.#scheme?.close?.();
  }

  #openTranscript(begun: ActiveCheckpoint): TranscriptNotes {
    return openTranscript(agreedParameters(this.#ready.config.job), {
      party: this.#config.name,
      role: "active",
      people: this.#ready.tables.rows.count,
      folder: this.#checkpoints.folder,
      isFresh: begun.progress === null,
    });
  }

  async #newSecret(): Promise<SchemeSecret> {
    if (this.#secret !== null) return this.#secret;
    const started = this.#world.now();
    this.#secret = await makeSecret(this.#config, this.#emit);
    this.#spent.keygenMs = this.#world.now() - started;
    return this.#secret;
  }

  /** Alignment, where there is one; then the job is stored. */
  async #begin(secret: SchemeSecret, peers: readonly ConnectedPeer[], patience: Patience): Promise<ActiveCheckpoint> {
    const emit: Emit = (event) => {
      if (event.type === "alignment-progress") patience.answered();
      this.#emit(event);
    };
    const path = join(this.#checkpoints.folder, "aligned.csv");
    const aligned = this.#config.align
      ? await alignAndWrite(this.#read.tables, peers, this.#config, path, emit, this.#world)
      : null;
    const rows = aligned?.rows ?? null;
    // What is wrong with the rows shows before the job is stored.
    const { config } = await this.#prepare({ aligned: rows });
    const begun = await this.#checkpoints.begin({
      secret,
      samplingSecret: samplingSecretOf(this.#config),
      resolutionBits: config.job.codec.resolution_bits,
      aligned: rows,
      start: this.#config.job.start,
    });
    if (aligned !== null) patience.progressed();
    return begun;
  }

  async #prepare({ aligned, resolutionBits }: Pick<ActiveCheckpoint, "aligned" | "resolutionBits">): Promise<Prepared> {
    const { name, job } = this.#config;
    const { training } = job;
    const read = jobTables(this.#read.tables, aligned, this.#config);
    const rows = read.rows.withObjective(this.#world.objective ?? null);
    const tables = { ...read, rows };
    roundsBefore(job.start, new BoostingTask(training, rows), training);
    await nextSlice(); // of many rows each of these takes a second
    const features = await binTableInTurns(tables.train, binningOf(job), rows.training);
    const config = withCodecOfJob(this.#config, rows.trainedCount, this.#emit, resolutionBits);
    this.#prepared = { tables, features, digest: await idsDigestInTurns(tables.train.ids), config };
    this.#emit({
      type: "data",
      party: name,
      job: job.name,
      data: {
        trainRows: rows.count,
        testRows: tables.test?.ids.length ?? 0,
        featureCount: tables.train.features.length,
      },
    });
    for (const words of oneClassWords(training, tables)) this.#emit({ type: "notice", party: name, words });
    const [sha256] = await tableDigestsInTurns(tables.train);
    this.#notes.own({ kind: "data", sha256 });
    for (const [tree, nodes] of (job.start?.trees ?? []).entries()) this.#notes.own({ kind: "tree", tree, nodes });
    // Bins are all that is learnt from: of many rows the rest would be most of this process's memory.
    this.#read.forget();
    const needsValues = job.start !== null || this.#config.compare_alone;
    if (!needsValues)
      this.#prepared = { ...this.#prepared, tables: { ...tables, train: { ...tables.train, features: [] } } };
    return this.#prepared;
  }

  #role(
    begun: ActiveCheckpoint,
    peers: readonly PassivePeer[],
    patience: Patience,
  ): { readonly role: ActiveRole; readonly sampler: ProgressSampler } {
    const { tables, features, digest, config } = this.#ready;
    const { name, job } = config;
    const emit = this.#emit;
    const sampler = new ProgressSampler({
      party: name,
      decides: true,
      bytes: () => Object.fromEntries(role.exchanges.map(({ peer, bytes }) => [peer, bytes])),
      emit,
    });
    const role: ActiveRole = new ActiveRole({
      name,
      job,
      features,
      rows: tables.rows,
      validationFile: this.#config.data.validation_path !== undefined,
      samplingSecret: begun.samplingSecret,
      idsDigest: digest,
      sharedRows: tables.sharedRows,
      scheme: this.#schemeOf(begun.secret),
      peers,
      jobId: begun.jobId,
      columns: { features: tables.train.features, categoryNames: categoryNamesOf(tables.train) },
      ...(begun.progress === null ? {} : { progress: begun.progress }),
      store: async (progress, round) => {
        await this.#evidence?.store(this.#schemeOf(begun.secret).recipe ?? null);
        await this.#checkpoints.store(begun, progress, round);
        patience.progressed();
      },
      observer: {
        observed: (peer, observation) => this.#transcript.observed(peer, observation),
        joined: (peer, featureCount) => emit({ type: "joined", party: name, peer, featureCount }),
        layoutProven: (layout) =>
          emit({
            type: "layout",
            party: name,
            layout: layoutSummary(layout, job, this.#schemeOf(begun.secret).proof),
          }),
        treeBegan: () => this.#meter.start(),
        phase: sampler.edge,
        alarm: (peer, tree, _node, what) =>
          emit({ type: "alarm", party: name, peer, words: `in tree ${tree + 1}: ${what}` }),
        treeFinished: async (tree, margins, evaluateRound, grown) => {
          this.#meter.stop();
          this.#margins = margins;
          this.#notes.own({ kind: "tree", tree, nodes: grown });
          const { train, validation } = this.#isEvaluated(tree) ? await evaluateRound() : notEvaluated;
          sampler.treeEnded();
          this.#tellLedger(role);
          const counts = { ...this.#schemeOf(begun.secret).counts };
          emit({
            type: "tree",
            party: name,
            tree,
            treeCount: this.#treeCount,
            metrics: train,
            ...(validation === null ? {} : { validation }),
            counts,
          });
        },
      },
      now: this.#world.now,
    });
    return { role, sampler };
  }

  /** Of the trees of a layer all are, or none. */
  #isEvaluated(tree: number): boolean {
    const { training } = this.#config.job;
    const { eval_every: every } = training;
    const round = Math.floor(tree / treesPerLayer(training)) + 1;
    return tree + 1 === this.#treeCount || (every > 0 && round % every === 0);
  }

  /** The passive parties, whose messages are recorded. */
  async #recorded(begun: ActiveCheckpoint, peers: readonly ConnectedPeer[]): Promise<readonly PassivePeer[]> {
    const { start } = this.#config.job;
    const firstTree = firstTreeOf(agreedParameters(this.#config.job));
    const prepared = this.#ready;
    this.#evidence ??= await openActiveEvidence({
      config: prepared.config,
      prepared,
      begun,
      firstTree,
      folder: this.#checkpoints.folder,
      storage: this.#world.storage,
    });
    const trees = (begun.progress ?? start)?.trees.length ?? 0;
    const record = await this.#evidence.attempt(Math.max(trees, firstTree));
    return peers.map((peer) => recordedPeer(peer, record(peer.name)));
  }

  #tellLedger(role: ActiveRole): void {
    for (const { peer, ledger } of role.exchanges)
      this.#emit({ type: "ledger", party: this.#config.name, peer, ledger });
  }

  #schemeOf(secret: SchemeSecret): ActiveScheme {
    this.#scheme ??= schemeNamed(this.#config.job.scheme).active(secret, {
      ...this.#config.job,
      threads: this.#config.threads,
      repeatable: this.#config.output.verifiable,
      crew: this.#world.crew,
    });
    return this.#scheme;
  }

  get #modelId(): string {
    const { tables, digest, config } = this.#ready;
    return modelId(agreedParameters(config.job), tables.rows.count, digest);
  }

  /** Trees of the whole model, if nothing stops it early. */
  get #treeCount(): number {
    const { training, start } = this.#config.job;
    return (start?.trees.length ?? 0) + training.num_round * treesPerLayer(training);
  }

  #sayResumed({ aligned }: ActiveCheckpoint): void {
    const { name, job } = this.#config;
    const trees = (this.#checkpoints.checkpoint?.progress ?? job.start)?.trees.length ?? 0;
    this.#emit({
      type: "resumed",
      party: name,
      job: job.name,
      trees,
      treeCount: this.#treeCount,
      ...(aligned === null ? {} : { commonCount: aligned.length }),
    });
  }

  async #trainAndFinish(role: ActiveRole, begun: ActiveCheckpoint): Promise<void> {
    const { name, job, output } = this.#config;
    const { training } = job;
    const { tables, config } = this.#ready;
    const { storage, now } = this.#world;
    const trainingStarted = now();
    const model = await role.train().finally(() => (this.#spent.trainingMs += now() - trainingStarted));
    if (model.treeWeights !== undefined) this.#notes.own({ kind: "tree-weights", weights: model.treeWeights });
    const margins = this.#margins ?? begun.progress?.margins;
    const { labels } = tables.rows;
    if (margins !== undefined)
      this.#transcript.note({ kind: "people", labels: base64(labels), scores: base64(margins) });
    let testMetrics = null;
    if (tables.test !== null) {
      const rows = rowsOfTable(tables.test);
      const margins = await role.predict(model, {
        ids: tables.test.ids,
        features: tables.test.features,
        categoryNames: categoryNamesOf(tables.test),
        baseMargins: rows.columns.base_margin,
      });
      testMetrics = evaluate(training, margins, rows);
      const predictions = predictionsFrom(training.objective, margins, model.outputCount);
      await writePredictions(
        output.predictions ?? join(this.#checkpoints.folder, "predictions.csv"),
        tables.test,
        { objective: training.objective, predictions },
        storage,
      );
      const curves = objectiveFor(training.objective).kind === "binary" ? scoreCurves(predictions, rows.labels) : null;
      if (curves !== null) this.#notes.own({ kind: "scores", rows: "test", curves });
    }
    await writeActiveShare(
      join(this.#checkpoints.folder, "share.json"),
      {
        name,
        job: job.name,
        model: this.#modelId,
        ...maskedMark(job.privacy.masked_scoring),
        ...baseMarginMark(this.#config.data.base_margin),
        ...model,
        ...(tables.train.classes ? { classes: tables.train.classes } : {}),
      },
      storage,
    );
    await role.finish();
    await this.#checkpoints.finish();
    this.#tellLedger(role);
    this.#account(role);
    const alone = this.#config.compare_alone ? await this.#alone(config, tables, begun.samplingSecret) : null;
    const { phases, keygenMs, trainingMs, activeToPassive, passiveToActive } = this.#spent;
    this.#emit({
      type: "active-result",
      party: name,
      result: {
        trees: model.trees.length,
        startTrees: job.start?.trees.length ?? 0,
        metrics: {
          train: role.evaluated?.train ?? {},
          ...(role.evaluated?.validation ? { validation: role.evaluated.validation } : {}),
          test: testMetrics,
        },
        ...(alone === null ? {} : { alone }),
        phasesMs: { ...phases, keygen: keygenMs, training: trainingMs },
        ...this.#meter.use,
        counts: this.#schemeOf(begun.secret).counts,
        bytes: { activeToPassive, passiveToActive },
      },
    });
  }

  /** From the beginning, also where the job went on from a model of everybody's. */
  #alone(config: ActiveConfig, tables: JobTables, samplingSecret: string): ReturnType<typeof trainAlone> {
    const { training } = config.job;
    return trainAlone(
      {
        ...config.job,
        start: null,
        training: { ...training, num_round: this.#treeCount / treesPerLayer(training) },
      },
      tables,
      samplingSecret,
    );
  }

  /** Adds what an attempt took; once. */
  readonly #accounted = new WeakSet<ActiveRole>();
  #account(role: ActiveRole): void {
    if (this.#accounted.has(role)) return;
    this.#accounted.add(role);
    for (const phase of Object.keys(this.#spent.phases) as (keyof PhaseTimesMs)[])
      this.#spent.phases[phase] += role.phases[phase];
    this.#spent.activeToPassive += role.traffic.activeToPassive;
    this.#spent.passiveToActive += role.traffic.passiveToActive;
  }
}
