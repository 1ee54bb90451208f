/**
 * The active party's process: read data and labels, align, make a key, train with the passive parties, predict, keep the
 * share. An attempt is a set of connections; when one of them is lost, all are given up, and the next attempt continues
 * from what is stored. The process may end at any moment as well: the same command continues the job.
 */
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { programVersion } from "../base/program-version.ts";
import { overflowProof, type GradientLayout } from "../codec/layout.ts";
import { sumPacking } from "../codec/packing.ts";
import { defaultThreads, generateKey, type PrivateKey, selectKernel } from "../crypto/index.ts";
import { tableDigest } from "../data/table-digest.ts";
import { csvChunks } from "../data/write-csv.ts";
import type { Storage } from "../base/storage.ts";
import { categoryNamesOf, type PartyTable } from "../data/dataset.ts";
import type { BinnedFeature } from "../gbdt/binning.ts";
import { scoreCurves } from "../gbdt/score-curves.ts";
import { otherRows } from "../gbdt/boosting-task.ts";
import { ActiveRole, type PhaseTimesMs } from "../protocol/active-role.ts";
import { idsDigest } from "../protocol/ids.ts";
import { agreedParameters, treesPerRound } from "../protocol/job-parameters.ts";
import { modelId } from "../protocol/model-id.ts";
import { PaillierActive } from "../protocol/paillier-active.ts";
import { protocolVersion } from "../protocol/version.ts";
import type { ActiveCheckpoint } from "../store/active-checkpoint.ts";
import { writeActiveShare } from "../store/share-files.ts";
import { ActiveRecord, makeJobFolder } from "./active-record.ts";
import { type ActiveTables, type AlignedRows, alignTables, type JobTables, jobTables, readActiveTables } from "./active-tables.ts";
import { type ActiveWorld, type ConnectedPeer, realWorld } from "./active-world.ts";
import type { ActiveConfig } from "./config.ts";
import { evaluate, predictionsFrom } from "./evaluate.ts";
import type { Emit, JobEvent, LayoutSummary } from "./events.ts";
import { binningOf, binTable } from "./party-data.ts";
import { Patience } from "./patience.ts";
import { ProcessMeter } from "./process-meter.ts";
import { ProgressSampler } from "./progress-sampler.ts";
import type { RunNotes } from "./run-record.ts";
import { samplingSecretOf } from "./sampling-secret.ts";

export async function runActive(config: ActiveConfig, emit: Emit, world: ActiveWorld = realWorld): Promise<void> {
  const release = await world.lock(join(config.output.directory, config.job));
  try {
    const tables = await readActiveTables(config);
    const record = await ActiveRecord.open(config, tables, world.storage);
    await recorded(config, emit, world, record.folder, (tell, notes) => runJob(config, tables, record, tell, notes, world));
  } finally {
    await release();
  }
}

/** Keeps the job's events beside its results, for people to look at. */
async function recorded(config: ActiveConfig, emit: Emit, world: ActiveWorld, folder: string, run: (emit: Emit, notes: RunNotes) => Promise<void>): Promise<void> {
  const notes = world.notes(folder);
  const tell: Emit = (event) => {
    notes.event(event);
    emit(event);
  };
  try {
    tell(jobEvent(config));
    await run(tell, notes);
  } catch (error) {
    notes.event({ type: "error", party: config.name, ...(error instanceof TandemError ? { code: error.code, message: error.message } : { code: "INTERNAL", message: "an internal error" }) });
    throw error;
  } finally {
    notes.close();
  }
}

function jobEvent({ name, job, passives, training, codec, speed, keyBits, align }: ActiveConfig): JobEvent {
  return {
    type: "job",
    party: name,
    role: "active",
    job,
    peers: passives.map((passive) => passive.name),
    treeCount: training.num_round * treesPerRound(training),
    depthMax: training.max_depth,
    parameters: { ...training, eval_metric: training.eval_metric.join(", "), ...codec, ...speed, key_bits: keyBits, align },
    versions: { tandem: programVersion(), protocol: protocolVersion, node: process.versions.node },
  };
}

async function runJob(config: ActiveConfig, tables: ActiveTables, record: ActiveRecord, emit: Emit, notes: RunNotes, world: ActiveWorld): Promise<void> {
  const job = new ActiveJobRun(config, tables, record, emit, notes, world);
  const patience = new Patience(
    {
      patienceMs: config.patience_seconds * 1000,
      now: world.now,
      sleep: world.sleep,
      jitter: world.jitter,
      onWait: (error, delayMs) => emit({ type: "waiting", party: config.name, job: config.job, delayMs, code: error.code, message: error.message }),
    },
    record.checkpoint !== null,
  );
  try {
    for (;;) {
      try {
        return await job.attempt(patience);
      } catch (error) {
        await patience.afterFailure(error);
      }
    }
  } finally {
    job.close();
  }
}

/** Alignment alone; the rows that are common to all parties are written to `out`. */
export async function runAlignment(config: ActiveConfig, out: string | undefined, emit: Emit, world: ActiveWorld = realWorld): Promise<{ readonly path: string; readonly aligned: AlignedRows }> {
  const tables = await readActiveTables(config);
  const path = out ?? join(await makeJobFolder(config, world.storage), "aligned.csv");
  const peers = await world.connect(config);
  try {
    return { path, aligned: await alignAndWrite(tables, peers, config, path, emit, world) };
  } finally {
    for (const peer of peers) peer.close();
  }
}

/** What is the same in every attempt once the rows are known. */
interface Prepared {
  readonly tables: JobTables;
  readonly labels: Float64Array;
  readonly features: readonly BinnedFeature[];
  readonly digest: Uint8Array;
}

/** A job in this process, over all of its attempts. */
class ActiveJobRun {
  readonly #config: ActiveConfig;
  readonly #tables: ActiveTables;
  readonly #record: ActiveRecord;
  readonly #emit: Emit;
  readonly #notes: RunNotes;
  readonly #world: ActiveWorld;
  readonly #meter = new ProcessMeter();
  readonly #spent = { phases: { handshake: 0, encrypt: 0, aggregate: 0, decrypt: 0 }, keygenMs: 0, trainingMs: 0, activeToPassive: 0, passiveToActive: 0 };
  #prepared: Prepared | null = null;
  #scheme: PaillierActive | null = null;
  #key: PrivateKey | null = null;
  #attempts = 0;

  constructor(config: ActiveConfig, tables: ActiveTables, record: ActiveRecord, emit: Emit, notes: RunNotes, world: ActiveWorld) {
    this.#config = config;
    this.#tables = tables;
    this.#record = record;
    this.#emit = emit;
    this.#notes = notes;
    this.#world = world;
  }

  async attempt(patience: Patience): Promise<void> {
    const isFresh = this.#attempts++ === 0 && this.#record.checkpoint === null;
    const key = this.#record.checkpoint?.key ?? (await this.#newKey());
    patience.knocking();
    const peers = await this.#world.connect(this.#config);
    try {
      const begun = this.#record.checkpoint ?? (await this.#begin(key, peers, patience));
      const { role, sampler } = this.#role(begun, peers, patience);
      try {
        await role.join();
        patience.joined();
        if (!isFresh) this.#sayResumed(begun);
        await this.#trainAndFinish(role, begun);
      } catch (error) {
        // Whoever is still there is told why; a lost party is waited for, and joined again on another connection.
        if (!isLoss(error)) await role.finish(error instanceof TandemError ? error.message : "an internal error of the active party");
        throw error;
      } finally {
        sampler.stop();
        this.#account(role);
      }
    } finally {
      for (const peer of peers) peer.close();
    }
  }

  close(): void {
    void this.#meter.use; // stops it
    this.#scheme?.close();
  }

  async #newKey(): Promise<PrivateKey> {
    if (this.#key !== null) return this.#key;
    const { name, keyBits, insecureKey } = this.#config;
    const started = this.#world.now();
    this.#key = await generateKey({ bits: keyBits, insecure: insecureKey });
    this.#spent.keygenMs = this.#world.now() - started;
    this.#emit({ type: "key", party: name, process: process.pid, keyBits, kernel: selectKernel().name });
    return this.#key;
  }

  /** Alignment, where there is one; then the job is stored. */
  async #begin(key: PrivateKey, peers: readonly ConnectedPeer[], patience: Patience): Promise<ActiveCheckpoint> {
    const emit: Emit = (event) => {
      if (event.type === "alignment-progress") patience.answered();
      this.#emit(event);
    };
    const path = join(this.#record.folder, "aligned.csv");
    const aligned = this.#config.align ? await alignAndWrite(this.#tables, peers, this.#config, path, emit, this.#world) : null;
    this.#prepare(aligned?.rows ?? null); // what is wrong with the rows shows before the job is stored
    const begun = await this.#record.begin(key, samplingSecretOf(this.#config), aligned?.rows ?? null);
    if (aligned !== null) patience.progressed();
    return begun;
  }

  #prepare(aligned: Uint32Array | null): Prepared {
    const { training } = this.#config;
    const tables = jobTables(this.#tables, aligned, this.#config);
    const labels = labelsOf(tables.train);
    if (labels.every((label) => label === labels[0])) throw new TandemError("LABEL_INVALID", `the label is the same in all ${labels.length} training rows; there is nothing to learn`);
    const { validationRows } = tables;
    const features = binTable(tables.train, binningOf(training), validationRows && otherRows(validationRows, labels.length));
    this.#prepared = { tables, labels, features, digest: idsDigest(tables.train.ids) };
    const { name, job } = this.#config;
    this.#emit({ type: "data", party: name, job, data: { trainRows: labels.length, testRows: tables.test?.ids.length ?? 0, featureCount: tables.train.features.length } });
    this.#notes.own({ kind: "data", sha256: tableDigest(tables.train) });
    return this.#prepared;
  }

  #role(begun: ActiveCheckpoint, peers: readonly ConnectedPeer[], patience: Patience): { readonly role: ActiveRole; readonly sampler: ProgressSampler } {
    const { name, job, training, codec, speed, keyBits } = this.#config;
    const { tables, labels, features, digest } = this.#prepared ?? this.#prepare(begun.aligned);
    const emit = this.#emit;
    const sampler = new ProgressSampler({ party: name, decides: true, bytes: () => Object.fromEntries(role.exchanges.map(({ peer, bytes }) => [peer, bytes])), emit });
    const role: ActiveRole = new ActiveRole({
      name,
      job,
      training,
      codec,
      subtraction: speed.subtraction,
      features,
      labels,
      weights: tables.train.weights ?? null,
      validationRows: tables.validationRows,
      samplingSecret: begun.samplingSecret,
      idsDigest: digest,
      rows: tables.rows,
      scheme: this.#schemeOf(begun.key),
      peers,
      run: begun.run,
      ...(begun.progress === null ? {} : { progress: begun.progress }),
      store: async (progress) => {
        await this.#record.store(begun, progress);
        patience.progressed();
      },
      observer: {
        joined: (peer, featureCount) => emit({ type: "joined", party: name, peer, featureCount }),
        layoutProven: (layout) => emit({ type: "layout", party: name, layout: layoutSummary(layout, codec.layout, keyBits, speed.packing) }),
        treeBegan: () => this.#meter.start(),
        phase: sampler.edge,
        treeFinished: async (tree, _margins, evaluateRound, grown) => {
          this.#meter.stop();
          this.#notes.own({ kind: "tree", tree, nodes: grown });
          const { train, validation } = await evaluateRound();
          sampler.treeEnded();
          this.#tellLedger(role);
          const counts = { ...this.#schemeOf(begun.key).counts };
          emit({ type: "tree", party: name, tree, treeCount: training.num_round * treesPerRound(training), metrics: train, ...(validation === null ? {} : { validation }), counts });
        },
      },
      now: this.#world.now,
    });
    return { role, sampler };
  }

  #tellLedger(role: ActiveRole): void {
    for (const { peer, ledger } of role.exchanges) this.#emit({ type: "ledger", party: this.#config.name, peer, ledger });
  }

  #schemeOf(key: PrivateKey): PaillierActive {
    this.#scheme ??= new PaillierActive(selectKernel(), key, this.#config.threads ?? defaultThreads(), this.#config.speed);
    return this.#scheme;
  }

  #modelId({ key, aligned }: ActiveCheckpoint): string {
    const { job, training, codec } = this.#config;
    const { labels, digest } = this.#prepared ?? this.#prepare(aligned);
    return modelId(agreedParameters(job, training, codec, this.#schemeOf(key)), labels.length, digest);
  }

  #sayResumed({ aligned }: ActiveCheckpoint): void {
    const { name, job, training } = this.#config;
    const trees = this.#record.checkpoint?.progress?.trees.length ?? 0;
    this.#emit({ type: "resumed", party: name, job, trees, treeCount: training.num_round * treesPerRound(training), ...(aligned === null ? {} : { commonCount: aligned.length }) });
  }

  async #trainAndFinish(role: ActiveRole, begun: ActiveCheckpoint): Promise<void> {
    const { name, job, training, output } = this.#config;
    const { tables } = this.#prepared ?? this.#prepare(begun.aligned);
    const { storage, now } = this.#world;
    const trainingStarted = now();
    const model = await role.train().finally(() => (this.#spent.trainingMs += now() - trainingStarted));
    let testMetrics = null;
    if (tables.test !== null) {
      const margins = await role.predict(model, { ids: tables.test.ids, features: tables.test.features, categoryNames: categoryNamesOf(tables.test) });
      testMetrics = evaluate(training, margins, labelsOf(tables.test), tables.test.weights);
      const predictions = predictionsFrom(training.objective, margins, model.outputCount);
      await writePredictions(output.predictions ?? join(this.#record.folder, "predictions.csv"), tables.test, predictions, storage);
      const curves = training.objective === "binary:logistic" ? scoreCurves(predictions, labelsOf(tables.test)) : null;
      if (curves !== null) this.#notes.own({ kind: "scores", rows: "test", curves });
    }
    await writeActiveShare(join(this.#record.folder, "share.json"), { name, job, model: this.#modelId(begun), ...model }, storage);
    await role.finish();
    await this.#record.finish();
    this.#tellLedger(role);
    this.#account(role);
    const { phases, keygenMs, trainingMs, activeToPassive, passiveToActive } = this.#spent;
    this.#emit({
      type: "active-result",
      party: name,
      result: {
        trees: model.trees.length,
        metrics: { train: role.evaluated?.train ?? {}, ...(role.evaluated?.validation ? { validation: role.evaluated.validation } : {}), test: testMetrics },
        phasesMs: { ...phases, keygen: keygenMs, training: trainingMs },
        ...this.#meter.use,
        counts: this.#schemeOf(begun.key).counts,
        bytes: { activeToPassive, passiveToActive },
      },
    });
  }

  /** Adds what an attempt took; once. */
  readonly #accounted = new WeakSet<ActiveRole>();
  #account(role: ActiveRole): void {
    if (this.#accounted.has(role)) return;
    this.#accounted.add(role);
    for (const phase of Object.keys(this.#spent.phases) as (keyof PhaseTimesMs)[]) this.#spent.phases[phase] += role.phases[phase];
    this.#spent.activeToPassive += role.traffic.activeToPassive;
    this.#spent.passiveToActive += role.traffic.passiveToActive;
  }
}

function isLoss(error: unknown): boolean {
  return error instanceof TandemError && error.code === "PARTY_LOST";
}

async function alignAndWrite(tables: ActiveTables, peers: readonly ConnectedPeer[], config: ActiveConfig, path: string, emit: Emit, { storage }: ActiveWorld): Promise<AlignedRows> {
  const aligned = await alignTables(tables, peers.map((peer) => peer.alignment(config.job)), config, emit);
  const { train, test } = tables;
  const trainCount = train.table.ids.length;
  const isTrain = (row: number): boolean => row < trainCount;
  const ids = Array.from(aligned.rows, (row) => (isTrain(row) ? train.table.ids[row] : (test?.table.ids[row - trainCount] ?? "")));
  const fileRows = Array.from(aligned.rows, (row) => String(isTrain(row) ? train.fileRows[row] : test?.fileRows[row - trainCount]));
  const files = test === null ? [] : [Array.from(aligned.rows, (row) => (isTrain(row) ? "path" : "test_path"))];
  await storage.write(path, csvChunks(["id", ...(test === null ? [] : ["file"]), "row"], [ids, ...files, fileRows]));
  return aligned;
}

function labelsOf(table: PartyTable): Float64Array {
  if (table.labels === null) throw new TandemError("LABEL_INVALID", "the active party needs labels");
  return table.labels;
}

async function writePredictions(path: string, table: PartyTable, predictions: Float64Array, storage: Storage): Promise<void> {
  const outputCount = predictions.length / table.ids.length;
  const outputs = Array.from({ length: outputCount }, (_, k) => table.ids.map((_id, row) => String(predictions[row * outputCount + k])));
  const names = outputCount === 1 ? ["prediction"] : outputs.map((_, k) => `prediction_${k}`);
  await storage.write(path, csvChunks(["id", "label", ...names], [table.ids, Array.from(labelsOf(table), String), ...outputs]));
}

function layoutSummary(layout: GradientLayout, kind: LayoutSummary["kind"], keyBits: number, packing: boolean): LayoutSummary {
  return {
    kind,
    codec: layout.codec,
    slots: layout.slots,
    instanceCountMax: layout.instanceCountMax,
    keyBits,
    plaintextsPerInstance: layout.plaintexts.length,
    plaintextBits: layout.plaintextBits,
    sumsPerCiphertext: sumPacking(layout.plaintextBits, keyBits, packing).perCiphertext,
    proof: overflowProof(layout),
  };
}
