/** The queue of a passive party's jobs, by its policy: what a request must bring, and what is reported of it. */
import { TandemError } from "../../base/error.ts";
import type { Emit } from "../../record/events.ts";
import type { RequestedJob } from "../../transport/admission-service.ts";
import type { Caller } from "../../transport/caller.ts";
import type { AgreedParameters } from "../../protocol/job-parameters.ts";
import type { ActiveRequest } from "../../wire/generated/tandem/v1/admission_pb.ts";
import { requireActiveVersion } from "../../wire/version.ts";
import type { PassiveConfig } from "../config/config.ts";
import { agreedByPolicy, checkJobName } from "../policy.ts";
import { alignmentBytes, jobBytes, type JobRowsAndColumns, usualJobBytesMax } from "../queue/job-memory.ts";
import { JobQueue, type QueuedJob, type QueueOptions } from "../queue/job-queue.ts";

/** Jobs at once where the policy does not say, and with workers, which hold the rows of one job. */
const usualJobsMax = 2;
const crewJobsMax = 1;
const megabyte = 1 << 20;

export interface PlacesOptions extends Pick<QueueOptions, "now" | "alarm" | "isWorking" | "onIdle"> {
  readonly config: PassiveConfig;
  /** Workers hold the rows. */
  readonly hasCrew: boolean;
  /** This party's table. */
  readonly table: () => JobRowsAndColumns;
  readonly emit: Emit;
  readonly onChange: () => void;
}

export class JobPlaces {
  readonly queue: JobQueue;
  readonly #options: PlacesOptions;
  readonly #bytesMax: number;
  #reported = "";

  constructor(options: PlacesOptions) {
    const { config, hasCrew, now, alarm, isWorking, onIdle } = options;
    const { max_jobs: jobs, max_jobs_megabytes: given } = config.policy;
    this.#options = options;
    this.#bytesMax = given === undefined ? usualJobBytesMax() : given * megabyte;
    this.queue = new JobQueue({
      party: config.name,
      jobsMax: jobs ?? (hasCrew ? crewJobsMax : usualJobsMax),
      bytesMax: this.#bytesMax,
      partners: config.active.length,
      now,
      alarm,
      ...(isWorking && { isWorking }),
      ...(onIdle && { onIdle }),
      onChange: () => this.#report(),
    });
  }

  /** @returns the agreed parameters; null for an alignment alone. @throws TandemError if the policy refuses it */
  check(request: ActiveRequest): AgreedParameters | null {
    const { config } = this.#options;
    requireActiveVersion(request.protocolVersion, config.name);
    checkJobName(request.parameters?.job ?? "", config.name);
    if (request.alignmentOnly) return null;
    return agreedByPolicy(asHello(request), config.policy, config.name, config.experiment);
  }

  /** @throws TandemError if the job never fits, or too many wait */
  enter({ parameters, rowCount }: ActiveRequest, agreed: AgreedParameters | null, caller: Caller): RequestedJob {
    const job = parameters?.job ?? "";
    const bytes = agreed === null ? this.alignmentBytes() : this.jobBytes(agreed, rowCount);
    const queued = this.queue.enter({ partner: caller.name, job, bytes, holder: caller });
    this.#noteWaiting(queued);
    return {
      changed: () => this.queue.changed,
      where: () => {
        const place = this.queue.placeOf(queued);
        if (place === null || (queued.holder !== caller && queued.holder !== null))
          throw new TandemError("PARTY_LOST", "the job has lost its place: it was requested again elsewhere");
        return { place, waiting: this.queue.occupancy.waiting, request: "" };
      },
    };
  }

  alignmentBytes(): number {
    return this.#bounded(alignmentBytes(this.#options.table()));
  }

  /** @param rowCount of the job's instances at most */
  jobBytes(agreed: AgreedParameters, rowCount: number): number {
    const { table, hasCrew } = this.#options;
    const { rows, features } = table();
    const shape = { rows: Math.min(rows, rowCount), features };
    return this.#bounded(hasCrew ? alignmentBytes(shape) : jobBytes(shape, agreed));
  }

  /** Where the policy states no bound, a job that needs more than the usual one has the machine for itself. */
  #bounded(bytes: number): number {
    const { max_jobs_megabytes: given } = this.#options.config.policy;
    return given === undefined ? Math.min(bytes, this.#bytesMax) : bytes;
  }

  #noteWaiting(queued: QueuedJob): void {
    const place = this.queue.placeOf(queued);
    if (place === null || place === 0) return;
    const { config, emit } = this.#options;
    const { waiting } = this.queue.occupancy;
    emit({ type: "job-waits", party: config.name, peer: queued.partner, job: queued.job, place, waiting });
  }

  #report(): void {
    const { running, waiting, bytes } = this.queue.occupancy;
    const reported = `${running} ${waiting} ${bytes}`;
    if (reported !== this.#reported)
      this.#options.emit({ type: "occupancy", party: this.#options.config.name, running, waiting, bytes });
    this.#reported = reported;
    this.#options.onChange();
  }
}

/** All of its rows: how many of them the parties share is not known yet. */
function asHello({ parameters, rowCount }: ActiveRequest): Parameters<typeof agreedByPolicy>[0] {
  return { parameters, instanceCount: rowCount, validationRows: new Uint8Array(0) };
}
