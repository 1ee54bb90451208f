/**
 * The list of a viewer's jobs. Records are read incrementally: a page requests the list every few seconds, also during
 * a job of many hours.
 */
import { join } from "node:path";
import { JsonLinesReader } from "../base/files/json-lines.ts";
import type { Metrics } from "../record/events/training-fields.ts";
import { eventsFileName } from "../record/job-record.ts";
import { stateNow } from "../record/interrupted-jobs.ts";
import { listRecords } from "../record/record-folders.ts";
import { isStampedEvent } from "../record/events.ts";
import { addEvent } from "../record/fold-events.ts";
import { emptyJobView, type JobState, type JobView } from "../record/job-view.ts";

export interface JobListLine {
  readonly job: string;
  readonly state: JobState;
  readonly startedAt: number;
  readonly seconds: number;
  readonly treesDone: number;
  readonly treeCount: number;
  readonly metrics: Metrics;
  /** Whether the metrics are of rows that were not trained on. */
  readonly tested: boolean;
}

interface Followed {
  readonly reader: JsonLinesReader;
  readonly view: JobView;
  changedAt: number;
}

/** The latest jobs; older ones are not listed. */
const jobsMax = 200;

export class JobList {
  readonly #followed = new Map<string, Followed>();

  async of(directory: string): Promise<JobListLine[]> {
    const lines: JobListLine[] = [];
    for (const { job, changedAt } of (await listRecords(directory)).slice(0, jobsMax)) {
      const folder = join(directory, job);
      const view = await this.#view(folder, changedAt);
      if (view.startedAt > 0) lines.push(lineOf(job, view, await stateNow(folder, view)));
    }
    return lines;
  }

  async #view(folder: string, changedAt: number): Promise<JobView> {
    const followed = this.#followed.get(folder) ?? {
      reader: new JsonLinesReader(join(folder, eventsFileName)),
      view: emptyJobView(),
      changedAt: 0,
    };
    this.#followed.set(folder, followed);
    if (followed.changedAt === changedAt) return followed.view;
    followed.changedAt = changedAt;
    for (const event of await followed.reader.next()) if (isStampedEvent(event)) addEvent(followed.view, event);
    return followed.view;
  }
}

function lineOf(job: string, view: JobView, state: JobState): JobListLine {
  const test = view.result?.metrics.test ?? null;
  return {
    job,
    state,
    startedAt: view.startedAt,
    seconds: (view.lastAt - view.startedAt) / 1000,
    treesDone: view.treesDone,
    treeCount: view.treeCount,
    metrics: test ?? view.rounds[view.rounds.length - 1]?.train ?? {},
    tested: test !== null,
  };
}
