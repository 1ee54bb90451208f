/**
 * What a passive party is doing, and for whom: nothing, an alignment, or a job; never two at a time. Everything belongs
 * to one connection and ends with it; what lasts is stored. A newer connection of the same active party for the same
 * job takes the place of an older one, which may be dead without anybody having noticed. A refusal is told to the
 * caller and to the log, and changes nothing.
 *
 *   idle -> opening -> aligning -> aligned -> opening -> running -> idle
 *              \______________________________/
 */
import { join } from "node:path";
import { type Normalisation, normalisationNames } from "../../align/normalise.ts";
import { PassiveAlignment } from "../../align/passive-alignment.ts";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/exclusive.ts";
import { diskStorage, type Storage } from "../../base/storage.ts";
import { type PartyTable, selectRows } from "../../data/dataset.ts";
import { tableDigest } from "../../data/table-digest.ts";
import { checkBitmap, isSet } from "../../wire/bitmap.ts";
import type { ActiveAlignmentOffer } from "../../wire/generated/tandem/v1/alignment_pb.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { idsDigest } from "../../protocol/ids.ts";
import { type AgreedParameters, flatParameters } from "../../protocol/job-parameters.ts";
import type { OwnSplit } from "../../protocol/passive/role.ts";
import { protocolVersion } from "../../wire/version.ts";
import { readAlignment, writeAlignment } from "../../store/passive-checkpoint.ts";
import { textOf } from "../../store/stored-numbers.ts";
import type { Caller } from "../../transport/caller.ts";
import type { PartyDesk } from "../../transport/party-service.ts";
import type { PassiveEnd, PassiveService } from "../../transport/passive-service.ts";
import type { PassiveConfig } from "../config.ts";
import { DataCache } from "../data-cache.ts";
import type { Emit } from "../../record/events.ts";
import { alignedCsv, type JoinedTable } from "../joined-tables.ts";
import { binTable } from "../party-data.ts";
import { withOwnFiles } from "../own-files.ts";
import { decidingRows, type JobRows, openPassiveJob } from "./job.ts";
import { type JobTerms, PassiveRecord, type PassiveRecordOptions, refuseAlignment } from "./record.ts";
import { agreedByPolicy, checkIdCount, checkJobName, checkValidationFile } from "../policy.ts";
import type { OwnView } from "../../record/run-record.ts";
import { samplingSecretOf } from "../sampling-secret.ts";
import { ShareLibrary } from "../model/share-library.ts";
import { splitsOver } from "../model/start-model.ts";

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "opening"; readonly caller: Caller; readonly job: string }
  | {
      readonly kind: "aligning";
      readonly caller: Caller;
      readonly job: string;
      readonly alignment: PassiveAlignment;
      readonly data: JoinedTable;
    }
  | {
      readonly kind: "aligned";
      readonly caller: Caller;
      readonly job: string;
      readonly rows: Uint32Array;
      readonly data: JoinedTable;
    }
  | {
      readonly kind: "running";
      readonly caller: Caller;
      readonly job: string;
      readonly service: PassiveService;
      readonly record: PassiveRecord;
    };

const idle: State = { kind: "idle" };

export interface DeskOptions {
  readonly storage?: Storage | undefined;
  /** Takes what only this party may look at. */
  readonly own?: (view: OwnView) => void;
}

export class PassiveDesk implements PartyDesk {
  readonly #config: PassiveConfig;
  readonly #emit: Emit;
  readonly #onJobEnded: (end: PassiveEnd) => void;
  readonly #own: (view: OwnView) => void;
  readonly #data: DataCache;
  readonly #storage: Storage;
  /** What opens something waits for what is being opened or stored. */
  readonly #turns = new Exclusive();
  #state: State = idle;

  constructor(
    config: PassiveConfig,
    emit: Emit,
    onJobEnded: (end: PassiveEnd) => void,
    { storage = diskStorage, own = () => {} }: DeskOptions = {},
  ) {
    this.#config = config;
    this.#emit = emit;
    this.#onJobEnded = onJobEnded;
    this.#own = own;
    this.#data = new DataCache(config.data);
    this.#storage = storage;
  }

  /** The party's tables, for whoever else answers with them. */
  get data(): DataCache {
    return this.#data;
  }

  /** Reads the data once, so that what is wrong with it shows at the start. */
  async load(): Promise<void> {
    await Promise.all([this.#data.table(), this.#data.testTable()]);
  }

  async beginAlignment(offer: ActiveAlignmentOffer, caller: Caller): Promise<{ passiveIdCount: number }> {
    const { job, activeIdCount, scheme } = offer;
    return this.#opening(caller, job, async (before) => {
      const { name, policy, threads } = this.#config;
      if (before.kind === "running" && before.caller === caller)
        throw new TandemError("PROTOCOL_STATE", `${name} has this job open on this connection already`);
      if (offer.protocolVersion !== protocolVersion) {
        throw new TandemError(
          "HANDSHAKE_MISMATCH",
          `protocol version: the active party speaks ${offer.protocolVersion}, ${name} speaks ${protocolVersion}`,
        );
      }
      checkJobName(job, name);
      checkValidationFile(offer.validationFile, this.#config.data.validation_path, name);
      checkIdCount(activeIdCount, policy, name);
      await refuseAlignment(this.#recordOf(job), caller.name);
      const data = await this.#ownFiles(() => this.#data.table());
      const normalisations = knownNormalisations(offer, name);
      const alignment = new PassiveAlignment(data.ids, {
        activeIdCountMax: policy.max_active_ids,
        ...(threads === undefined ? {} : { threads }),
      });
      const answer = alignment.begin({ scheme, normalisations, activeIdCount });
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

  alignment(caller: Caller): PassiveAlignment {
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
      await this.#ownFiles(async () => {
        const { folder } = this.#recordOf(job);
        await this.#storage.makeFolder(folder);
        await this.#storage.write(join(folder, "aligned.csv"), alignedCsv(data, rows));
        await writeAlignment(folder, { active: caller.name, rows, data: tableDigest(data.table) }, this.#storage);
      });
      if (this.#state === state) this.#state = { kind: "aligned", caller, job, rows, data };
    });
    this.#emit({ type: "aligned", party: this.#config.name, job, peer: caller.name, commonCount: rows.length });
  }

  alignmentFailed(caller: Caller, error: unknown): void {
    if (this.#state.kind !== "aligning" || this.#state.caller !== caller) return;
    this.#state.alignment.close();
    this.#state = idle;
    this.#refused(caller, error);
  }

  async openJob(hello: ActiveHello, caller: Caller): Promise<PassiveService> {
    const { name, policy } = this.#config;
    return this.#opening(caller, hello.parameters?.job ?? "", async (before) => {
      if (before.kind === "running" && before.caller === caller) return before.service; // it came twice
      const agreed = agreedByPolicy(hello, policy, name);
      checkValidationFile(hello.validationFile, this.#config.data.validation_path, name);
      const { job } = agreed;
      const rows = await this.#jobRows(
        hello,
        job,
        caller,
        before.kind === "aligned" && before.caller === caller ? before : null,
      );
      const sampling = await this.#ownFiles(async () => samplingSecretOf(this.#config));
      const record = await PassiveRecord.open(this.#recordOf(job), termsOf(hello, agreed, rows, caller, sampling), () =>
        this.#startSplits(agreed, caller, rows.training),
      );
      const deciding = decidingRows(rows);
      const features = await this.#ownFiles(async () => binTable(rows.training, agreed, deciding));
      const { service, report } = openPassiveJob({
        config: this.#config,
        agreed,
        rows,
        features,
        record,
        peer: caller.name,
        emit: this.#emit,
        own: this.#own,
      });
      const state: State = { kind: "running", caller, job, service, record };
      this.#state = state;
      void this.#untilEnded(state, report);
      return service;
    });
  }

  async #untilEnded(state: Extract<State, { kind: "running" }>, report: (end: PassiveEnd) => void): Promise<void> {
    const end = await state.service.ended;
    void this.#turns.run(() => state.record.retire());
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
    const { record } = this.#state;
    this.#state = idle;
    void this.#turns.run(() => record.retire());
    this.#refused(caller, error);
  }

  /**
   * One thing at a time; the caller's own earlier alignment gives way, and so does an older connection for the same
   * job.
   */
  async #opening<T>(caller: Caller, job: string, open: (before: State) => Promise<T>): Promise<T> {
    try {
      this.#refuseOthers(caller, job);
      return await this.#turns.run(async () => {
        this.#refuseOthers(caller, job);
        if (caller.gone.aborted) throw new TandemError("PARTY_LOST", "the active party is gone: its connection closed");
        const before = this.#state;
        if (before.kind === "running" && before.caller === caller) return open(before);
        await this.#giveWay(before);
        const opening: State = { kind: "opening", caller, job };
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

  #refuseOthers(caller: Caller, job: string): void {
    const state = this.#state;
    if (state.kind === "idle") return;
    const { name } = this.#config;
    if (state.caller.name === caller.name && state.job === job) return;
    if (state.caller === caller && (state.kind === "aligning" || state.kind === "aligned")) return;
    throw new TandemError("PARTY_BUSY", `${name} serves another job at the moment; try again later`);
  }

  async #giveWay(state: State): Promise<void> {
    if (state.kind === "aligning") state.alignment.close();
    if (state.kind !== "running") return;
    state.service.end(new TandemError("PARTY_LOST", "the active party has joined again on another connection"));
    await state.record.retire();
  }

  #callerGone(caller: Caller): void {
    const state = this.#state;
    if (state.kind === "aligning" && state.caller === caller)
      this.alignmentFailed(
        caller,
        new TandemError("PARTY_LOST", "the active party is gone: its connection closed during the alignment"),
      );
    // An alignment alone ends like this, well.
    if (state.kind === "aligned" && state.caller === caller) this.#state = idle;
  }

  /** @throws TandemError ID_MISMATCH if this party's rows cannot be the ones that are meant */
  async #jobRows(
    hello: ActiveHello,
    job: string,
    caller: Caller,
    aligned: Extract<State, { kind: "aligned" }> | null,
  ): Promise<JobRows> {
    const { name } = this.#config;
    const training = hello.trainingRows;
    if (hello.aligned) {
      const all =
        aligned?.job === job ? selectRows(aligned.data.table, aligned.rows) : await this.#storedRows(job, caller);
      return {
        training: selectRows(all, trainingRows(training, all.ids.length, name)),
        validation: hello.validationRows,
        predictable: all,
      };
    }
    const { table } = await this.#ownFiles(() => this.#data.table());
    const test = await this.#ownFiles(() => this.#data.testTable());
    return {
      training: selectRows(table, trainingRows(training, table.ids.length, name)),
      validation: hello.validationRows,
      predictable: test?.table ?? table,
    };
  }

  /**
   * This party's splits of the model that a job goes on from. @throws TandemError MODEL_UNKNOWN, COLUMN_UNKNOWN or
   * HANDSHAKE_MISMATCH
   */
  async #startSplits(agreed: AgreedParameters, caller: Caller, table: PartyTable): Promise<readonly OwnSplit[]> {
    if (agreed.startModel === "") return [];
    const { name, output } = this.#config;
    const damaged = (error: TandemError): void =>
      this.#emit({ type: "error", party: name, code: error.code, message: error.message });
    const share = await new ShareLibrary(output.directory, damaged).find(agreed.startModel, caller.name);
    if (share === null)
      throw new TandemError(
        "MODEL_UNKNOWN",
        `${name} has no share of the model that training is to go on from, made with this active party`,
      );
    if (share.splits.some(({ tree }) => tree >= agreed.startTrees))
      throw new TandemError(
        "HANDSHAKE_MISMATCH",
        `start_trees: the active party proposes ${agreed.startTrees}, ${name} has splits of later trees of that model`,
      );
    return this.#ownFiles(async () => splitsOver(share.splits, table));
  }

  /** The rows of the last alignment for a job, before this connection. */
  async #storedRows(job: string, caller: Caller): Promise<PartyTable> {
    const { name } = this.#config;
    const stored = await this.#ownFiles(() => readAlignment(this.#recordOf(job).folder, this.#storage));
    if (stored === null || stored.active !== caller.name)
      throw new TandemError("PROTOCOL_STATE", `${name}: job ${job} was not aligned`);
    const { table } = await this.#ownFiles(() => this.#data.table());
    if (tableDigest(table) !== stored.data)
      throw new TandemError(
        "CHECKPOINT",
        `the data of ${name} has changed since job ${job} was aligned; put it back, or begin anew under another name`,
      );
    return selectRows(table, stored.rows);
  }

  #recordOf(job: string): PassiveRecordOptions {
    const { name, output } = this.#config;
    return {
      party: name,
      job,
      folder: join(output.directory, job),
      storage: this.#storage,
      ownFiles: (work) => this.#ownFiles(work),
    };
  }

  #ownFiles<T>(work: () => Promise<T>): Promise<T> {
    return withOwnFiles(this.#config.name, this.#emit, work);
  }

  #refused(caller: Caller, error: unknown): void {
    const known =
      error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
    this.#emit({
      type: "refused",
      party: this.#config.name,
      peer: caller.name,
      code: known.code,
      message: known.message,
    });
  }
}

function termsOf(
  hello: ActiveHello,
  agreed: AgreedParameters,
  rows: JobRows,
  caller: Caller,
  sampling: string,
): JobTerms {
  return {
    active: caller.name,
    run: Buffer.from(hello.run).toString("hex"),
    agreed: flatParameters(agreed),
    instances: rows.training.ids.length,
    idsDigest: Buffer.from(idsDigest(rows.training.ids)).toString("hex"),
    aligned: hello.aligned,
    training: textOf(hello.trainingRows),
    validation: textOf(hello.validationRows),
    data: tableDigest(rows.training, rows.predictable),
    sampling,
  };
}

/** In the order in which the active party applies them. */
function knownNormalisations({ normalisations }: ActiveAlignmentOffer, name: string): Normalisation[] {
  return normalisations.map((given) => {
    const known = normalisationNames.find((candidate) => candidate === given);
    if (known === undefined)
      throw new TandemError("HANDSHAKE_MISMATCH", `normalise: the active party names one that ${name} does not know`);
    return known;
  });
}

function trainingRows(bitmap: Uint8Array, rowCount: number, name: string): Uint32Array {
  const all = Uint32Array.from({ length: rowCount }, (_, row) => row);
  if (bitmap.length === 0) return all;
  try {
    checkBitmap(bitmap, rowCount);
  } catch (cause) {
    throw new TandemError(
      "ID_MISMATCH",
      `${name} does not hold the same ids in the same order as the active party; align the data first`,
      { cause },
    );
  }
  return all.filter((row) => isSet(bitmap, row));
}
