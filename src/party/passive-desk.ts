/**
 * What a passive party is doing, and for whom: nothing, an alignment, or a job; never two at a time. Everything belongs to
 * one connection and ends with it. A refusal is told to the caller and to the log, and changes nothing.
 *
 *   idle -> opening -> aligning -> aligned -> opening -> running -> idle
 *              \______________________________/
 */
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Normalisation, normalisationNames } from "../align/normalise.ts";
import { PassiveAlignment } from "../align/passive-alignment.ts";
import { TandemError } from "../base/error.ts";
import { writeCsv } from "../data/write-csv.ts";
import { selectRows } from "../data/dataset.ts";
import { checkBitmap, isSet } from "../protocol/bitmap.ts";
import type { ActiveAlignmentOffer } from "../protocol/generated/tandem/v1/alignment_pb.ts";
import type { ActiveHello } from "../protocol/generated/tandem/v1/tandem_pb.ts";
import { peerText } from "../protocol/peer-text.ts";
import { protocolVersion } from "../protocol/version.ts";
import type { Caller } from "../transport/caller.ts";
import type { PartyDesk } from "../transport/party-service.ts";
import type { PassiveEnd, PassiveService } from "../transport/passive-service.ts";
import type { PassiveConfig } from "./config.ts";
import { DataCache } from "./data-cache.ts";
import type { Emit } from "./events.ts";
import type { DistinctTable } from "./party-data.ts";
import { withOwnFiles } from "./own-files.ts";
import { type JobRows, openPassiveJob } from "./passive-job.ts";
import { agreedByPolicy, checkIdCount, checkJobName } from "./policy.ts";

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "opening"; readonly caller: Caller }
  | { readonly kind: "aligning"; readonly caller: Caller; readonly job: string; readonly alignment: PassiveAlignment; readonly data: DistinctTable }
  | { readonly kind: "aligned"; readonly caller: Caller; readonly job: string; readonly rows: Uint32Array; readonly data: DistinctTable }
  | { readonly kind: "running"; readonly caller: Caller; readonly job: string; readonly service: PassiveService };

const idle: State = { kind: "idle" };

export class PassiveDesk implements PartyDesk {
  readonly #config: PassiveConfig;
  readonly #emit: Emit;
  readonly #onJobEnded: (end: PassiveEnd) => void;
  readonly #data: DataCache;
  #state: State = idle;

  constructor(config: PassiveConfig, emit: Emit, onJobEnded: (end: PassiveEnd) => void) {
    this.#config = config;
    this.#emit = emit;
    this.#onJobEnded = onJobEnded;
    this.#data = new DataCache(config.data);
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
    return this.#opening(caller, async () => {
      const { name, policy, threads } = this.#config;
      const { job, activeIdCount, scheme } = offer;
      if (offer.protocolVersion !== protocolVersion) {
        throw new TandemError("HANDSHAKE_MISMATCH", `protocol version: the active party speaks ${offer.protocolVersion}, ${name} speaks ${protocolVersion}`);
      }
      checkJobName(job, name);
      checkIdCount(activeIdCount, policy, name);
      await this.#refuseFinished(job);
      const data = await this.#ownData(() => this.#data.table());
      const normalisations = knownNormalisations(offer, name);
      const alignment = new PassiveAlignment(data.ids, { activeIdCountMax: policy.max_active_ids, ...(threads === undefined ? {} : { threads }) });
      const answer = alignment.begin({ scheme, normalisations, activeIdCount });
      this.#state = { kind: "aligning", caller, job, alignment, data };
      this.#emit({ type: "aligning", party: name, peer: caller.name, job, ownIdCount: data.ids.ids.length, peerIdCount: activeIdCount });
      return answer;
    });
  }

  alignment(caller: Caller): PassiveAlignment {
    if (this.#state.kind === "aligning" && this.#state.caller === caller) return this.#state.alignment;
    throw new TandemError("PROTOCOL_STATE", `${this.#config.name} has no alignment under way on this connection`);
  }

  async aligned(caller: Caller, rows: Uint32Array): Promise<void> {
    const state = this.#state;
    if (state.kind !== "aligning" || state.caller !== caller) throw new TandemError("PROTOCOL_STATE", "the alignment was given up");
    const { job, data } = state;
    await this.#ownData(async () => {
      const folder = await this.#jobFolder(job);
      const columns = [Array.from(rows, (row) => data.table.ids[row]), Array.from(rows, (row) => String(data.fileRows[row]))];
      await writeCsv(join(folder, "aligned.csv"), ["id", "row"], columns, { mode: 0o600 });
    });
    this.#state = { kind: "aligned", caller, job, rows, data };
    this.#emit({ type: "aligned", party: this.#config.name, job, peer: caller.name, commonCount: rows.length });
  }

  alignmentFailed(caller: Caller, error: unknown): void {
    if (this.#state.kind !== "aligning" || this.#state.caller !== caller) return;
    this.#state.alignment.close();
    this.#state = idle;
    this.#refused(caller, error);
  }

  async openJob(hello: ActiveHello, caller: Caller): Promise<PassiveService> {
    const before = this.#state;
    return this.#opening(caller, async () => {
      const agreed = agreedByPolicy(hello, this.#config.policy, this.#config.name);
      const { job } = agreed;
      await this.#refuseFinished(job);
      const rows = await this.#jobRows(hello, job, before.kind === "aligned" && before.caller === caller ? before : null);
      const folder = await this.#ownData(() => this.#jobFolder(job));
      const { service, report } = openPassiveJob({ config: this.#config, agreed, rows, folder, peer: caller.name, emit: this.#emit });
      const state: State = { kind: "running", caller, job, service };
      this.#state = state;
      void this.#untilEnded(state, report);
      return service;
    });
  }

  async #untilEnded(state: Extract<State, { kind: "running" }>, report: (end: PassiveEnd) => void): Promise<void> {
    const end = await state.service.ended;
    if (this.#state === state) this.#state = idle;
    report(end);
    this.#onJobEnded(end);
  }

  job(caller: Caller): PassiveService {
    if (this.#state.kind === "running" && this.#state.caller === caller) return this.#state.service;
    throw new TandemError("PROTOCOL_STATE", `${this.#config.name} has no job under way on this connection`);
  }

  jobRefused(caller: Caller, error: unknown): void {
    if (this.#state.kind !== "running" || this.#state.caller !== caller) return;
    this.#state = idle;
    this.#refused(caller, error);
  }

  /** One thing at a time; the caller's own earlier alignment gives way. */
  async #opening<T>(caller: Caller, open: () => Promise<T>): Promise<T> {
    try {
      const own = this.#state.kind !== "idle" && this.#state.caller === caller && (this.#state.kind === "aligning" || this.#state.kind === "aligned");
      if (this.#state.kind !== "idle" && !own) throw new TandemError("PARTY_BUSY", `${this.#config.name} serves another job at the moment; try again later`);
      if (this.#state.kind === "aligning") this.#state.alignment.close();
      const opening: State = { kind: "opening", caller };
      this.#state = opening;
      caller.gone.addEventListener("abort", () => this.#callerGone(caller), { once: true });
      try {
        return await open();
      } finally {
        if (this.#state === opening) this.#state = idle; // it was refused
        if (caller.gone.aborted) this.#callerGone(caller);
      }
    } catch (error) {
      this.#refused(caller, error);
      throw error;
    }
  }

  #callerGone(caller: Caller): void {
    const state = this.#state;
    if (state.kind === "aligning" && state.caller === caller) this.alignmentFailed(caller, new TandemError("PARTY_LOST", "the active party is gone: its connection closed during the alignment"));
    // An alignment alone ends like this, well.
    if (state.kind === "aligned" && state.caller === caller) this.#state = idle;
  }

  /** @throws TandemError ID_MISMATCH if this party's rows cannot be the ones that are meant */
  async #jobRows(hello: ActiveHello, job: string, aligned: Extract<State, { kind: "aligned" }> | null): Promise<JobRows> {
    const { name } = this.#config;
    const training = hello.trainingRows;
    if (hello.aligned) {
      if (aligned === null || aligned.job !== job) throw new TandemError("PROTOCOL_STATE", `${name}: job ${job} was not aligned on this connection`);
      const all = selectRows(aligned.data.table, aligned.rows);
      return { training: selectRows(all, trainingRows(training, all.ids.length, name)), validation: hello.validationRows, predictable: all };
    }
    const { table } = await this.#ownData(() => this.#data.table());
    const test = await this.#ownData(() => this.#data.testTable());
    return { training: selectRows(table, trainingRows(training, table.ids.length, name)), validation: hello.validationRows, predictable: test?.table ?? table };
  }

  /** A model that was trained once is not overwritten by whoever uses its name again. */
  async #refuseFinished(job: string): Promise<void> {
    const exists = await access(join(this.#config.output.directory, job, "share.json")).then(() => true, () => false);
    if (exists) throw new TandemError("HANDSHAKE_MISMATCH", `job: ${this.#config.name} has finished a job named ${peerText(job)} already; choose another name`);
  }

  async #jobFolder(job: string): Promise<string> {
    const folder = join(this.#config.output.directory, job);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw new TandemError("FILE_UNWRITABLE", `${folder} cannot be made`, { cause });
    }
    return folder;
  }

  #ownData<T>(work: () => Promise<T>): Promise<T> {
    return withOwnFiles(this.#config.name, this.#emit, work);
  }

  #refused(caller: Caller, error: unknown): void {
    const known = error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
    this.#emit({ type: "refused", party: this.#config.name, peer: caller.name, code: known.code, message: known.message });
  }
}

/** In the order in which the active party applies them. */
function knownNormalisations({ normalisations }: ActiveAlignmentOffer, name: string): Normalisation[] {
  return normalisations.map((given) => {
    const known = normalisationNames.find((candidate) => candidate === given);
    if (known === undefined) throw new TandemError("HANDSHAKE_MISMATCH", `normalise: the active party names one that ${name} does not know`);
    return known;
  });
}

function trainingRows(bitmap: Uint8Array, rowCount: number, name: string): Uint32Array {
  const all = Uint32Array.from({ length: rowCount }, (_, row) => row);
  if (bitmap.length === 0) return all;
  try {
    checkBitmap(bitmap, rowCount);
  } catch (cause) {
    throw new TandemError("ID_MISMATCH", `${name} does not hold the same ids in the same order as the active party; align the data first`, { cause });
  }
  return all.filter((row) => isSet(bitmap, row));
}
