/**
 * The record of a past job, as record/job-record.ts left it in the job's folder. Lines are checked for the little that
 * reading them needs; what a line of a later version says more is passed on or over by the views.
 */
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { JsonLinesReader } from "../base/files/json-lines.ts";
import { isStampedEvent, type StampedEvent } from "./events.ts";
import { jobView } from "./fold-events.ts";
import { stateNow } from "./interrupted-jobs.ts";
import { eventsFileName, ownFileName } from "./job-record.ts";
import type { JobView } from "./job-view.ts";
import { addOwn, isOwnLine, type OwnLine } from "./own-lines.ts";
import { emptyOwn, type OwnJobView } from "./own-view.ts";

/** Reads a job's record, again and again while it grows. */
export class RecordReader {
  readonly #events: JsonLinesReader;
  readonly #own: JsonLinesReader;

  constructor(folder: string) {
    this.#events = new JsonLinesReader(join(folder, eventsFileName));
    this.#own = new JsonLinesReader(join(folder, ownFileName));
  }

  async next(): Promise<{ readonly events: StampedEvent[]; readonly own: OwnLine[] }> {
    const [events, own] = await Promise.all([this.#events.next(), this.#own.next()]);
    return { events: events.filter(isStampedEvent), own: own.filter(isOwnLine) };
  }
}

export interface JobViews {
  readonly view: JobView;
  readonly own: OwnJobView;
}

/** @throws TandemError FILE_UNREADABLE if the folder has no record */
export async function readRecord(folder: string): Promise<JobViews> {
  const { events, own } = await new RecordReader(folder).next();
  if (events.length === 0)
    throw new TandemError(
      "FILE_UNREADABLE",
      `${folder} has no record of a job (${eventsFileName}); give the folder of a job`,
    );
  const view = jobView(events);
  view.state = await stateNow(folder, view);
  const ownView = emptyOwn();
  for (const line of own) addOwn(ownView, line, [view.party, ...view.peers]);
  return { view, own: ownView };
}
