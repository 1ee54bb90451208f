/**
 * The attempts at a job of the active party: connect, align, agree, train. An attempt is a set of connections. When one
 * of them is lost all are closed, and after a wait the next attempt resumes from what is stored. What a job trains, one
 * model or several, is its work: a ModelTraining, or an InterleavedTraining.
 */
import { TandemError } from "../../base/error.ts";
import { nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { derivedSecretBytes, osRandom } from "../../base/random.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { PlaintextJournal } from "../../protocol/active/plaintext-journal.ts";
import { recordedPeer } from "../../protocol/active/recorded-peer.ts";
import { type ActiveJob, type ActiveObserver, ActiveRole } from "../../protocol/active/role.ts";
import { idsDigestInTurns } from "../../protocol/ids.ts";
import { agreedParameters, firstTreeOf } from "../../protocol/job-parameters.ts";
import type { Emit } from "../../record/events.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import type { ActiveScheme, SchemeSecret } from "../../scheme/scheme.ts";
import type { JobRequest } from "../../transport/admission-client.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { ActiveConfig } from "../config/config.ts";
import { deriveSamplingSecret } from "../sampling-secret.ts";
import { sealKeyOf } from "../scheme-seed.ts";
import { binningOf, binTableInTurns } from "../tables/party-data.ts";
import type { BegunJob } from "./checkpoints.ts";
import { withCodecOfJob } from "./job-codec.ts";
import { comparesAlone } from "./job-evaluation.ts";
import { type ActiveEvidence, openActiveEvidence } from "./job-evidence.ts";
import { Patience } from "./patience.ts";
import { jobRequest, requestJob } from "./request-job.ts";
import { layoutSummary, makeSecret, tellFailure } from "./results.ts";
import { alignTables, type JobTables, jobTables, type ReadTables } from "./tables.ts";
import { connectWatched } from "./watched-peers.ts";
import type { ActiveWorld, ConnectedPeer } from "./world.ts";

const jobIdBytes = 16;

/** The parts of a job that are the same in every attempt. */
export interface PreparedJob extends JobTables {
  /** With the resolution that the scheme supports for these rows. */
  readonly config: ActiveConfig;
  readonly features: readonly BinnedFeature[];
  readonly idsDigest: Uint8Array;
}

/** What a job trains, and what is stored of it. */
export interface JobWork<Result> {
  /** Of the job. */
  readonly folder: string;
  /** As passive parties are asked to approve it. */
  readonly kind: "training" | "cross-validation" | "search" | "vetting";
  /** The agreed parameters, with the rounds of all of its models. */
  readonly whole: TrainingParameters;
  /** Of a cross-validation or a search; 0: none. */
  readonly folds: number;
  /** Where the aligned rows are written; null: nowhere. */
  readonly alignedPath: string | null;
  /** Advice when patience has ended; left out: the same command continues the job. */
  readonly advice?: string | undefined;
  /** State of an earlier attempt; null: none. */
  readonly begun: BegunJob | null;
  /** Number of trees finished by earlier attempts, including those of a start model. */
  readonly treesDone: number;
  /** @throws TandemError if these rows cannot be trained on: nothing is stored then */
  checkRows(tables: JobTables): void;
  /** Called when the job begins to wait for approval, and when it is denied; left out: nothing is stored of that. */
  requested?(isWaiting: boolean): Promise<void>;
  /** Called when all rows are binned: their values are dropped after this. */
  prepared?(job: PreparedJob): Promise<void>;
  begin(job: BegunJob): Promise<void>;
  attempt(terms: AttemptTerms): Attempt<Result>;
}

/** Input of an attempt's work. */
export interface AttemptTerms {
  readonly prepared: PreparedJob;
  readonly begun: BegunJob;
  readonly scheme: ActiveScheme;
  /** This is the job's first attempt, in any process. */
  readonly isFirst: boolean;
  /** Time spent on generating the key; 0 where it was stored. */
  readonly keygenMs: number;
  /** Once the attempt has begun. */
  readonly role: () => ActiveRole;
  /** Stores finished work durably: the evidence of its trees first. */
  readonly keep: (store?: () => Promise<void>) => Promise<void>;
}

export interface Attempt<Result> {
  /** Input of its role besides the rows. */
  readonly job: Pick<ActiveJob, "columns" | "folds" | "progress" | "store">;
  readonly observer: Omit<ActiveObserver, "joined" | "layoutProven" | "alarm">;
  /** All parties have joined. */
  run(role: ActiveRole): Promise<Result>;
  /** Called at the end, also after a failure. */
  ended?(role: ActiveRole): void;
}

export class JobAttempts<Result> {
  readonly #config: ActiveConfig;
  readonly #read: ReadTables;
  readonly #work: JobWork<Result>;
  readonly #emit: Emit;
  readonly #world: ActiveWorld;
  readonly #rowCount: number;
  #attemptCount = 0;
  #secret: SchemeSecret | null = null;
  #keygenMs = 0;
  #scheme: ActiveScheme | null = null;
  #prepared: PreparedJob | null = null;
  #evidence: ActiveEvidence | null = null;
  #journal: PlaintextJournal | undefined;

  constructor(config: ActiveConfig, read: ReadTables, work: JobWork<Result>, emit: Emit, world: ActiveWorld) {
    this.#config = config;
    this.#read = read;
    this.#work = work;
    this.#emit = emit;
    this.#world = world;
    this.#rowCount = read.tables.reduce((sum, { rows }) => sum + rows.ids.ids.length, 0);
  }

  get #request(): JobRequest {
    const { whole, kind, begun } = this.#work;
    const agreed = agreedParameters({ ...this.#config.job, training: whole });
    return jobRequest(this.#config, agreed, this.#rowCount, kind, begun?.jobId ?? new Uint8Array(0));
  }

  /** Repeats until an attempt has succeeded, or another is of no use. */
  async untilDone(): Promise<Result> {
    const { name, job, patience_seconds: seconds, firstContactSeconds } = this.#config;
    const { now, sleep, jitter } = this.#world;
    const patience = new Patience(
      {
        now,
        sleep,
        jitter,
        patienceMs: seconds * 1000,
        firstContactMs: firstContactSeconds * 1000,
        advice: this.#work.advice,
        onWait: ({ code, message }, delayMs, leftMs) =>
          this.#emit({ type: "waiting", party: name, job: job.name, delayMs, leftMs, code, message }),
      },
      this.#work.begun !== null,
    );
    if (this.#work.begun === null) await this.#world.partners?.(this.#config, this.#emit, true);
    try {
      for (;;) {
        try {
          return await this.#attempt(patience);
        } catch (error) {
          await patience.afterFailure(error);
        }
      }
    } finally {
      this.#scheme?.close?.();
    }
  }

  async #attempt(patience: Patience): Promise<Result> {
    const { crew } = this.#world;
    const isFirst = this.#attemptCount++ === 0 && this.#work.begun === null;
    const secret = this.#work.begun?.secret ?? (await this.#newSecret());
    patience.connecting();
    await crew?.ready(); // before other parties are contacted
    const peers = await connectWatched(this.#world, this.#config, this.#emit, (ms) => patience.wasted(ms));
    try {
      await requestJob(peers, this.#request, {
        config: this.#config,
        emit: this.#emit,
        onWaiting: () => patience.queued(),
        onRequested: (isWaiting) => this.#work.requested?.(isWaiting),
      });
      const begun = this.#work.begun ?? (await this.#begin(secret, peers, patience));
      const prepared = this.#prepared ?? (await this.#prepare(begun));
      const scheme = this.#schemeOf(begun);
      const attempt = this.#work.attempt({
        prepared,
        begun,
        scheme,
        isFirst,
        keygenMs: this.#keygenMs,
        role: () => role,
        keep: async (store) => {
          await this.#evidence?.store();
          await store?.();
          patience.progressed();
        },
      });
      const evidence = await this.#evidenceOf(prepared, begun);
      const record = await evidence.attempt(this.#nextTree(prepared));
      const recorded = peers.map((peer) => recordedPeer(peer, record(peer.name)));
      const role: ActiveRole = this.#role(prepared, begun, scheme, recorded, attempt);
      let hasJoined = false;
      try {
        await role.join();
        await evidence.begin();
        hasJoined = true;
        patience.joined();
        const result = await attempt.run(role);
        await evidence.finish();
        return result;
      } catch (seen) {
        const error = crew?.failure ?? seen; // a call that fails because of the crew looks like a lost party
        await tellFailure(role, error);
        throw isFirst && !hasJoined ? this.#withUnusedKey(error) : error;
      } finally {
        attempt.ended?.(role);
      }
    } finally {
      for (const peer of peers) peer.close();
    }
  }

  /** A job that a policy refuses leaves a folder behind: the owner is informed, the other parties are not. */
  #withUnusedKey(error: unknown): unknown {
    if (!(error instanceof TandemError) || error.code !== "POLICY") return error;
    const { folder, advice } = this.#work;
    const what = `${folder} holds the private key of this job, which has encrypted nothing yet`;
    const next = advice === undefined ? "Repeat the command when the policy allows the job, or delete" : "Delete";
    return new TandemError("POLICY", `${error.message}. ${what}. ${next} the folder`, { cause: error });
  }

  async #newSecret(): Promise<SchemeSecret> {
    if (this.#secret !== null) return this.#secret;
    const started = this.#world.now();
    this.#secret = await makeSecret(this.#config, this.#emit);
    this.#keygenMs = this.#world.now() - started;
    return this.#secret;
  }

  /** Aligns the rows, if configured; then the job is stored. */
  async #begin(secret: SchemeSecret, peers: readonly ConnectedPeer[], patience: Patience): Promise<BegunJob> {
    const emit: Emit = (event) => {
      if (event.type === "alignment-progress") patience.answered();
      this.#emit(event);
    };
    const path = this.#work.alignedPath;
    const { storage } = this.#world;
    const rows = this.#config.align
      ? (await alignTables(this.#read.tables, peers, this.#config, emit, { path, storage })).rows
      : null;
    // Rows are checked before the job is stored.
    const { config } = await this.#prepare({ aligned: rows });
    const begun: BegunJob = {
      jobId: osRandom.fill(new Uint8Array(jobIdBytes)),
      secret,
      seed: osRandom.fill(new Uint8Array(derivedSecretBytes)),
      samplingSecret: deriveSamplingSecret(this.#config, this.#config.job.name),
      resolutionBits: config.job.codec.resolution_bits,
      aligned: rows,
      start: this.#config.job.start,
    };
    await this.#work.begin(begun);
    if (rows !== null) patience.progressed();
    return begun;
  }

  async #prepare({ aligned, resolutionBits }: Pick<BegunJob, "aligned" | "resolutionBits">): Promise<PreparedJob> {
    const { job } = this.#config;
    const read = jobTables(this.#read.tables, aligned, this.#config);
    const rows = read.rows.withObjective(this.#world.objective ?? null);
    const tables = { ...read, rows };
    this.#work.checkRows(tables);
    await nextSlice(); // with many rows each of these takes a second
    const features = await binTableInTurns(tables.train, binningOf(job), rows.training);
    const config = withCodecOfJob(this.#config, rows.trainedCount, this.#emit, resolutionBits, this.#work.whole);
    const prepared = { ...tables, config, features, idsDigest: await idsDigestInTurns(tables.train.ids) };
    await this.#work.prepared?.(prepared);
    // Trees are grown from bins: the values of many rows would take most of this process's memory.
    this.#read.forget();
    const needsValues = job.start !== null || comparesAlone(this.#config, tables);
    this.#prepared = needsValues ? prepared : { ...prepared, train: { ...tables.train, features: [] } };
    return this.#prepared;
  }

  #schemeOf({ secret, seed }: BegunJob): ActiveScheme {
    const { job, threads } = this.#config;
    const { crew } = this.#world;
    this.#scheme ??= schemeNamed(job.scheme).active(secret, { ...job, threads, seed, crew });
    return this.#scheme;
  }

  async #evidenceOf(prepared: PreparedJob, begun: BegunJob): Promise<ActiveEvidence> {
    const { folds, folder } = this.#work;
    const terms = { firstTree: this.#firstTree(prepared), folds, folder, storage: this.#world.storage };
    this.#evidence ??= await openActiveEvidence(prepared, begun, terms);
    if (schemeNamed(this.#config.job.scheme).membership === "sent")
      this.#journal ??= await this.#evidence.journal(this.#nextTree(prepared));
    return this.#evidence;
  }

  /** The first that passive parties take part in. */
  #firstTree({ config }: PreparedJob): number {
    return firstTreeOf(agreedParameters({ ...config.job, training: this.#work.whole }));
  }

  #nextTree(prepared: PreparedJob): number {
    return Math.max(this.#work.treesDone, this.#firstTree(prepared));
  }

  #role(
    prepared: PreparedJob,
    { jobId, samplingSecret, seed }: BegunJob,
    scheme: ActiveScheme,
    peers: readonly PassivePeer[],
    { job: own, observer }: Attempt<Result>,
  ): ActiveRole {
    const { name, job, data } = prepared.config;
    return new ActiveRole({
      ...prepared,
      ...own,
      name,
      job,
      jobId,
      samplingSecret,
      sealKey: sealKeyOf(seed),
      ...(this.#journal && { journal: this.#journal }),
      scheme,
      peers,
      validationFile: data.validation_path !== undefined,
      now: this.#world.now,
      observer: {
        ...observer,
        joined: (peer, featureCount) => this.#emit({ type: "joined", party: name, peer, featureCount }),
        layoutProven: (layout) =>
          this.#emit({ type: "layout", party: name, layout: layoutSummary(layout, job, scheme.proof) }),
        alarm: (peer, tree, _node, what) =>
          this.#emit({ type: "alarm", party: name, peer, words: `in tree ${tree + 1}: ${what}` }),
      },
    });
  }
}
