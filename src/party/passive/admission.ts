/**
 * Admits one activity at a time to a passive party: an alignment or a job. Each belongs to one connection and ends with
 * it; what must survive is stored. A newer connection of the same active party for the same job replaces an older one,
 * which may be dead undetected. A refusal is sent to the caller and logged, and changes nothing.
 *
 *   idle -> opening -> aligning -> aligned -> opening -> running -> idle
 *              \______________________________/
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
import { writeAlignment } from "../../store/passive-checkpoint.ts";
import type { Caller } from "../../transport/caller.ts";
import type { PartyHandler } from "../../transport/party-service.ts";
import type { PassiveEnd, PassiveService } from "../../transport/passive-service.ts";
import type { ActiveAlignmentOffer } from "../../wire/generated/tandem/v1/alignment_pb.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
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
import { type AdmissionState, giveWay, idle, refuseOthers, type Running } from "./admission-state.ts";
import { openPassiveJob } from "./job.ts";
import { openPassiveEvidence } from "./job-evidence.ts";
import { decidingRows, jobRows } from "./job-rows.ts";
import { startSplits, toStoredTerms } from "./job-terms.ts";
import { rowDigests } from "./row-digests.ts";
import { PassiveCheckpoints, refuseAlignment } from "./checkpoints.ts";
import { JobSpending } from "./job-spending.ts";
import { refuseUnfinished } from "./unfinished-jobs.ts";
import type { PartnerBudgets } from "../partner-budget.ts";

export interface AdmissionOptions {
  readonly storage?: Storage | undefined;
  /** Milliseconds since the epoch, for the daily budget. */
  readonly now?: (() => number) | undefined;
  /** Receives what is for this party's own record only. */
  readonly own?: (line: OwnLine) => void;
  /** Workers that hold the rows of its jobs; left out: this process. */
  readonly crew?: Crew | undefined;
}

export class JobAdmission implements PartyHandler {
  readonly #config: PassiveConfig;
  readonly #emit: Emit;
  readonly #onJobEnded: (end: PassiveEnd) => void;
  readonly #own: (line: OwnLine) => void;
  readonly #crew: Crew | undefined;
  readonly #files: PassiveFiles;
  /** Budgets of the partners, and what they have used. */
  readonly budgets: PartnerBudgets;
  /** Of the table when it was last read completely. */
  #rowCount = 0;
  /** What the table was then: probes do not read it again. */
  #table: Pick<PartyTable, "featureNames" | "categories"> | null = null;
  /** Serialises opening and storing. */
  readonly #turns = new Exclusive();
  #state: AdmissionState = idle;

  constructor(
    config: PassiveConfig,
    emit: Emit,
    onJobEnded: (end: PassiveEnd) => void,
    { storage = diskStorage, own = () => {}, now = Date.now, crew }: AdmissionOptions = {},
  ) {
    this.#config = config;
    this.#emit = emit;
    this.#onJobEnded = onJobEnded;
    this.#own = own;
    this.#crew = crew;
    this.#files = new PassiveFiles(config, storage, emit);
    this.budgets = passiveBudgets(this.#files, { emit, now, rowCount: () => this.#rowCount });
  }

  /** The party's tables, shared with scoring. */
  get data(): DataCache {
    return this.#files.data;
  }

  /** Reads the data once, so that errors in it are reported at the start. */
  async load(): Promise<void> {
    const [read] = await Promise.all([this.data.table(), this.data.testTable()]);
    this.#noteRead(read);
  }

  /** Refuses a job before its alignment for what its first message would be refused for. @throws TandemError */
  checkTable(training: { readonly enableCategorical: boolean }): Promise<void> {
    return this.#files.using(async () => {
      if (this.#table !== null) refuseCategories(this.#table, training);
    });
  }

  #noteRead({ ids, table }: JoinedTable): void {
    const { featureNames, categories } = table;
    this.#rowCount = ids.ids.length;
    this.#table = { featureNames, ...(categories && { categories }) };
  }

  async beginAlignment(offer: ActiveAlignmentOffer, caller: Caller): Promise<{ passiveIdCount: number }> {
    const { job, activeIdCount, hashDomain } = offer;
    return this.#opening(caller, job, async (before) => {
      const { name, policy, threads } = this.#config;
      await this.budgets.daily.charge(caller.name, { attempts: 1 }, "PSI run");
      if (before.kind === "running" && before.caller === caller)
        throw new TandemError("PROTOCOL_STATE", `${name} has this job open on this connection already`);
      checkOffer(offer, this.#config);
      await refuseAlignment(this.#files.checkpointsOf(job), caller.name);
      await refuseUnfinished(this.#files, caller.name, job);
      const data = await this.#files.table();
      this.#noteRead(data);
      const asked = { alignments: 1, ids: activeIdCount };
      await this.budgets.daily.check(caller.name, asked, "PSI run");
      const normalisations = knownNormalisations(offer, name);
      const alignment = new PassivePsi(data.ids, {
        activeIdCountMax: policy.max_active_ids,
        boundTo: caller.fingerprint,
        // Counted here, not above: while another party is unreachable an alignment restarts repeatedly and reveals
        // nothing.
        admit: () => this.budgets.daily.charge(caller.name, asked, "PSI run"),
        ...(threads === undefined ? {} : { threads }),
      });
      const answer = alignment.begin({ hashDomain, normalisations, activeIdCount });
      this.#state = { kind: "aligning", caller, job, alignment, data };
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
    if (this.#state.kind === "aligning" && this.#state.caller === caller) return this.#state.alignment;
    throw new TandemError("PROTOCOL_STATE", `${this.#config.name} has no alignment under way on this connection`);
  }

  async aligned(caller: Caller, rows: Uint32Array): Promise<void> {
    const state = this.#state;
    if (state.kind !== "aligning" || state.caller !== caller)
      throw new TandemError("PROTOCOL_STATE", "the alignment was given up");
    const { job, data } = state;
    await this.#turns.run(async () => {
      if (this.#state !== state) throw new TandemError("PROTOCOL_STATE", "the alignment was given up");
      await this.#files.using(async () => {
        const { folder, storage } = this.#files.checkpointsOf(job);
        await storage.makeFolder(folder);
        await storage.write(join(folder, "aligned.csv"), alignedCsv(data, rows));
        const [digest] = await tableDigestsInTurns(data.table);
        await writeAlignment(folder, { active: caller.name, rows, data: digest }, storage);
      });
      if (this.#state === state) this.#state = { kind: "aligned", caller, job, rows, data };
    });
    this.#emit({ type: "aligned", party: this.#config.name, job, peer: caller.name, commonCount: rows.length });
  }

  alignmentFailed(caller: Caller, error: unknown): void {
    if (this.#state.kind !== "aligning" || this.#state.caller !== caller) return;
    const { job, alignment } = this.#state;
    alignment.close();
    this.#state = idle;
    const { code, message } = knownError(error);
    this.#emit({ type: "alignment-failed", party: this.#config.name, peer: caller.name, job, code, message });
    this.#refused(caller, error);
  }

  async openJob(hello: ActiveHello, caller: Caller): Promise<PassiveService> {
    const { name, policy } = this.#config;
    return this.#opening(caller, hello.parameters?.job ?? "", async (before) => {
      if (before.kind === "running" && before.caller === caller) return before.service; // a duplicate hello
      await this.budgets.daily.charge(caller.name, { attempts: 1 }, "job");
      requireActiveVersion(hello.protocolVersion, name);
      const agreed = agreedByPolicy(hello, policy, name, this.#config.experiment);
      checkValidationFile(hello.validationFile, this.#config.data.validation_path, name);
      checkOwnGroups(this.#config.data.interaction_constraints, agreed.interactionGroups, name);
      const { job } = agreed;
      const aligned = before.kind === "aligned" && before.caller === caller ? before : null;
      const rows = await jobRows(this.#files, { hello, job, active: caller.name, aligned });
      const sampling = await this.#files.using(async () => deriveSamplingSecret(this.#config, job));
      const digests = await rowDigests(rows);
      const terms = toStoredTerms(hello, agreed, rows, digests, caller.name, sampling);
      const checkpoints = await PassiveCheckpoints.open(this.#files.checkpointsOf(job), terms, () =>
        startSplits(this.#files, agreed, caller.name, rows.training),
      );
      if (!checkpoints.isStored) await refuseUnfinished(this.#files, caller.name, job);
      if (!checkpoints.isStored) await this.budgets.daily.chargeJob(caller.name, `${job}/${terms.jobId}`);
      const instanceCount = rows.training.ids.length;
      const deciding = decidingRows(rows);
      const summed = deciding?.length ?? instanceCount;
      const spending = new JobSpending(this.budgets, caller.name, checkpoints.beginning, agreed, instanceCount, summed);
      if (!checkpoints.isFinished) await spending.admit();
      const features = await this.#files.using(async () => binTableInTurns(rows.training, agreed, deciding));
      const admitted = { config: this.#config, hello, agreed, rows, digests, features, checkpoints, peer: caller.name };
      const { service, report } = openPassiveJob({
        ...admitted,
        evidence: await openPassiveEvidence(this.#files, admitted),
        spending,
        crew: this.#crew,
        emit: this.#emit,
        own: this.#own,
      });
      const state: AdmissionState = { kind: "running", caller, job, service, checkpoints };
      this.#state = state;
      void this.#untilEnded(state, report);
      return service;
    });
  }

  async #untilEnded(state: Running, report: (end: PassiveEnd) => void): Promise<void> {
    const end = await state.service.ended;
    void this.#turns.run(() => state.checkpoints.retire());
    if (this.#state === state) this.#state = idle;
    report(end);
    this.#onJobEnded(end);
  }

  job(caller: Caller): PassiveService {
    if (this.#state.kind === "running" && this.#state.caller === caller) return this.#state.service;
    throw new TandemError("PROTOCOL_STATE", `${this.#config.name} has no job under way on this connection`);
  }

  jobRefused(caller: Caller, error: unknown): void {
    if (this.#state.kind !== "running" || this.#state.caller !== caller || this.#state.service.hasBegun) return;
    const { checkpoints } = this.#state;
    this.#state = idle;
    void this.#turns.run(() => checkpoints.retire());
    this.#refused(caller, error);
  }

  /**
   * One activity at a time; the caller's own earlier alignment is replaced, and so is an older connection for the same
   * job.
   */
  async #opening<T>(caller: Caller, job: string, open: (before: AdmissionState) => Promise<T>): Promise<T> {
    try {
      refuseOthers(this.#state, caller, job, this.#config.name);
      return await this.#turns.run(async () => {
        refuseOthers(this.#state, caller, job, this.#config.name);
        if (caller.gone.aborted) throw new TandemError("PARTY_LOST", "the active party is gone: its connection closed");
        const before = this.#state;
        if (before.kind === "running" && before.caller === caller) return open(before);
        await giveWay(before);
        const opening: AdmissionState = { kind: "opening", caller, job };
        this.#state = opening;
        caller.gone.addEventListener("abort", () => this.#callerGone(caller), { once: true });
        try {
          return await open(before);
        } finally {
          if (this.#state === opening) this.#state = idle; // it was refused
          if (caller.gone.aborted) this.#callerGone(caller);
        }
      });
    } catch (error) {
      this.#refused(caller, error);
      throw error;
    }
  }

  #callerGone(caller: Caller): void {
    const state = this.#state;
    if (state.kind === "aligning" && state.caller === caller)
      this.alignmentFailed(
        caller,
        new TandemError("PARTY_LOST", "the active party is gone: its connection closed during the alignment"),
      );
    // The normal end of an alignment without a job.
    if (state.kind === "aligned" && state.caller === caller) this.#state = idle;
  }

  #refused(caller: Caller, error: unknown): void {
    const { code, message } = knownError(error);
    this.#emit({ type: "refused", party: this.#config.name, peer: caller.name, code, message });
  }
}

function knownError(error: unknown): TandemError {
  return error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
}
