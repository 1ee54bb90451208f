/** The quota of unfinished jobs: what counts, and that a hostile partner gets no further. */
import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { MemoryDisk } from "../../../test/support/memory-disk.ts";
import type { PartyEvent } from "../../record/events.ts";
import { writeAlignment, writePassiveJob } from "../../store/passive-checkpoint.ts";
import type { PassiveConfig } from "../config/config.ts";
import { PassiveFiles } from "./passive-files.ts";
import { refuseUnfinished, unfinishedOf } from "./unfinished-jobs.ts";

const megabyte = 1 << 20;

function disk(limits: { jobs: number; megabytes: number }) {
  const files = new MemoryDisk();
  const storage = files.storage();
  const events: PartyEvent[] = [];
  const policy = { max_unfinished_jobs: limits.jobs, max_unfinished_megabytes: limits.megabytes };
  const config = { name: "shop", policy, output: { directory: "jobs" }, data: {} } as unknown as PassiveConfig;
  const passive = new PassiveFiles(config, storage, (event) => void events.push(event));
  const job = (name: string, active = "bank"): Promise<void> =>
    writePassiveJob(
      `jobs/${name}`,
      {
        active,
        jobId: "aa",
        agreed: { job: name },
        instances: 2,
        idsDigest: "01",
        aligned: false,
        training: "",
        validation: "",
        data: "02",
        sampling: "s",
        start: [],
        secret: "AA==",
      },
      storage,
    );
  const align = (name: string, active = "bank"): Promise<void> =>
    writeAlignment(`jobs/${name}`, { active, rows: Uint32Array.of(1), data: "02" }, storage);
  return { files, storage, events, passive, job, align };
}

test("jobs and alignments without a share count, of this partner only, with all of their files", async () => {
  const { files, storage, job, align } = disk({ jobs: 9, megabytes: 9 });
  await job("a");
  await align("b");
  await job("rival", "rival");
  await job("finished");
  files.put("jobs/finished/share.json", "{}");
  await job("asked");
  files.put("jobs/.partners/x.json", "{}");
  files.put("jobs/notes.txt", "not a job");
  files.put("jobs/other/notes.txt", "not a job either");
  files.put("jobs/damaged/job.json", "{");
  const before = await unfinishedOf("jobs", "bank", "asked", storage);
  expect(before.jobs).toBe(2);
  files.put("jobs/a/round/0/answers-0.jsonl", new Uint8Array(1000));
  files.put("jobs/b/events.jsonl", new Uint8Array(10));
  expect(await unfinishedOf("jobs", "bank", "asked", storage)).toEqual({ jobs: 2, bytes: before.bytes + 1010 });
});

test("a partner that begins job after job is refused at the limit; stored jobs may be resumed", async () => {
  const { events, passive, job } = disk({ jobs: 3, megabytes: 100 });
  for (const name of ["a", "b", "c"]) {
    await refuseUnfinished(passive, "bank", name);
    await job(name);
  }
  await expectError(
    () => refuseUnfinished(passive, "bank", "d"),
    "POLICY",
    /max_unfinished_jobs: 3 of this partner are stored, at most 3 allowed. Finish the earlier jobs/,
  );
  expect(events).toEqual([
    expect.objectContaining({
      type: "alarm",
      peer: "bank",
      words: expect.stringContaining("Remove folders") as string,
    }),
  ]);
  for (const name of ["a", "b", "c"]) await refuseUnfinished(passive, "bank", name);
  await refuseUnfinished(passive, "insurer", "d");
});

test("the bytes of unfinished jobs are limited too", async () => {
  const { files, passive, job } = disk({ jobs: 100, megabytes: 2 });
  await job("a");
  files.put("jobs/a/aligned.csv", new Uint8Array(2 * megabyte));
  await expectError(
    () => refuseUnfinished(passive, "bank", "b"),
    "POLICY",
    /max_unfinished_megabytes: its unfinished jobs use 2, at most 2 allowed/,
  );
  await refuseUnfinished(passive, "bank", "a");
  files.remove("jobs/a/aligned.csv");
  await refuseUnfinished(passive, "bank", "b");
});
