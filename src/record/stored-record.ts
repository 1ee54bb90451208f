/**
 * Reads the record of a job (record/job-record.ts) from its folder. Lines are checked for the fields that views need;
 * further fields of later versions are ignored.
 */
import { dirname, join } from "node:path";
import { TandemError } from "../base/error.ts";
import { JsonLinesReader } from "../base/files/json-lines.ts";
import { isStampedEvent, type StampedEvent } from "./events.ts";
import { jobView } from "./fold-events.ts";
import { stateNow } from "./interrupted-jobs.ts";
import { eventsFileName, ownFileName } from "./job-record.ts";
import type { JobView } from "./job-view.ts";
import { addOwn, isOwnLine, type OwnLine } from "./own-lines.ts";
import { emptyOwn, type OwnJobView } from "./own-view.ts";
import { vettingsFileName } from "./vetting-log.ts";

/** Reads a job's record incrementally while it grows. */
export class RecordReader {
  readonly #events: JsonLinesReader;
  readonly #own: JsonLinesReader;
  /** Of the party, beside the folders of its jobs: vettings come before and after a job. */
  readonly #vettings: JsonLinesReader;

  constructor(folder: string) {
    this.#events = new JsonLinesReader(join(folder, eventsFileName));
    this.#own = new JsonLinesReader(join(folder, ownFileName));
    this.#vettings = new JsonLinesReader(join(dirname(folder), vettingsFileName));
  }

  async next(): Promise<{ readonly events: StampedEvent[]; readonly own: OwnLine[] }> {
    const [events, own, vettings] = await Promise.all([this.#events.next(), this.#own.next(), this.#vettings.next()]);
    return { events: events.filter(isStampedEvent), own: [...own, ...vettings].filter(isOwnLine) };
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
