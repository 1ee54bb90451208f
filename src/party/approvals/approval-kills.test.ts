/**
 * A party, or a person's command, that is killed at any durable write of requests, decisions and uses, before the write
 * or after it: no approval is used twice, and nothing that was confirmed is forgotten.
 */
import { expect, test } from "vitest";
import { MemoryDisk } from "../../../test/support/memory-disk.ts";
import { Killed, mortal } from "../../../test/support/mortal-disk.ts";
import type { Storage } from "../../base/files/storage.ts";
import { TandemError } from "../../base/error.ts";
import { readRequests, type RequestTerms } from "../../store/request-file.ts";
import { Approvals } from "./approvals.ts";
import { RequestDecisions } from "./request-decisions.ts";
import { alignmentsMax } from "./standing.ts";

const terms: RequestTerms = {
  partner: "bank",
  work: "training",
  job: "spring",
  purpose: "",
  rows: 10,
  aligned: true,
  normalisations: [],
  validationFile: false,
  parameters: { numRound: 3 },
  columns: "c".repeat(64),
};
const person = { who: "alice", via: "command" } as const;
const described = async () => ({ summary: "", reveals: [], figures: [] });
const brought = { rows: 10, parameters: terms.parameters };
const use = (id: string) => ({ id, rows: "d".repeat(64) });

function partyOn(storage: Storage): Approvals {
  return new Approvals({
    party: "shop",
    directory: "jobs",
    storage,
    ownFiles: (work) => work(),
    now: () => 1000,
    alarm: () => () => {},
    days: 7,
    emit: () => {},
  });
}

function deskOn(storage: Storage): RequestDecisions {
  const lock = async () => async () => {};
  return new RequestDecisions({
    party: "shop",
    directory: "jobs",
    config: "e".repeat(64),
    days: 7,
    storage,
    now: () => 1000,
    lock,
  });
}

/** What was confirmed to anyone. */
interface Confirmed {
  request: string;
  isApproved: boolean;
  alignments: number;
  readonly jobs: Set<string>;
}

/** A bank whose process was stopped before it noted its job: each time it comes with a new one. */
async function run(storage: Storage, confirmed: Confirmed, job: string): Promise<void> {
  const party = partyOn(storage);
  const { id } = await party.ask(terms, "", described);
  if (confirmed.jobs.size > 0) return; // its approval is used: this is a new request
  confirmed.request = id;
  if (party.standing({ id, job: "" }).kind === "waiting") await deskOn(storage).approve(id, person);
  confirmed.isApproved = true;
  for (let i = 0; i < 2; i++) {
    await party.alignmentBegins("bank", "spring");
    confirmed.alignments++;
  }
  await party.jobBegins("bank", "spring", brought, use(job));
  confirmed.jobs.add(job);
}

test("no kill at a write lets an approval be used twice, or forgets what was confirmed", async () => {
  let kills = 0;
  for (const when of ["before", "after"] as const) {
    for (let first = 0; first < 7; first++) {
      for (let second = 0; second < 5; second++) {
        const files = new MemoryDisk();
        const confirmed: Confirmed = { request: "", isApproved: false, alignments: 0, jobs: new Set() };
        for (const [attempt, limit] of [first, second, Infinity].entries()) {
          const disk = mortal(files, (write) => (write === limit ? when : null));
          await run(disk, confirmed, `0${attempt}`).catch((error: unknown) => {
            if (error instanceof Killed) kills++;
            else if (!(error instanceof TandemError) || error.code !== "POLICY") throw error;
          });
          const [known] = (await deskOn(files.storage()).list()).filter(({ id }) => id === confirmed.request);
          if (confirmed.request !== "") expect(known).toBeDefined();
          if (confirmed.isApproved) expect(await deskOn(files.storage()).actions()).not.toEqual([]);
        }
        const approvals = (await deskOn(files.storage()).actions()).length;
        const uses = (await readRequests("jobs", files.storage())).flatMap((request) => request.uses);
        expect(new Set(uses.map(({ approval }) => approval)).size, "one use of each").toBe(uses.length);
        expect(uses.length).toBeLessThanOrEqual(approvals);
        expect(confirmed.alignments).toBeLessThanOrEqual(uses.reduce((sum, { alignments }) => sum + alignments, 0));
        expect(Math.max(0, ...uses.map(({ alignments }) => alignments))).toBeLessThanOrEqual(alignmentsMax);
        const after = partyOn(files.storage());
        const [begun] = confirmed.jobs;
        if (begun !== undefined) {
          await after.ask(terms, begun, described);
          await after.jobBegins("bank", "spring", brought, use(begun));
        }
        await after.ask(terms, "", described);
        if (approvals === confirmed.jobs.size)
          await expect(after.jobBegins("bank", "spring", brought, use("ff"))).rejects.toThrow(/waits for approval/);
      }
    }
  }
  expect(kills).toBeGreaterThan(60);
});
