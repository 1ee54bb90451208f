import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lockFolder } from "../base/files/process-lock.ts";
import type { PartyEvent } from "./events.ts";
import { markInterrupted, stateNow } from "./interrupted-jobs.ts";
import { eventsFileName, JobRecord } from "./job-record.ts";
import { emptyJobView, type JobView } from "./job-view.ts";
import { readRecord } from "./stored-record.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-interrupted-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const who = { party: "shop", peer: "bank" };
const begun = (job: string): PartyEvent => ({ type: "aligning", ...who, job, ownIdCount: 3, peerIdCount: 4 });
const stateOf = async (job: string): Promise<string> => (await readRecord(join(root, job))).view.state;

function record(job: string, ...events: readonly PartyEvent[]): string {
  const kept = new JobRecord(join(root, job), () => 1000);
  for (const event of events) kept.event(event);
  kept.close();
  return join(root, job);
}

test("a job is under way while a process holds the lock of its folder or directory, or has just written", async () => {
  const folder = record("held", begun("held"));
  const view: JobView = { ...emptyJobView(), state: "training", lastAt: 1000 };
  expect(await stateNow(folder, view)).toBe("interrupted");
  expect(await stateNow(folder, view, 5000)).toBe("training");
  for (const locked of [folder, root]) {
    const release = await lockFolder(locked);
    expect(await stateNow(folder, view)).toBe("training");
    await release();
  }
  for (const state of ["finished", "failed", "aligned"] as const)
    expect(await stateNow(folder, { ...view, state })).toBe(state);
});

test("the next process marks interrupted jobs once, and no job that has ended", async () => {
  const aligned: PartyEvent = { type: "aligned", party: "shop", job: "aligned", commonCount: 2 };
  const failed: PartyEvent = { type: "alignment-failed", ...who, job: "failed", code: "PARTY_LOST", message: "gone" };
  record("aligned", begun("aligned"), aligned);
  record("failed", begun("failed"), failed);
  record("ended", begun("ended"), { type: "job-ended", ...who, job: "ended", failure: null });
  const left = record("left", begun("left"));
  appendFileSync(join(left, eventsFileName), '{"type":"tor');
  for (let start = 0; start < 2; start++) await markInterrupted(root, "shop");
  const states = await Promise.all(["aligned", "failed", "ended", "left"].map(stateOf));
  expect(states).toEqual(["aligned", "failed", "finished", "interrupted"]);
  // With a new attempt the job is under way again.
  const release = await lockFolder(root);
  record("left", begun("left"));
  expect(await stateOf("left")).toBe("aligning");
  await release();
});
