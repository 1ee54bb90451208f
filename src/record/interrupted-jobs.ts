/**
 * Jobs whose process ended during the job, for example because it was killed. Their records do not show it: the next
 * process of the party adds an event, and until then a reader checks whether a process holds the folder's lock.
 */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { LineTail } from "../base/files/json-lines.ts";
import { isLocked } from "../base/files/process-lock.ts";
import type { PartyEvent } from "./events.ts";
import { eventsFileName, JobRecord } from "./job-record.ts";
import { isUnderWay, type JobState, type JobView } from "./job-view.ts";
import { listRecords } from "./record-folders.ts";

/** The last events of jobs that have ended. */
const endings: ReadonlySet<string> = new Set<PartyEvent["type"]>([
  "active-result",
  "job-ended",
  "error",
  "aligned",
  "alignment-failed",
  "interrupted",
]);

/** How much of a record's end is searched for its last line. */
const tailBytes = 64 << 10;

/**
 * The lock of a process on another machine is not visible. While a job trains, its process adds to the record every few
 * seconds.
 */
const quietMsMax = 10_000;

/** The state of a job: interrupted if its record says it is under way but no process works on it. */
export async function stateNow(folder: string, { state, lastAt }: JobView, now = Date.now()): Promise<JobState> {
  if (!isUnderWay(state) || now - lastAt < quietMsMax) return state;
  // An active party locks the job's folder, a passive one the folder of all its jobs.
  return (await isLocked(folder)) || (await isLocked(dirname(folder))) ? state : "interrupted";
}

/** Called at the start of a passive party's process, which holds the lock of the directory. */
export async function markInterrupted(directory: string, party: string): Promise<void> {
  for (const { job } of await listRecords(directory)) {
    const last = lastEventType(join(directory, job, eventsFileName));
    if (last === null || endings.has(last)) continue;
    const record = new JobRecord(join(directory, job));
    record.event({ type: "interrupted", party, job });
    record.close();
  }
}

/** Null if the record has no events. */
function lastEventType(path: string): string | null {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const lines = new LineTail(path, Math.max(0, size - tailBytes)).next();
  for (const line of lines.toReversed()) {
    try {
      const { type } = JSON.parse(line) as { readonly type?: unknown };
      if (typeof type === "string") return type;
    } catch {
      // a partial line: its process was killed
    }
  }
  return null;
}
