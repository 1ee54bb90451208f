/**
 * Stores the checkpoints of one job of a passive party. A lost connection and a crash are handled alike: the next
 * attempt reads what is stored. The checkpoints of an attempt are retired before the next ones are opened, so that no
 * call of an old connection can write.
 *
 * Once a job has begun, only the active party that started it can continue it, with unchanged terms. Before its first
 * gradients it may start over. Later that would draw other noise and another order for the same rows, and overwrite the
 * evidence of what was answered.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { osRandom } from "../../base/random.ts";
import type { Storage } from "../../base/files/storage.ts";
import { peerText } from "../../wire/peer-text.ts";
import { permutationSecretBytes } from "../../scheme/candidates/secret-permutation.ts";
import type { OwnSplit } from "../../protocol/passive/answered-splits.ts";
import { hasBegun, noProgress, type PassiveProgress } from "../../protocol/passive/progress.ts";
import type { NodeJournal } from "../../protocol/hidden/passive-answered-nodes.ts";
import type { RoundStore, SignedGradients } from "../../protocol/passive/round-store.ts";
import { addAnsweredNodes, readAnsweredNodes, removeAnsweredNodes } from "../../store/answered-nodes.ts";
import {
  type PassiveJobFile,
  readPassiveJob,
  readProgress,
  sharePath,
  storedSplit,
  writePassiveJob,
} from "../../store/passive-checkpoint.ts";
import { ProgressFile } from "../../store/progress-file.ts";
import { addSignedGradients, readSignedGradients } from "../../store/round-evidence.ts";
import { RoundFiles } from "../../store/round-files.ts";
import { type Reference, writeReference } from "../../store/reference-file.ts";
import { type PassiveShare, writePassiveShare } from "../../store/share-files.ts";
import { bytesFrom, toBase64 } from "../../store/stored-numbers.ts";

/**
 * The terms of an attempt, which must be the same in every attempt, except that a job in progress keeps its column
 * sampling secret.
 */
export type JobTerms = Omit<PassiveJobFile, "secret" | "sampling" | "start"> & { readonly sampling: string };

export interface PassiveCheckpointsOptions {
  readonly party: string;
  readonly job: string;
  readonly folder: string;
  readonly storage: Storage;
  /** Runs work on this party's own files: the details of an error go to its own log only. */
  readonly ownFiles: <T>(work: () => Promise<T>) => Promise<T>;
}

/** @throws TandemError if a new alignment would change the rows of a job that is in progress or finished */
export async function refuseAlignment(options: PassiveCheckpointsOptions, active: string): Promise<void> {
  const { party, job } = options;
  const stored = await storedJob(options, active);
  if (stored === null) return;
  if (stored.secret === null) throw finishedAlready(options);
  const progress = await progressOf(options, stored);
  if (hasBegun(progress))
    throw new TandemError(
      "CHECKPOINT",
      `job: ${party} has stored ${progress.trees} trees of a job named ${peerText(job)}, which has begun; ` +
        "continue it, or choose another name",
    );
}

async function storedJob(options: PassiveCheckpointsOptions, active: string): Promise<PassiveJobFile | null> {
  const { party, job, folder, storage, ownFiles } = options;
  const stored = await ownFiles(() => readPassiveJob(folder, storage));
  if (stored === null && (await ownFiles(() => storage.read(sharePath(folder)))) !== null)
    throw finishedAlready(options);
  if (stored !== null && stored.active !== active)
    throw new TandemError(
      "HANDSHAKE_MISMATCH",
      `job: ${party} has a job named ${peerText(job)} with another active party; choose another name`,
    );
  return stored;
}

function progressOf(
  { folder, storage, ownFiles }: PassiveCheckpointsOptions,
  { jobId }: PassiveJobFile,
): Promise<PassiveProgress> {
  return ownFiles(() => readProgress(folder, jobId, storage));
}

/** A trained model is not overwritten by a later job of the same name. */
function finishedAlready({ party, job }: PassiveCheckpointsOptions): TandemError {
  return new TandemError(
    "HANDSHAKE_MISMATCH",
    `job: ${party} has finished a job named ${peerText(job)} already; choose another name`,
  );
}

export class PassiveCheckpoints {
  /** The progress at the beginning of this attempt. */
  readonly progress: PassiveProgress;
  readonly #options: PassiveCheckpointsOptions;
  readonly #turns = new Exclusive();
  #job: PassiveJobFile;
  #stored: boolean;
  #retired = false;
  #roundFiles: RoundFiles | null = null;
  #progressFile: ProgressFile | null = null;
  #trees: number;

  private constructor(
    options: PassiveCheckpointsOptions,
    job: PassiveJobFile,
    stored: boolean,
    progress: PassiveProgress,
  ) {
    this.#options = options;
    this.#job = job;
    this.#stored = stored;
    this.progress = progress;
    this.#trees = progress.trees;
  }

  /** Number of stored trees. */
  get trees(): number {
    return this.#trees;
  }

  /**
   * Does not write anything yet.
   * @param startSplits reads this party's splits of the start model; called when the job starts
   * @throws TandemError HANDSHAKE_MISMATCH or CHECKPOINT if these terms differ from the job's
   */
  static async open(
    options: PassiveCheckpointsOptions,
    terms: JobTerms,
    startSplits: () => Promise<readonly OwnSplit[]> = () => Promise.resolve([]),
  ): Promise<PassiveCheckpoints> {
    const { party, job, folder, storage } = options;
    await options.ownFiles(() => storage.tidy(folder));
    const stored = await storedJob(options, terms.active);
    const difference = stored === null ? null : firstDifference(stored, terms);
    if (stored !== null && difference === null)
      return new PassiveCheckpoints(options, stored, true, await progressOf(options, stored));
    if (stored !== null && stored.secret === null) throw finishedAlready(options);
    const progress = stored === null ? noProgress : await progressOf(options, stored);
    if (hasBegun(progress))
      throw new TandemError(
        "CHECKPOINT",
        `${party} has begun job ${peerText(job)}, and since then ${difference}; put it back, or choose another name`,
      );
    const secret = toBase64(osRandom.fill(new Uint8Array(permutationSecretBytes)));
    return new PassiveCheckpoints(
      options,
      { ...terms, start: (await startSplits()).map(storedSplit), secret },
      false,
      noProgress,
    );
  }

  get isFinished(): boolean {
    return this.#job.secret === null;
  }

  /** Whether an earlier attempt has started the job. */
  get isStored(): boolean {
    return this.#stored;
  }

  /** This party's splits of the start model. */
  get start(): readonly OwnSplit[] {
    return this.#job.start;
  }

  get permutationSecret(): Uint8Array {
    return this.#job.secret === null
      ? osRandom.fill(new Uint8Array(permutationSecretBytes))
      : bytesFrom(this.#job.secret);
  }

  /**
   * Distinguishes this run of the job from others under the same id: each run has its own secret, hence other answers.
   */
  get beginning(): string {
    return createHash("sha256")
      .update(`${this.#job.jobId}\n${this.#job.secret ?? "finished"}`)
      .digest("hex")
      .slice(0, 32);
  }

  /** The name of this run in evidence. */
  get run(): string {
    return `${this.#job.jobId}/${this.beginning}`;
  }

  get samplingSecret(): string {
    return this.#job.sampling ?? ""; // a finished job draws no columns
  }

  /** The attempt is accepted: from now on the job is stored. */
  begin(): Promise<void> {
    return this.#write(async ({ folder, storage }) => {
      if (this.#stored) return;
      await storage.makeFolder(join(folder, "evidence"));
      await writePassiveJob(folder, this.#job, storage);
      this.#stored = true;
      await this.#files.forgetAll(); // of an earlier run
      await removeAnsweredNodes(folder, storage);
    });
  }

  /** The answers of the round that may be redone. */
  get rounds(): RoundStore {
    const files = this.#files;
    const { ownFiles } = this.#options;
    return {
      readAnswers: (round, part) => ownFiles(() => files.readAnswers(round, part)),
      readGradients: () => ownFiles(() => this.#readGradients()),
      addAnswers: (round, part, answers) => this.#write(() => files.addAnswers(round, part, answers)),
      addGradients: (gradients) => this.#addGradients(gradients, false),
      refuseGradients: (gradients) => this.#addGradients([gradients], true),
      forget: (round) => this.#write(() => files.forget(round)),
    };
  }

  /** The answered nodes of the job, where members are hidden. */
  get nodes(): NodeJournal {
    const { folder, storage, ownFiles } = this.#options;
    const { beginning } = this;
    return {
      read: () => ownFiles(() => readAnsweredNodes(folder, beginning, storage)),
      add: (nodes) => this.#write(() => addAnsweredNodes(folder, beginning, nodes, storage)),
    };
  }

  async #readGradients(): Promise<readonly SignedGradients[]> {
    const { folder, storage } = this.#options;
    const all = await readSignedGradients(folder, this.run, storage);
    return all.filter(({ refused }) => !refused);
  }

  #addGradients(gradients: readonly SignedGradients[], refused: boolean): Promise<void> {
    return this.#write(({ folder, storage }) => addSignedGradients(folder, this.run, gradients, refused, storage));
  }

  get #files(): RoundFiles {
    return (this.#roundFiles ??= new RoundFiles(this.#options.folder, this.beginning, this.#options.storage));
  }

  store(progress: PassiveProgress): Promise<void> {
    return this.#write(({ folder, storage }) => {
      this.#progressFile ??= new ProgressFile(folder, this.#job.jobId, storage);
      return this.#progressFile.store(progress).then(() => void (this.#trees = progress.trees));
    });
  }

  /** Writes other files into the job's folder. */
  keep(work: (folder: string, storage: Storage) => Promise<void>): Promise<void> {
    return this.#write(({ folder, storage }) => work(folder, storage));
  }

  /**
   * The share is written before the secret is deleted. What is needed to answer repeated requests stays.
   * @param made null: a vetting makes no model
   */
  finish(made: { readonly share: PassiveShare; readonly reference: Reference } | null): Promise<void> {
    return this.#write(async ({ folder, storage }) => {
      await removeAnsweredNodes(folder, storage);
      if (this.isFinished) return this.#files.forgetAll();
      if (made !== null) {
        await writeReference(folder, made.reference, storage);
        await writePassiveShare(sharePath(folder), made.share, storage);
      }
      const finished = { ...this.#job, secret: null, sampling: null };
      await writePassiveJob(folder, finished, storage);
      this.#job = finished;
      await this.#files.forgetAll();
    });
  }

  /** Waits for a write in progress, and refuses later ones. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.#turns.idle();
  }

  #write(work: (options: PassiveCheckpointsOptions) => Promise<void>): Promise<void> {
    return this.#turns.run(() => {
      if (this.#retired) throw new TandemError("PARTY_LOST", "this connection's attempt at the job is over");
      return this.#options.ownFiles(() => work(this.#options));
    });
  }
}

/** @returns a text that may be sent to the peer: it contains no values of either party */
function firstDifference(stored: PassiveJobFile, terms: JobTerms): string | null {
  for (const field of new Set([...Object.keys(stored.agreed), ...Object.keys(terms.agreed)])) {
    if (stored.agreed[field] !== terms.agreed[field]) return `${field} has changed`;
  }
  if (
    stored.instances !== terms.instances ||
    stored.idsDigest !== terms.idsDigest ||
    stored.aligned !== terms.aligned ||
    stored.training !== terms.training ||
    stored.validation !== terms.validation
  )
    return "the ids have changed";
  if (stored.jobId !== terms.jobId) return "the active party has started over";
  return stored.data === terms.data ? null : "its own data has changed";
}
