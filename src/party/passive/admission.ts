/**
 * Admits alignments and jobs to a passive party, several at once (queue/job-queue.ts). Each belongs to one connection
 * and ends with it; what must survive is stored. A newer connection of the same active party for the same job replaces
 * an older one, which may be dead undetected. A refusal is sent to the caller and logged, and changes nothing.
 *
 *   requested -> opening -> aligning -> aligned -> opening -> running -> over
 *                   \______________________________/
 */
import { join } from "node:path";
import { PassivePsi } from "../../psi/passive-psi.ts";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { diskStorage, type Storage } from "../../base/files/storage.ts";
import { tableDigestsInTurns } from "../../data/table-digest.ts";
import type { Emit } from "../../record/events.ts";
import type { Crew } from "../../scheme/blocks/crew.ts";
import type { OwnLine } from "../../record/own-lines.ts";
import type { StoredRequest } from "../../store/request-file.ts";
import { writeAlignment } from "../../store/passive-checkpoint.ts";
import type { RequestedJob } from "../../transport/admission-service.ts";
import type { Caller } from "../../transport/caller.ts";
import type { PartyHandler } from "../../transport/party-service.ts";
import type { PassiveEnd, PassiveService } from "../../transport/passive-service.ts";
import type { ActiveRequest } from "../../wire/generated/tandem/v1/admission_pb.ts";
import type { ActiveAlignmentOffer } from "../../wire/generated/tandem/v1/alignment_pb.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { peerText } from "../../wire/peer-text.ts";
import { requireActiveVersion } from "../../wire/version.ts";
import type { PassiveConfig } from "../config/config.ts";
import type { PartyTable } from "../../data/dataset.ts";
import type { DataCache } from "../tables/data-cache.ts";
import { checkOwnGroups } from "../interaction-groups.ts";
import { alignedCsv, type JoinedTable } from "../tables/joined-tables.ts";
import { binTableInTurns, refuseCategories } from "../tables/party-data.ts";
import { agreedByPolicy, checkValidationFile } from "../policy.ts";
import { deriveSamplingSecret } from "../sampling-secret.ts";
import { checkOffer, knownNormalisations } from "./alignment-offer.ts";
import { passiveBudgets } from "./passive-budgets.ts";
import { PassiveFiles } from "./passive-files.ts";
import type { AdmittedJob } from "./admitted-job.ts";
import { type Aligning, type AdmissionState, giveWay, idle, type Running } from "./admission-state.ts";
import { JobApprovals } from "./job-approvals.ts";
import { JobPlaces } from "./job-places.ts";
import { openPassiveJob } from "./job.ts";
import { credentialsIn, type EvidenceCredentials, openPassiveEvidence } from "./job-evidence.ts";
import { decidingRows, jobRows } from "./job-rows.ts";
import { startSplits, toStoredTerms } from "./job-terms.ts";
import { rowDigests } from "./row-digests.ts";
import { PassiveCheckpoints, refuseAlignment } from "./checkpoints.ts";
import { JobSpending } from "./job-spending.ts";
import { refuseUnfinished } from "./unfinished-jobs.ts";
import { vettedColumns } from "./vetted-columns.ts";
import type { PartnerBudgets } from "../partner-budget.ts";
import type { QueuedJob } from "../queue/job-queue.ts";

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

type Activity = Exclude<AdmissionState, { kind: "idle" }>;

export class JobAdmission implements PartyHandler {
  readonly #config: PassiveConfig;
  readonly #emit: Emit;
  readonly #onJobEnded: (end: PassiveEnd) => void;
  readonly #own: (job: string, line: OwnLine) => void;
  readonly #crew: Crew | undefined;
  readonly #credentials: EvidenceCredentials;
  readonly #files: PassiveFiles;
  readonly #places: JobPlaces;
  readonly #approvals: JobApprovals;
  readonly #watched = new WeakSet<Caller>();
  /** Budgets of the partners, and what they have used. */
  readonly budgets: PartnerBudgets;
  /** Of the table when it was last read completely. */
  #rowCount = 0;
  /** What the table was then: probes do not read it again. */
  #table: Pick<PartyTable, "featureNames" | "categories"> | null = null;
  /** Serialises opening and storing. */
  readonly #turns = new Exclusive();
  /** What is done for each job that has a place. */
  readonly #states = new Map<QueuedJob, Activity>();
  /** Connections whose job was ended because they called nothing while others waited. */
  readonly #endedIdle = new WeakSet<Caller>();

  constructor(
    config: PassiveConfig,
    emit: Emit,
    onJobEnded: (end: PassiveEnd) => void,
    {
      storage = diskStorage,
      own = () => {},
      now = Date.now,
      crew,
      credentials,
      onQueue,
      onRequest,
    }: AdmissionOptions = {},
  ) {
    this.#credentials = credentials ?? credentialsIn(config);
    this.#config = config;
    this.#emit = emit;
    this.#onJobEnded = onJobEnded;
    this.#own = own;
    this.#crew = crew;
    this.#files = new PassiveFiles(config, storage, emit);
    this.budgets = passiveBudgets(this.#files, { emit, now, rowCount: () => this.#rowCount });
    this.#places = new JobPlaces({
      config,
      hasCrew: crew !== undefined,
      table: () => ({ rows: this.#rowCount, features: this.#table?.featureNames.length ?? 0 }),
      emit,
      now,
      alarm,
      isWorking: (job) => this.#isWorking(job),
      onIdle: (job) => this.#endIdle(job),
      onChange: () => onQueue?.(this.#places.queue.jobs),
    });
    this.#approvals = new JobApprovals({
      config,
      storage,
      ownFiles: (work) => this.#files.using(work),
      now,
      alarm,
      emit,
      onNew: onRequest,
      budgets: this.budgets,
      table: () => ({ rows: this.#rowCount, featureNames: this.#table?.featureNames ?? [] }),
    });
  }

  /** The party's tables, shared with scoring. */
  get data(): DataCache {
    return this.#files.data;
  }

  /** Reads data, requests and decisions once, so that errors in them are reported at the start. */
  async load(): Promise<void> {
    const [read] = await Promise.all([this.data.table(), this.data.testTable(), this.#approvals.load()]);
    this.#noteRead(read);
  }

  /**
   * Refuses a job before its alignment for what its first message would be refused for. Where a person approves jobs,
   * nothing is said before that.
   * @throws TandemError
   */
  async checkTable(training: { readonly enableCategorical: boolean }, caller: Pick<Caller, "name">): Promise<void> {
    if (!this.#approvals.isRequired(caller)) await this.#files.using(async () => this.#checkColumns(training));
  }

  #checkColumns(training: { readonly enableCategorical: boolean }): void {
    if (this.#table !== null) refuseCategories(this.#table, training);
  }

  #noteRead({ ids, table }: JoinedTable): void {
    const { featureNames, categories } = table;
    this.#rowCount = ids.ids.length;
    this.#table = { featureNames, ...(categories && { categories }) };
  }

  async request(request: ActiveRequest, caller: Caller): Promise<RequestedJob> {
    try {
      await this.budgets.daily.charge(caller.name, { attempts: 1 }, "job");
      const agreed = this.#places.check(request);
      const enter = (): RequestedJob => this.#places.enter(request, agreed, caller);
      const requested = await this.#approvals.request(request, agreed, caller, enter);
      this.#watch(caller);
      if (caller.gone.aborted) this.#callerGone(caller);
      return requested;
    } catch (error) {
      this.#refused(caller, error);
      throw error;
    }
  }

  async beginAlignment(offer: ActiveAlignmentOffer, caller: Caller): Promise<{ passiveIdCount: number }> {
    const { job, activeIdCount, hashDomain } = offer;
    return this.#opening(caller, job, async (before, place) => {
      const { name, policy, threads } = this.#config;
      await this.budgets.daily.charge(caller.name, { attempts: 1 }, "PSI run");
      if (before.kind === "running" && before.caller === caller)
        throw new TandemError("PROTOCOL_STATE", `${name} has this job open on this connection already`);
      checkOffer(offer, this.#config);
      await this.#approvals.alignmentOffered(offer, caller);
      await refuseAlignment(this.#files.checkpointsOf(job), caller.name);
      await refuseUnfinished(this.#files, caller.name, job, this.#jobsOf(caller));
      const data = await this.#files.table();
      this.#noteRead(data);
      this.#places.queue.resize(place, this.#places.alignmentBytes());
      const asked = { alignments: 1, ids: activeIdCount };
      await this.budgets.daily.check(caller.name, asked, "PSI run");
      const normalisations = knownNormalisations(offer, name);
      const alignment = new PassivePsi(data.ids, {
        activeIdCountMax: policy.max_active_ids,
        boundTo: caller.fingerprint,
        // Counted here, not above: while another party is unreachable an alignment restarts repeatedly and reveals
        // nothing.
        admit: async () => {
          await this.budgets.daily.charge(caller.name, asked, "PSI run");
          await this.#approvals.alignmentBegins(job, caller);
        },
        ...(threads === undefined ? {} : { threads }),
      });
      const answer = alignment.begin({ hashDomain, normalisations, activeIdCount });
      this.#states.set(place, { kind: "aligning", caller, job, alignment, data });
      this.#emit({
        type: "aligning",
        party: name,
        peer: caller.name,
        job,
        ownIdCount: data.ids.ids.length,
        peerIdCount: activeIdCount,
      });
      return answer;
    });
  }

  alignment(caller: Caller): PassivePsi {
    return this.#aligning(caller)[1].alignment;
  }

  async aligned(caller: Caller, rows: Uint32Array): Promise<void> {
    const [place, state] = this.#aligning(caller);
    const { job, data } = state;
    await this.#turns.run(async () => {
      if (this.#states.get(place) !== state) throw new TandemError("PROTOCOL_STATE", "the alignment was given up");
      await this.#files.using(async () => {
        const { folder, storage } = this.#files.checkpointsOf(job);
        await storage.makeFolder(folder);
        await storage.write(join(folder, "aligned.csv"), alignedCsv(data, rows));
        const [digest] = await tableDigestsInTurns(data.table);
        await writeAlignment(folder, { active: caller.name, rows, data: digest }, storage);
      });
      if (this.#states.get(place) === state) this.#states.set(place, { kind: "aligned", caller, job, rows, data });
    });
    await this.#approvals.aligned(job, caller);
    this.#emit({ type: "aligned", party: this.#config.name, job, peer: caller.name, commonCount: rows.length });
    if (caller.gone.aborted) this.#callerGone(caller);
  }

  alignmentFailed(caller: Caller, error: unknown): void {
    const found = this.#find(caller, "aligning");
    if (found === null) return;
    const [place, { job, alignment }] = found;
    alignment.close();
    this.#states.delete(place);
    if (caller.gone.aborted) this.#places.queue.left(place, caller);
    else this.#places.queue.over(place);
    const { code, message } = knownError(error);
    this.#emit({ type: "alignment-failed", party: this.#config.name, peer: caller.name, job, code, message });
    this.#refused(caller, error);
  }

  async openJob(hello: ActiveHello, caller: Caller): Promise<PassiveService> {
    const { name, policy } = this.#config;
    return this.#opening(caller, hello.parameters?.job ?? "", async (before, place) => {
      if (before.kind === "running" && before.caller === caller) return before.service; // a duplicate hello
      await this.budgets.daily.charge(caller.name, { attempts: 1 }, "job");
      requireActiveVersion(hello.protocolVersion, name);
      const agreed = agreedByPolicy(hello, policy, name, this.#config.experiment);
      await this.#approvals.jobBegins(hello, agreed, caller);
      this.#places.queue.resize(place, this.#places.jobBytes(agreed, hello.instanceCount));
      checkValidationFile(hello.validationFile, this.#config.data.validation_path, name);
      if (!agreed.vetting) checkOwnGroups(this.#config.data.interaction_constraints, agreed.interactionGroups, name);
      const { job } = agreed;
      const aligned = before.kind === "aligned" && before.caller === caller ? before : null;
      const rows = await jobRows(this.#files, { hello, job, active: caller.name, aligned });
      const sampling = await this.#files.using(async () => deriveSamplingSecret(this.#config, job));
      const digests = await rowDigests(rows);
      const terms = toStoredTerms(hello, agreed, rows, digests, caller.name, sampling);
      const checkpoints = await PassiveCheckpoints.open(this.#files.checkpointsOf(job), terms, () =>
        startSplits(this.#files, agreed, caller.name, rows.training),
      );
      if (!checkpoints.isStored) await refuseUnfinished(this.#files, caller.name, job, this.#jobsOf(caller));
      if (!checkpoints.isStored) await this.budgets.daily.chargeJob(caller.name, `${job}/${terms.jobId}`);
      const binned = await this.#files.using(async () => binTableInTurns(rows.training, agreed, decidingRows(rows)));
      const columns = agreed.vetting ? vettedColumns(binned, rows, checkpoints, { policy, agreed }) : [];
      const features = agreed.vetting ? columns.map(({ feature }) => feature) : binned;
      const data = { rows, digests, features, columns };
      const admitted = { config: this.#config, hello, agreed, ...data, checkpoints, peer: caller.name };
      const evidence = await openPassiveEvidence(this.#files, admitted, this.#credentials);
      const spending = await this.#spendingOf(admitted);
      const { service, report } = openPassiveJob({
        ...admitted,
        evidence,
        spending,
        crew: this.#crew,
        emit: (event) => this.#emit({ ...event, job }),
        own: (line) => this.#own(job, line),
      });
      const state: Running = { kind: "running", caller, job, service, checkpoints, release: () => spending.release() };
      this.#states.set(place, state);
      void this.#untilEnded(place, state, report);
      return service;
    });
  }

  /** What the job takes of the partner's budget, held for it until it ends. @throws TandemError POLICY */
  async #spendingOf({ agreed, rows, checkpoints, peer }: AdmittedJob): Promise<JobSpending> {
    const instanceCount = rows.training.ids.length;
    const summed = decidingRows(rows)?.length ?? instanceCount;
    const spending = new JobSpending(this.budgets, peer, checkpoints.beginning, agreed, instanceCount, summed);
    if (!checkpoints.isFinished) await spending.admit();
    return spending;
  }

  async #untilEnded(place: QueuedJob, state: Running, report: (end: PassiveEnd) => void): Promise<void> {
    const end = await state.service.ended;
    void this.#turns.run(() => state.checkpoints.retire());
    state.release();
    if (this.#states.get(place) === state) {
      this.#states.delete(place);
      if (end.isLost === true) this.#places.queue.left(place, state.caller, state.checkpoints.trees);
      else this.#places.queue.over(place);
    }
    report(end);
    this.#onJobEnded(end);
  }

  job(caller: Caller): PassiveService {
    const found = this.#find(caller, "running");
    if (found === null && this.#endedIdle.has(caller)) throw idleTooLong();
    if (found === null)
      throw new TandemError("PROTOCOL_STATE", `${this.#config.name} has no job under way on this connection`);
    this.#places.queue.touch(found[0]);
    return found[1].service;
  }

  jobRefused(caller: Caller, error: unknown): void {
    const found = this.#find(caller, "running");
    if (found === null || found[1].service.hasBegun) return;
    const [place, { checkpoints, release }] = found;
    this.#states.delete(place);
    this.#places.queue.over(place);
    release();
    void this.#turns.run(() => checkpoints.retire());
    this.#refused(caller, error);
  }

  /**
   * One activity per connection, and one per job: the caller's own earlier alignment is replaced, and so is an older
   * connection for the same job.
   */
  async #opening<T>(
    caller: Caller,
    job: string,
    open: (before: AdmissionState, place: QueuedJob) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#turns.run(async () => {
        this.#refuseOthers(caller, job);
        if (caller.gone.aborted) throw new TandemError("PARTY_LOST", "the active party is gone: its connection closed");
        const place = this.#places.queue.take({ partner: caller.name, job, bytes: 0, holder: caller });
        const before = this.#states.get(place) ?? idle;
        if (before.kind === "running" && before.caller === caller) return open(before, place);
        await giveWay(before);
        const opening: AdmissionState = { kind: "opening", caller, job };
        this.#states.set(place, opening);
        this.#watch(caller);
        try {
          return await open(before, place);
        } finally {
          if (this.#states.get(place) === opening) {
            this.#states.delete(place); // it was refused
            this.#places.queue.over(place);
          }
          if (caller.gone.aborted) this.#callerGone(caller);
        }
      });
    } catch (error) {
      this.#refused(caller, error);
      throw error;
    }
  }

  /** @throws TandemError PARTY_BUSY if this connection has another job, HANDSHAKE_MISMATCH if another party has one */
  #refuseOthers(caller: Caller, job: string): void {
    const { name } = this.#config;
    for (const [place, state] of this.#states) {
      if (state.job === job && state.caller.name === caller.name) continue;
      if (state.job === job)
        throw new TandemError(
          "HANDSHAKE_MISMATCH",
          `job: ${name} has a job named ${peerText(job)} with another active party; choose another name`,
        );
      if (state.caller !== caller) continue;
      if (state.kind === "opening" || state.kind === "running")
        throw new TandemError("PARTY_BUSY", `${name} serves another job on this connection; try again later`);
      if (state.kind === "aligning") state.alignment.close();
      this.#states.delete(place);
      this.#places.queue.over(place);
    }
  }

  /** Once per connection, however many calls it makes. */
  #watch(caller: Caller): void {
    if (this.#watched.has(caller)) return;
    this.#watched.add(caller);
    caller.gone.addEventListener("abort", () => this.#callerGone(caller), { once: true });
  }

  #callerGone(caller: Caller): void {
    this.alignmentFailed(
      caller,
      new TandemError("PARTY_LOST", "the active party is gone: its connection closed during the alignment"),
    );
    for (const place of this.#places.queue.jobs) {
      const state = this.#states.get(place);
      if (place.holder !== caller || state?.kind === "running" || state?.kind === "opening") continue;
      // Also the normal end of an alignment without a job.
      this.#states.delete(place);
      if (state?.kind === "aligned") this.#places.queue.over(place);
      else this.#places.queue.left(place, caller);
    }
  }

  #isWorking(place: QueuedJob): boolean {
    const state = this.#states.get(place);
    return state?.kind === "running"
      ? state.service.isWorking
      : state?.kind === "aligning" || state?.kind === "opening";
  }

  #endIdle(place: QueuedJob): void {
    const state = this.#states.get(place);
    if (state !== undefined) this.#endedIdle.add(state.caller);
    if (state?.kind === "running") return state.service.end(idleTooLong());
    this.#states.delete(place);
    this.#places.queue.over(place);
  }

  #find<Kind extends Activity["kind"]>(
    caller: Caller,
    kind: Kind,
  ): [QueuedJob, Extract<Activity, { kind: Kind }>] | null {
    for (const [place, state] of this.#states)
      if (state.kind === kind && state.caller === caller) return [place, state as Extract<Activity, { kind: Kind }>];
    return null;
  }

  /** @throws TandemError PROTOCOL_STATE */
  #aligning(caller: Caller): [QueuedJob, Aligning] {
    const found = this.#find(caller, "aligning");
    if (found !== null) return found;
    throw new TandemError("PROTOCOL_STATE", `${this.#config.name} has no alignment under way on this connection`);
  }

  /** Names of the partner's jobs that something is done for. */
  #jobsOf({ name }: Caller): string[] {
    return [...this.#states.values()].filter(({ caller }) => caller.name === name).map(({ job }) => job);
  }

  #refused(caller: Caller, error: unknown): void {
    const { code, message } = knownError(error);
    this.#emit({ type: "refused", party: this.#config.name, peer: caller.name, code, message });
  }
}

function idleTooLong(): TandemError {
  return new TandemError("PARTY_LOST", "the active party called nothing for a long time, and other jobs wait");
}

function alarm(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, ms).unref();
  return () => clearTimeout(timer);
}

function knownError(error: unknown): TandemError {
  return error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
}
