/** Stores the active party's checkpoint of a job: opened at the start, stored after every round, deleted at the end. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import { configNames, schemeNamed } from "../../scheme/registry.ts";
import { tableDigest } from "../../data/table-digest.ts";
import { parameterFacts } from "../../protocol/chain/commitment.ts";
import { presentFacts } from "../../protocol/chain/removed-facts.ts";
import type { ActiveProgress, StoredRound } from "../../protocol/active/role.ts";
import {
  type ActiveCheckpoint,
  checkpointPath,
  dataDigestField,
  identityDifference,
  type JobIdentity,
  readActiveCheckpoint,
  writeActiveCheckpoint,
} from "../../store/active-checkpoint.ts";
import { addRoundLine, lineBytes } from "../../store/round-lines.ts";
import type { ActiveTables } from "./tables.ts";
import type { ActiveConfig } from "../config/config.ts";

/** A checkpoint is rewritten when the appended rounds have this many times the bytes of its margins, */
const addedTimesMax = 4;
/** or this many bytes: it is read as one string. */
const addedBytesMax = 64 << 20;

/** A job whose rows and secret are known, before its first round and after. */
export type BegunJob = Omit<ActiveCheckpoint, "identity" | "progress">;

export class ActiveCheckpoints {
  readonly folder: string;
  readonly #identity: JobIdentity;
  readonly #storage: Storage;
  #checkpoint: ActiveCheckpoint | null;
  /** Bytes of rounds appended since the last full write; Infinity before the first one. */
  #addedBytes = Infinity;
  /** A buffer of stored margins, for reuse. */
  #spare: Float64Array | null = null;

  private constructor(folder: string, identity: JobIdentity, storage: Storage, checkpoint: ActiveCheckpoint | null) {
    this.folder = folder;
    this.#identity = identity;
    this.#storage = storage;
    this.#checkpoint = checkpoint;
  }

  /** @throws TandemError USAGE if the job is finished; CHECKPOINT if it cannot be continued with this config */
  static async open(config: ActiveConfig, tables: ActiveTables, storage: Storage): Promise<ActiveCheckpoints> {
    const folder = join(config.output.directory, config.job.name);
    const identity = identityOf(config, tables);
    await storage.tidy(folder);
    const checkpoint = await readActiveCheckpoint(folder, schemeNamed(config.job.scheme), storage);
    if (checkpoint === null) await makeJobFolder(config, storage);
    const difference = checkpoint === null ? null : identityDifference(presentFacts(checkpoint.identity), identity);
    if (difference === null) return new ActiveCheckpoints(folder, identity, storage, checkpoint);
    // Without a finished round nothing is lost: a corrected config starts over under the same name.
    if (checkpoint?.progress === null) return new ActiveCheckpoints(folder, identity, storage, null);
    throw new TandemError(
      "CHECKPOINT",
      `${checkpointPath(folder)}: ${difference}. ` +
        "Put it back to continue the job, or give the new one another name with 'job:'",
    );
  }

  /** Null before the job has begun. */
  get checkpoint(): ActiveCheckpoint | null {
    return this.#checkpoint;
  }

  /** Stores the rows: later attempts need no alignment. */
  async begin(job: BegunJob): Promise<void> {
    await this.#keep({ identity: this.#identity, ...job, progress: null });
    await this.requested(false);
  }

  /** Notes that the job waits for approval: the same command then requests it again under the same name. */
  async requested(isWaiting: boolean): Promise<void> {
    const path = requestedPath(this.folder);
    if (isWaiting) await this.#storage.write(path, "");
    else if ((await this.#storage.read(path)) !== null) await this.#storage.remove(path);
  }

  /** Appends the round to the file, or rewrites it: always in the middle of a boosting round. */
  async store({ trees, margins, boostingRoundMargins, best, dart }: ActiveProgress, round: StoredRound): Promise<void> {
    const begun = this.#checkpoint;
    assert(begun !== null, "a job has begun before its rounds are stored");
    const copy = this.#spare?.length === margins.length ? this.#spare : new Float64Array(margins.length);
    copy.set(margins);
    const underWay = boostingRoundMargins === undefined ? {} : { boostingRoundMargins: boostingRoundMargins.slice() };
    const drops = dart === undefined ? {} : { dart };
    const checkpoint = { ...begun, progress: { trees: [...trees], margins: copy, ...underWay, ...drops, best } };
    const before = begun.progress?.margins ?? null;
    // With dart the lines of all rounds are needed: rewriting would not make the file smaller.
    const room = dart === undefined ? Math.min(addedTimesMax * margins.byteLength, addedBytesMax) : Infinity;
    const isFull = this.#addedBytes >= room;
    const isWhole = isFull || boostingRoundMargins !== undefined;
    const added = isWhole ? 0 : this.#addedBytes;
    // A failed write may have reached the disk: after it the file is rewritten.
    this.#addedBytes = Infinity;
    if (isWhole) await this.#keep(checkpoint);
    else await addRoundLine(checkpointPath(this.folder), begun.jobId, checkpoint.progress, round, this.#storage);
    this.#checkpoint = checkpoint;
    this.#spare = before;
    this.#addedBytes = added + (isWhole ? 0 : lineBytes(round));
  }

  /** The results are stored: deletes the checkpoint with the job's secret. */
  async finish(): Promise<void> {
    await this.#storage.remove(checkpointPath(this.folder));
  }

  async #keep(checkpoint: ActiveCheckpoint): Promise<void> {
    await writeActiveCheckpoint(this.folder, checkpoint, this.#storage);
    this.#checkpoint = checkpoint;
  }
}

/** An empty file while the job waits for approval, and has not begun. */
function requestedPath(folder: string): string {
  return join(folder, "requested");
}

/** The latest unnamed job that has not ended: the same command continues it. */
export function unfinishedJob(directory: string): string | null {
  if (!existsSync(directory)) return null;
  const unfinished = readdirSync(directory).filter(
    (name) =>
      unnamedJob.test(name) &&
      [checkpointPath, requestedPath].some((pathIn) => existsSync(pathIn(join(directory, name)))),
  );
  return unfinished.toSorted().at(-1) ?? null;
}

/** The name of a job that the config does not name: the time of its start. Small jobs take less than a second. */
export function newJobName(now: Date): string {
  return `job-${now.toISOString().slice(0, 23).replaceAll(/[-:]/g, "").replaceAll(/[T.]/g, "-")}`;
}

/** Names of 0.6 have no milliseconds. */
const unnamedJob = /^job-\d{8}-\d{6}(-\d{3})?$/;

/** Where a job's results go. @throws TandemError if results of that name exist */
export async function makeJobFolder(
  { output, job }: Pick<ActiveConfig, "output" | "job">,
  storage: Storage,
): Promise<string> {
  const folder = join(output.directory, job.name);
  const finished = (await storage.read(join(folder, "share.json"))) !== null;
  if (finished)
    throw new TandemError(
      "USAGE",
      `${folder} holds a finished job of this name; give the new one another name with 'job:'`,
    );
  await storage.makeFolder(folder);
  return folder;
}

function identityOf(config: ActiveConfig, tables: ActiveTables): JobIdentity {
  const { name, passives, align, data, job } = config;
  return {
    name,
    passives: passives.map((passive) => passive.name).join(", "),
    align,
    "data.test_fraction": data.test_fraction ?? "none",
    "data.validation_fraction": data.validation_fraction ?? "none",
    "data.files": tables.map(({ field }) => field).join(", "),
    "data.seed": data.seed ?? "none",
    scheme: job.scheme,
    ...configNames(job.schemeParameters),
    warm_start: config.warm_start?.model ?? "none",
    ...parameterFacts(job),
    [dataDigestField]: tableDigest(...tables.map(({ rows }) => rows.table)),
  };
}
