/**
 * What a passive party does for each job that has a place in its queue: one activity per connection, and one per job. A
 * newer connection of the same active party for the same job replaces an older one, which may be dead undetected. A
 * refusal is sent to the caller and logged, and changes nothing.
 */
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { Emit } from "../../record/events.ts";
import type { Caller } from "../../transport/caller.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { JobQueue, QueuedJob } from "../queue/job-queue.ts";
import { type AdmissionState, giveWay, idle } from "./admission-state.ts";

type Activity = Exclude<AdmissionState, { kind: "idle" }>;

export interface ActivitiesOptions {
  readonly party: string;
  readonly queue: JobQueue;
  readonly emit: Emit;
  /** The connection of an alignment has closed. */
  readonly onAlignmentLost: (caller: Caller) => void;
}

export class Activities {
  readonly #options: ActivitiesOptions;
  readonly #states = new Map<QueuedJob, Activity>();
  /** Serialises opening and storing. */
  readonly #turns = new Exclusive();
  readonly #watched = new WeakSet<Caller>();
  /** Connections whose job was ended because they called nothing while others waited. */
  readonly #endedIdle = new WeakSet<Caller>();

  constructor(options: ActivitiesOptions) {
    this.#options = options;
  }

  /** Runs work on its own: nothing is opened or stored meanwhile. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(work);
  }

  /**
   * One activity per connection, and one per job: the caller's own earlier alignment is replaced, and so is an older
   * connection for the same job.
   */
  async opening<T>(
    caller: Caller,
    job: string,
    open: (before: AdmissionState, place: QueuedJob) => Promise<T>,
  ): Promise<T> {
    const { queue } = this.#options;
    try {
      return await this.inTurn(async () => {
        this.#refuseOthers(caller, job);
        if (caller.gone.aborted) throw new TandemError("PARTY_LOST", "the active party is gone: its connection closed");
        const place = queue.take({ partner: caller.name, job, bytes: 0, holder: caller });
        const before = this.#states.get(place) ?? idle;
        if (before.kind === "running" && before.caller === caller) return open(before, place);
        await giveWay(before);
        const opening: AdmissionState = { kind: "opening", caller, job };
        this.begin(place, opening);
        this.watch(caller);
        try {
          return await open(before, place);
        } finally {
          if (this.isCurrent(place, opening)) this.end(place); // it was refused
          if (caller.gone.aborted) this.callerGone(caller);
        }
      });
    } catch (error) {
      this.refused(caller, error);
      throw error;
    }
  }

  /** @throws TandemError PARTY_BUSY if this connection has another job, HANDSHAKE_MISMATCH if another party has one */
  #refuseOthers(caller: Caller, job: string): void {
    const { party } = this.#options;
    for (const [place, state] of this.#states) {
      if (state.job === job && state.caller.name === caller.name) continue;
      if (state.job === job)
        throw new TandemError(
          "HANDSHAKE_MISMATCH",
          `job: ${party} has a job named ${peerText(job)} with another active party; choose another name`,
        );
      if (state.caller !== caller) continue;
      if (state.kind === "opening" || state.kind === "running")
        throw new TandemError("PARTY_BUSY", `${party} serves another job on this connection; try again later`);
      if (state.kind === "aligning") state.alignment.close();
      this.end(place);
    }
  }

  /** Replaces what was done for the job. */
  begin(place: QueuedJob, state: Activity): void {
    this.#states.set(place, state);
  }

  /** Whether nothing has replaced or ended it. */
  isCurrent(place: QueuedJob, state: Activity): boolean {
    return this.#states.get(place) === state;
  }

  /** The job gives back its place. */
  end(place: QueuedJob): void {
    this.#states.delete(place);
    this.#options.queue.over(place);
  }

  /** The connection was lost: the place is kept for a while. @param trees that the job has stored */
  lose(place: QueuedJob, caller: Caller, trees?: number): void {
    this.#states.delete(place);
    this.#options.queue.left(place, caller, trees);
  }

  find<Kind extends Activity["kind"]>(
    caller: Caller,
    kind: Kind,
  ): [QueuedJob, Extract<Activity, { kind: Kind }>] | null {
    for (const [place, state] of this.#states)
      if (state.kind === kind && state.caller === caller) return [place, state as Extract<Activity, { kind: Kind }>];
    return null;
  }

  /** Names of the partner's jobs that something is done for. */
  jobsOf({ name }: Caller): string[] {
    return [...this.#states.values()].filter(({ caller }) => caller.name === name).map(({ job }) => job);
  }

  /** Once per connection, however many calls it makes. */
  watch(caller: Caller): void {
    if (this.#watched.has(caller)) return;
    this.#watched.add(caller);
    caller.gone.addEventListener("abort", () => this.callerGone(caller), { once: true });
  }

  callerGone(caller: Caller): void {
    this.#options.onAlignmentLost(caller);
    for (const place of this.#options.queue.jobs) {
      const state = this.#states.get(place);
      if (place.holder !== caller || state?.kind === "running" || state?.kind === "opening") continue;
      // Also the normal end of an alignment without a job.
      if (state?.kind === "aligned") this.end(place);
      else this.lose(place, caller);
    }
  }

  isWorking(place: QueuedJob): boolean {
    const state = this.#states.get(place);
    return state?.kind === "running"
      ? state.service.isWorking
      : state?.kind === "aligning" || state?.kind === "opening";
  }

  endIdle(place: QueuedJob): void {
    const state = this.#states.get(place);
    if (state !== undefined) this.#endedIdle.add(state.caller);
    if (state?.kind === "running") return state.service.end(idleTooLong());
    this.end(place);
  }

  /** @throws TandemError PARTY_LOST for a connection whose job was ended as idle */
  refuseIdle(caller: Caller): void {
    if (this.#endedIdle.has(caller)) throw idleTooLong();
  }

  refused(caller: Caller, error: unknown): void {
    const { party, emit } = this.#options;
    const { code, message } = knownError(error);
    emit({ type: "refused", party, peer: caller.name, code, message });
  }
}

export function knownError(error: unknown): TandemError {
  return error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
}

function idleTooLong(): TandemError {
  return new TandemError("PARTY_LOST", "the active party called nothing for a long time, and other jobs wait");
}
