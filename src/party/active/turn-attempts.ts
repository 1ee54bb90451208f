/**
 * Models that grow by turns in one job between companies: one alignment, one key and one pool of obfuscators, and bins
 * that are cut once from all rows that take part. To a passive party it is a job like any other, under the same policy.
 *
 * Connections that are lost are waited for as in training; a process that ends begins anew, since nobody waits for its
 * models.
 */
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { unusedParameters } from "../../gbdt/parameters/unused-parameters.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { osRandom } from "../../base/random.ts";
import { drawnGroups } from "../../data/drawn-groups.ts";
import { foldRows } from "../../data/split.ts";
import type { Turns } from "../../gbdt/boost/fold-turns.ts";
import { ActiveRole } from "../../protocol/active/role.ts";
import { idsDigest } from "../../protocol/ids.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import type { ActiveScheme, SchemeSecret } from "../../scheme/scheme.ts";
import type { TrainingRows } from "../../gbdt/rows/training-rows.ts";
import { agreedParameters, firstTreeOf } from "../../protocol/job-parameters.ts";
import { recordedPeer } from "../../protocol/active/recorded-peer.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { ActiveEvidence } from "./job-evidence.ts";
import { openActiveEvidence } from "./open-evidence.ts";
import { foldWords, layoutSummary, makeSecret, tellFailure } from "./results.ts";
import { alignTables, jobTables, readActiveTables, rowsOf, withClassesOf } from "./tables.ts";
import type { ActiveWorld, ConnectedPeer } from "./world.ts";
import type { ActiveConfig } from "../config/config.ts";
import type { Emit } from "../../record/events.ts";
import { binningOf, binTable } from "../tables/party-data.ts";
import { withCodecOfJob } from "./job-codec.ts";
import { Patience } from "./patience.ts";
import { connectWatched } from "./watched-peers.ts";
import { samplingSecretOf } from "../sampling-secret.ts";

/** What grows. */
export interface TurnJob<T extends Turns> {
  readonly folds: number;
  /** What the job does, in a message: "the cross-validation". */
  readonly noun: string;
  readonly turns: (rows: TrainingRows, folds: readonly Uint32Array[]) => T;
  /** What the job's own limits are: of a cross-validation its parameters, of a search what all trials keep within. */
  readonly training: TrainingParameters;
  /** The same with the rounds of all turns. */
  readonly whole: TrainingParameters;
  /** After each turn. */
  readonly onTurn?: (turns: T) => void;
}

const jobIdBytes = 16;

/**
 * @param jobOf what grows with these parameters: labels may say how many classes there are
 * @throws TandemError as training does
 */
export async function runTurns<T extends Turns>(
  config: ActiveConfig,
  jobOf: (training: TrainingParameters) => TurnJob<T>,
  emit: Emit,
  world: ActiveWorld,
): Promise<{ readonly turns: T; readonly instances: number }> {
  return (await TurnAttempts.open(config, jobOf, emit, world)).untilOver();
}

/** What is the same in every attempt once the rows are known. */
type Prepared = Omit<ConstructorParameters<typeof ActiveRole>[0], "peers" | "observer">;
interface PreparedTurns<T extends Turns> extends Prepared {
  /** The config, with what the scheme can do of the resolution that it asks for. */
  readonly config: ActiveConfig;
  readonly folds: T;
  readonly aligned: Uint32Array | null;
  readonly jobId: Uint8Array;
  readonly samplingSecret: string;
}

class TurnAttempts<T extends Turns> {
  readonly #config: ActiveConfig;
  readonly #job: TurnJob<T>;
  readonly #tables: Awaited<ReturnType<typeof readActiveTables>>;
  readonly #secret: SchemeSecret;
  readonly #scheme: ActiveScheme;
  readonly #emit: Emit;
  readonly #world: ActiveWorld;
  #prepared: PreparedTurns<T> | null = null;
  #evidence: ActiveEvidence | null = null;

  private constructor(
    config: ActiveConfig,
    job: TurnJob<T>,
    tables: Awaited<ReturnType<typeof readActiveTables>>,
    secret: SchemeSecret,
    emit: Emit,
    world: ActiveWorld,
  ) {
    this.#config = config;
    this.#job = job;
    this.#tables = tables;
    this.#secret = secret;
    const repeatable = config.output.verifiable;
    this.#scheme = schemeNamed(config.job.scheme).active(secret, {
      ...config.job,
      threads: config.threads,
      repeatable,
      crew: world.crew,
    });
    this.#emit = emit;
    this.#world = world;
  }

  static async open<T extends Turns>(
    config: ActiveConfig,
    jobOf: (training: TrainingParameters) => TurnJob<T>,
    emit: Emit,
    world: ActiveWorld,
  ): Promise<TurnAttempts<T>> {
    const { noun } = jobOf(config.job.training);
    if (config.data.validation_path !== undefined)
      throw new TandemError("USAGE", `${noun} holds each fold back in turn; leave data.validation_path out`);
    if (config.warm_start !== undefined)
      throw new TandemError("USAGE", `${noun} begins every model anew; leave warm_start out`);
    const notice = (words: string): void => emit({ type: "notice", party: config.name, words });
    unusedParameters(config.job.training).forEach(notice);
    const tables = await readActiveTables(config, notice);
    const classed = withClassesOf(config, tables);
    const job = jobOf(classed.job.training);
    return new TurnAttempts(classed, job, tables, await makeSecret(config, emit), emit, world);
  }

  async untilOver(): Promise<{ readonly turns: T; readonly instances: number }> {
    const { name, job, patience_seconds: seconds, firstContactSeconds } = this.#config;
    const { now, sleep, jitter } = this.#world;
    const patience = new Patience(
      {
        patienceMs: seconds * 1000,
        firstContactMs: firstContactSeconds * 1000,
        now,
        sleep,
        jitter,
        advice: `${this.#job.noun} begins anew with the same command`,
        onWait: ({ code, message }, delayMs, leftMs) =>
          this.#emit({ type: "waiting", party: name, job: job.name, delayMs, leftMs, code, message }),
      },
      false,
    );
    try {
      for (;;) {
        try {
          return await this.#attempt(patience);
        } catch (error) {
          await patience.afterFailure(error);
        }
      }
    } finally {
      this.#scheme.close?.();
    }
  }

  async #attempt(patience: Patience): Promise<{ readonly turns: T; readonly instances: number }> {
    patience.knocking();
    await this.#world.crew?.ready(); // nobody else waits for them
    const peers = await connectWatched(this.#world, this.#config, this.#emit, (ms) => patience.wasted(ms));
    try {
      const prepared = (this.#prepared ??= await this.#prepare(peers, patience));
      const chained = await this.#recorded(prepared, peers);
      const role = new ActiveRole({ ...prepared, peers: chained, observer: this.#observer(prepared, patience) });
      try {
        await role.join();
        patience.joined();
        await role.crossValidate(prepared.folds);
        await role.finish();
      } catch (seen) {
        const error = this.#world.crew?.failure ?? seen; // a call that ends for it looks like a party that is gone
        await tellFailure(role, error);
        throw error;
      }
      return { turns: prepared.folds, instances: prepared.rows.count };
    } finally {
      for (const peer of peers) peer.close();
    }
  }

  /** The passive parties, whose messages are recorded. */
  async #recorded(prepared: PreparedTurns<T>, peers: readonly ConnectedPeer[]): Promise<readonly PassivePeer[]> {
    const { output, job } = this.#config;
    const { folds, rows, features, jobId, samplingSecret, aligned } = prepared;
    const firstTree = firstTreeOf(agreedParameters({ ...prepared.job, training: folds.whole }));
    this.#evidence ??= await openActiveEvidence({
      config: prepared.config,
      prepared: { tables: { rows }, features, digest: prepared.idsDigest },
      begun: { jobId, samplingSecret, secret: this.#secret, aligned, start: null },
      firstTree,
      folds: this.#job.folds,
      folder: join(output.directory, job.name),
      storage: this.#world.storage,
    });
    const record = await this.#evidence.attempt(Math.max(folds.treesDone, firstTree));
    return peers.map((peer) => recordedPeer(peer, record(peer.name)));
  }

  /** Test rows stay out of it altogether; a validation set is what each fold is to its model. */
  async #prepare(peers: readonly ConnectedPeer[], patience: Patience): Promise<PreparedTurns<T>> {
    const { name, job, data, align } = this.#config;
    const { training } = job;
    const emit: Emit = (event) => {
      if (event.type === "alignment-progress") patience.answered();
      this.#emit(event);
    };
    const aligned = align
      ? await alignTables(
          rowsOf(this.#tables).ids,
          peers.map((peer) => peer.alignment(job.name, false)),
          this.#config,
          emit,
        )
      : null;
    if (aligned !== null) patience.progressed();
    const { train, rows, sharedRows } = jobTables(this.#tables, aligned?.rows ?? null, {
      job,
      data: { ...data, validation_fraction: undefined },
    });
    const folds = Array.from({ length: this.#job.folds }, (_, fold) =>
      drawnGroups(
        rows.columns,
        rows.count,
        (units) => foldRows(units, this.#job.folds, fold, data.seed ?? training.seed).test,
      ),
    );
    const absent = foldWords(training, rows, folds);
    if (absent !== null) emit({ type: "notice", party: name, words: absent });
    const config = withCodecOfJob(this.#config, rows.count, emit, undefined, this.#job.whole);
    return {
      config,
      aligned: aligned?.rows ?? null,
      name,
      job: { ...config.job, training: this.#job.training },
      features: binTable(train, binningOf(job)),
      rows,
      folds: this.#job.turns(rows, folds),
      samplingSecret: samplingSecretOf(this.#config),
      idsDigest: idsDigest(train.ids),
      sharedRows,
      scheme: this.#scheme,
      jobId: osRandom.fill(new Uint8Array(jobIdBytes)),
      now: this.#world.now,
    };
  }

  #observer(
    { folds, config }: PreparedTurns<T>,
    patience: Patience,
  ): ConstructorParameters<typeof ActiveRole>[0]["observer"] {
    const { name } = this.#config;
    return {
      joined: (peer, featureCount) => this.#emit({ type: "joined", party: name, peer, featureCount }),
      layoutProven: (layout) =>
        this.#emit({ type: "layout", party: name, layout: layoutSummary(layout, config.job, this.#scheme.proof) }),
      treeBegan: () => {},
      alarm: (peer, tree, _node, what) =>
        this.#emit({ type: "alarm", party: name, peer, words: `in tree ${tree + 1}: ${what}` }),
      treeFinished: async () => {
        await this.#evidence?.store(this.#scheme.recipe ?? null);
        patience.progressed();
        this.#job.onTurn?.(folds);
      },
    };
  }
}
