/**
 * Admits alignments and jobs to a passive party, several at once (queue/job-queue.ts). Each belongs to one connection
 * and ends with it; what must survive is stored.
 *
 *   requested -> opening -> aligning -> aligned -> opening -> running -> over
 *                   \______________________________/
 */
import { diskStorage, type Storage } from "../../base/files/storage.ts";
import type { PassivePsi } from "../../psi/passive-psi.ts";
import type { Emit } from "../../record/events.ts";
import type { OwnLine } from "../../record/own-lines.ts";
import type { Crew } from "../../scheme/blocks/crew.ts";
import type { StoredRequest } from "../../store/request-file.ts";
import type { RequestedJob } from "../../transport/admission-service.ts";
import type { Caller } from "../../transport/caller.ts";
import type { PartyHandler } from "../../transport/party-service.ts";
import type { PassiveEnd, PassiveService } from "../../transport/passive-service.ts";
import type { ActiveRequest } from "../../wire/generated/tandem/v1/admission_pb.ts";
import type { ActiveAlignmentOffer } from "../../wire/generated/tandem/v1/alignment_pb.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassiveConfig } from "../config/config.ts";
import type { PartnerBudgets } from "../partner-budget.ts";
import type { QueuedJob } from "../queue/job-queue.ts";
import type { DataCache } from "../tables/data-cache.ts";
import { refuseCategories } from "../tables/party-data.ts";
import { Activities } from "./activities.ts";
import { Alignments } from "./alignments.ts";
import { JobApprovals } from "./job-approvals.ts";
import { credentialsIn, type EvidenceCredentials } from "./job-evidence.ts";
import { JobPlaces } from "./job-places.ts";
import { passiveBudgets } from "./passive-budgets.ts";
import { PassiveFiles } from "./passive-files.ts";
import { RunningJobs } from "./running-jobs.ts";

export interface AdmissionOptions {
  readonly storage?: Storage | undefined;
  /** Milliseconds since the epoch, for the daily budget. */
  readonly now?: (() => number) | undefined;
  /** Receives what is for this party's own record of a job only. */
  readonly own?: (job: string, line: OwnLine) => void;
  /** Workers that hold the rows of its jobs; left out: this process. */
  readonly crew?: Crew | undefined;
  /** Key and pins as they are now; left out: those of the config. */
  readonly credentials?: EvidenceCredentials | undefined;
  /** Called when a request waits that is new. @param waiting requests of its partner */
  readonly onRequest?: ((request: StoredRequest, waiting: number) => void) | undefined;
  /** Called when the queue has changed. */
  readonly onQueue?: ((jobs: readonly QueuedJob[]) => void) | undefined;
}

export class JobAdmission implements PartyHandler {
  readonly #files: PassiveFiles;
  readonly #places: JobPlaces;
  readonly #approvals: JobApprovals;
  readonly #activities: Activities;
  readonly #alignments: Alignments;
  readonly #jobs: RunningJobs;
  /** Budgets of the partners, and what they have used. */
  readonly budgets: PartnerBudgets;

  constructor(
    config: PassiveConfig,
    emit: Emit,
    onJobEnded: (end: PassiveEnd) => void,
    {
      storage = diskStorage,
      own = () => {},
      now = Date.now,
      crew,
      credentials = credentialsIn(config),
      onQueue,
      onRequest,
    }: AdmissionOptions = {},
  ) {
    const files = new PassiveFiles(config, storage, emit);
    const budgets = passiveBudgets(files, { emit, now, rowCount: () => files.lastRead.rows });
    const places = new JobPlaces({
      config,
      hasCrew: crew !== undefined,
      table: () => ({ rows: files.lastRead.rows, features: files.lastRead.featureNames.length }),
      emit,
      now,
      alarm,
      isWorking: (job) => activities.isWorking(job),
      onIdle: (job) => activities.endIdle(job),
      onChange: () => onQueue?.(places.queue.jobs),
    });
    const approvals = new JobApprovals({
      config,
      storage,
      ownFiles: (work) => files.using(work),
      now,
      alarm,
      emit,
      onNew: onRequest,
      budgets,
      table: () => files.lastRead,
    });
    const activities = new Activities({
      party: config.name,
      queue: places.queue,
      emit,
      onAlignmentLost: (caller) => this.#alignments.lost(caller),
    });
    const parts = { config, emit, files, places, approvals, budgets, activities };
    this.#files = files;
    this.#places = places;
    this.#approvals = approvals;
    this.#activities = activities;
    this.#alignments = new Alignments(parts);
    this.#jobs = new RunningJobs({ ...parts, own, crew, credentials, onJobEnded });
    this.budgets = budgets;
  }

  /** The party's tables, shared with scoring. */
  get data(): DataCache {
    return this.#files.data;
  }

  /** Reads data, requests and decisions once, so that errors in them are reported at the start. */
  async load(): Promise<void> {
    const [read] = await Promise.all([this.data.table(), this.data.testTable(), this.#approvals.load()]);
    this.#files.noteRead(read);
  }

  /**
   * Refuses a job before its alignment for what its first message would be refused for. Where a person approves jobs,
   * nothing is said before that.
   * @throws TandemError
   */
  async checkTable(training: { readonly enableCategorical: boolean }, caller: Pick<Caller, "name">): Promise<void> {
    if (!this.#approvals.isRequired(caller))
      await this.#files.using(async () => refuseCategories(this.#files.lastRead, training));
  }

  async request(request: ActiveRequest, caller: Caller): Promise<RequestedJob> {
    try {
      await this.budgets.daily.charge(caller.name, { attempts: 1 }, "job");
      const agreed = this.#places.check(request);
      const enter = (): RequestedJob => this.#places.enter(request, agreed, caller);
      const requested = await this.#approvals.request(request, agreed, caller, enter);
      this.#activities.watch(caller);
      if (caller.gone.aborted) this.#activities.callerGone(caller);
      return requested;
    } catch (error) {
      this.#activities.refused(caller, error);
      throw error;
    }
  }

  beginAlignment(offer: ActiveAlignmentOffer, caller: Caller): Promise<{ passiveIdCount: number }> {
    return this.#alignments.begin(offer, caller);
  }

  alignment(caller: Caller): PassivePsi {
    return this.#alignments.of(caller);
  }

  aligned(caller: Caller, rows: Uint32Array): Promise<void> {
    return this.#alignments.done(caller, rows);
  }

  alignmentFailed(caller: Caller, error: unknown): void {
    this.#alignments.failed(caller, error);
  }

  openJob(hello: ActiveHello, caller: Caller): Promise<PassiveService> {
    return this.#jobs.open(hello, caller);
  }

  job(caller: Caller): PassiveService {
    return this.#jobs.of(caller);
  }

  jobRefused(caller: Caller, error: unknown): void {
    this.#jobs.refused(caller, error);
  }
}

function alarm(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, ms).unref();
  return () => clearTimeout(timer);
}
