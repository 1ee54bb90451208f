/** The records of a passive party: each event is written to the record of its job. */
import { join } from "node:path";
import { jobSyntax } from "../base/job-name.ts";
import { appendOwn } from "./append-own.ts";
import { type Emit, type EventOf, type PartyEvent, eventUses } from "./events.ts";
import { JobRecord } from "./job-record.ts";
import type { OwnLine } from "./own-lines.ts";

/** The last events of an attempt: the next one opens the record again. */
const endings: ReadonlySet<PartyEvent["type"]> = new Set(["job-ended", "alignment-failed"]);

interface OpenRecord {
  readonly record: JobRecord;
  /** The job's active party. */
  readonly peer: string;
}

export class RecordKeeper {
  readonly #directory: string;
  readonly #emit: Emit;
  /** Of the jobs under way, by name. */
  readonly #open = new Map<string, OpenRecord>();

  /** @param directory the party's output directory, which has a folder per job */
  constructor(directory: string, emit: Emit) {
    this.#directory = directory;
    this.#emit = emit;
  }

  readonly emit: Emit = (event) => {
    if (isOfJob(event)) {
      if (event.job === undefined) this.#addToAll(event);
      else this.#recordOf(event.job, event).event(event);
    }
    if (event.job !== undefined && endings.has(event.type)) this.#closeJob(event.job);
    if (event.type === "scored" || event.type === "explained") this.#noteRevealed(event);
    this.#emit(event);
  };

  own(job: string, line: OwnLine): void {
    this.#open.get(job)?.record.own(line);
  }

  close(): void {
    for (const job of this.#open.keys()) this.#closeJob(job);
  }

  /** An event about the party, or about one of its partners. */
  #addToAll(event: PartyEvent): void {
    for (const { record, peer } of this.#open.values())
      if (!("peer" in event) || event.peer === peer) record.event(event);
  }

  /** In the record of the job that trained the model. */
  #noteRevealed(event: EventOf<"scored" | "explained">): void {
    const { job, peer: active, party: passive } = event;
    if (!jobSyntax.test(job)) return;
    const fact =
      event.type === "scored"
        ? ({ how: "scoring", ids: event.idCount } as const)
        : ({ how: "tags", splits: event.splitCount } as const);
    appendOwn(join(this.#directory, job), { kind: "revealed", at: Date.now(), active, passive, ...fact });
  }

  #closeJob(job: string): void {
    this.#open.get(job)?.record.close();
    this.#open.delete(job);
  }

  #recordOf(job: string, event: PartyEvent): JobRecord {
    const known = this.#open.get(job);
    if (known !== undefined) return known.record;
    const record = new JobRecord(join(this.#directory, job));
    this.#open.set(job, { record, peer: peerOf(event) });
    return record;
  }
}

/** The first event of an alignment or a job names the active party. */
function peerOf(event: PartyEvent): string {
  if (event.type === "job") return event.peers[0] ?? "";
  return "peer" in event ? event.peer : "";
}

/** Refused connections, and scoring during a job, are not part of a job's record. */
export function isOfJob({ type }: PartyEvent): boolean {
  return eventUses(type)?.isOfJob ?? true;
}
