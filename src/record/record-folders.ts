/** The job folders in a party's output directory that have a record (record/job-record.ts). */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { jobSyntax } from "../base/job-name.ts";
import { eventsFileName } from "./job-record.ts";

/** A job with a record on disk. */
export interface RecordFolder {
  readonly job: string;
  readonly changedAt: number;
}

/** The latest first. */
export async function listRecords(directory: string): Promise<RecordFolder[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory() && jobSyntax.test(entry.name));
  const found = await Promise.all(
    folders.map(async ({ name }) => {
      const file = await stat(join(directory, name, eventsFileName)).catch(() => null);
      return file === null ? [] : [{ job: name, changedAt: file.mtimeMs }];
    }),
  );
  return found.flat().sort((a, b) => b.changedAt - a.changedAt || b.job.localeCompare(a.job));
}
