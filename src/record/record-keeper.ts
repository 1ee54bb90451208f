/** The records of a passive party: each event is written to the record of its job. */
import { join } from "node:path";
import { type Emit, type PartyEvent, eventUses } from "./events.ts";
import { JobRecord } from "./job-record.ts";
import type { OwnLine } from "./own-lines.ts";

export class RecordKeeper {
  readonly #directory: string;
  readonly #emit: Emit;
  #current: { readonly job: string; readonly record: JobRecord } | null = null;

  /** @param directory the party's output directory, which has a folder per job */
  constructor(directory: string, emit: Emit) {
    this.#directory = directory;
    this.#emit = emit;
  }

  readonly emit: Emit = (event) => {
    if (isOfJob(event)) {
      if ("job" in event && event.job !== undefined) this.#take(event.job);
      this.#current?.record.event(event);
    }
    if (event.type === "job-ended") this.close();
    this.#emit(event);
  };

  own(line: OwnLine): void {
    this.#current?.record.own(line);
  }

  close(): void {
    this.#current?.record.close();
    this.#current = null;
  }

  #take(job: string): void {
    if (this.#current?.job === job) return;
    this.close();
    this.#current = { job, record: new JobRecord(join(this.#directory, job)) };
  }
}

/** Refused connections, and scoring during a job, are not part of a job's record. */
export function isOfJob({ type }: PartyEvent): boolean {
  return eventUses(type)?.isOfJob ?? true;
}
