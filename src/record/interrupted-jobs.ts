/**
 * Jobs whose process ended in the middle, as when it was killed. Nothing in their records says so: the next process of
 * the party adds it, and until then a reader finds that no process holds the folder.
 */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { LineTail } from "../base/files/json-lines.ts";
import { isLocked } from "../base/files/process-lock.ts";
import type { PartyEvent } from "./events.ts";
import { eventsFileName, JobRecord } from "./job-record.ts";
import { isUnderWay, type JobState, type JobView } from "./job-view.ts";
import { listRecords } from "./record-folders.ts";

/** The last events of jobs that are not under way. */
const endings: ReadonlySet<string> = new Set<PartyEvent["type"]>([
  "active-result",
  "job-ended",
  "error",
  "aligned",
  "alignment-failed",
  "interrupted",
]);

/** A record's last line is looked for in so much of its end. */
const tailBytes = 64 << 10;

/**
 * Of a process on another machine the lock is not seen. While its job trains, it adds to the record every few seconds.
 */
const quietMsMax = 10_000;

/** Whether a job is still under way, whatever its record says last. */
export async function stateNow(folder: string, { state, lastAt }: JobView, now = Date.now()): Promise<JobState> {
  if (!isUnderWay(state) || now - lastAt < quietMsMax) return state;
  // An active party holds the job's folder, a passive one the folder of all its jobs.
  return (await isLocked(folder)) || (await isLocked(dirname(folder))) ? state : "interrupted";
}

/** At the start of a passive party's process, which holds the directory. */
export async function markInterrupted(directory: string, party: string): Promise<void> {
  for (const { job } of await listRecords(directory)) {
    const last = lastEventType(join(directory, job, eventsFileName));
    if (last === null || endings.has(last)) continue;
    const record = new JobRecord(join(directory, job));
    record.event({ type: "interrupted", party, job });
    record.close();
  }
}

/** Null where there is none. */
function lastEventType(path: string): string | null {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const lines = new LineTail(path, Math.max(0, size - tailBytes)).next();
  for (const line of lines.toReversed()) {
    try {
      const { type } = JSON.parse(line) as { readonly type?: unknown };
      if (typeof type === "string") return type;
    } catch {
      // torn when its process died
    }
  }
  return null;
}
