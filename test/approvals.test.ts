/**
 * Jobs that a person at the passive party approves: what waits, what begins, what is refused, and that nothing is
 * revealed before. Companies, TLS and the commands are real.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { unfinishedJob } from "../src/party/active/checkpoints.ts";
import { runAlignment } from "../src/party/active/run.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { tandemHere } from "./world/command-here.ts";
import { makePeople, shuffled } from "./world/people.ts";
import type { ActiveChanges, Company, PassiveChanges, ProcessWorld } from "./world/processes.ts";

const worlds = testWorlds();
const people = makePeople(160, "approvals");
let world: ProcessWorld;
let shop: Company;
let expected: string[];
let runs = 0;

beforeAll(async () => {
  world = await worlds.found({
    bank: { people: shuffled(people.slice(0, 140), "bank"), columns: [0, 1] },
    shop: { people: shuffled(people.slice(20), "shop"), columns: [2] },
    telecom: { people: people.slice(10), columns: [3] },
  });
  [shop] = world.shops;
  await world.start(shop, output("plain"));
  await train("spring", "plain");
  expected = outputs("spring", "plain");
});

function output(directory: string, policy: PassiveChanges["policy"] = {}): PassiveChanges {
  return { output: { directory }, policy };
}

const required = { approval: "required" } as const;

function train(job: string, directory: string, changes: ActiveChanges = {}, onEvent?: (event: PartyEvent) => void) {
  const file = `${job}-${directory}-${runs++}.json`;
  return world.train(
    job,
    { ...changes, output: { directory } },
    { passives: [shop], file, ...(onEvent && { onEvent }) },
  );
}

function outputs(job: string, directory: string): string[] {
  const own = (file: string): string => world.read(world.bank, job, file, directory);
  return [own("share.json"), own("predictions.csv"), world.read(shop, job, "share.json", directory)];
}

const config = (company = shop): string => join(company.folder, "passive.json");

async function tandem(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await tandemHere(...args, "-c", config());
  expect([exitCode, stderr]).toEqual([0, ""]);
  return stdout;
}

/** The only request that waits. */
async function waiting(company = shop): Promise<string> {
  const { stdout } = await tandemHere("requests", "--json", "-c", config(company));
  const lines = stdout.trim().split("\n");
  expect(lines).toHaveLength(1);
  return (JSON.parse(lines[0]) as { id: string }).id;
}

test("a job waits for approval, reveals nothing before, and then is the job that it is without", async () => {
  const party = await world.start(shop, output("waits", required));
  const training = train("spring", "waits", { purpose: "limits for <b>new</b> customers" });
  const { request } = await party.seen("request-waits");
  expect(await waiting()).toBe(request);
  const text = await tandem("requests");
  expect(text).toMatch(/^request [0-9a-f]{8} of bank: training, job spring, waiting since/);
  expect(text).toContain("2 trees of depth 3 from up to 140 rows, privacy: exact, a 256-bit Paillier key");
  expect(text).toContain("purpose, in bank's words: limits for <b>new</b> customers");
  expect(text).toContain("- which of the active party's ids the party holds too (up to 140 bits;");
  expect(text).toContain("bank gets up to 0.18 exact sums per person of shop: nearly all of its binned columns");
  expect(text).toContain("Before this request bank has received 0 exact sums per person");
  expect(party.events.map(({ type }) => type)).not.toContain("aligning");
  expect(existsSync(world.path(shop, "spring", "", "waits"))).toBe(false);
  expect(await tandem("approve", request)).toMatch(/^Approved request .* of bank: job spring, to begin before 20/);
  const events = await training;
  expect(outputs("spring", "waits")).toEqual(expected);
  const said = events.filter(({ type }) => type.startsWith("approval") || type === "queued" || type === "aligning");
  expect(said.map(({ type }) => type)).toEqual(["approval-awaited", "approval-given", "aligning"]);
  expect(await tandem("requests")).toBe("No request waits.\n");
  const [line, ...more] = (await tandem("requests", "--log")).trim().split("\n");
  expect(more).toEqual([]);
  expect(JSON.parse(line)).toMatchObject({ what: "approved", via: "command", request, partner: "bank", job: "spring" });
});

test("the request is kept over restarts, and the approved job begins at once", async () => {
  await world.start(shop, output("later", required));
  await expectError(() => leave("spring", "later"), "USAGE", /gone home/);
  const second = await world.start(shop, output("later", required));
  const request = await waiting();
  await tandem("approve", request);
  await world.start(shop, output("later", required));
  const events = await train("spring", "later");
  expect(events.some(({ type }) => type === "approval-awaited")).toBe(false);
  expect(outputs("spring", "later")).toEqual(expected);
  expect(second.events.filter(({ type }) => type === "request-waits")).toEqual([]);
});

/** The command is stopped while it waits. */
function leave(job: string, directory: string, changes: ActiveChanges = {}): Promise<unknown> {
  const gone = new TandemError("USAGE", "gone home");
  return train(job, directory, changes, ({ type }) => {
    if (type === "approval-awaited") throw gone;
  });
}

test("a denial ends the command with the reason, also when it is repeated, until someone approves", async () => {
  const party = await world.start(shop, output("denied", required));
  const training = train("spring", "denied");
  const { request } = await party.seen("request-waits");
  expect(await tandem("deny", request, "--reason", "not before the contract is signed")).toMatch(/^Denied request/);
  const says = new RegExp(`shop has denied the request ${request}: not before the contract is signed`);
  await expectError(() => training, "POLICY", says);
  await expectError(() => train("spring", "denied"), "POLICY", says);
  expect(party.events.map(({ type }) => type)).not.toContain("aligning");
  await tandem("approve", request);
  await train("spring", "denied");
  expect(outputs("spring", "denied")).toEqual(expected);
});

test.each<{ readonly what: string; readonly changes: ActiveChanges }>([
  { what: "more trees", changes: { training: { num_round: 3 } } },
  { what: "fewer trees", changes: { training: { num_round: 1 } } },
  { what: "another seed", changes: { training: { seed: 9 } } },
  { what: "another preset", changes: { privacy: "guarded" } },
  { what: "another scheme", changes: { scheme: "curve", insecure_key_bits: undefined } },
  { what: "a longer key", changes: { insecure_key_bits: 320 } },
  { what: "a purpose", changes: { purpose: "something else" } },
  { what: "normalised ids", changes: { data: { normalise: ["lowercase"] } } },
])("after approval $what is another request", async ({ what, changes }) => {
  const directory = `changed-${what.replaceAll(" ", "-")}`;
  const schemes = ["paillier", "curve"];
  const party = await world.start(shop, output(directory, { ...required, schemes }));
  await expectError(() => leave("spring", directory), "USAGE", /gone home/);
  await tandem("approve", await waiting());
  await expectError(() => leave("spring", directory, changes), "USAGE", /gone home/);
  await waiting();
  expect(party.events.map(({ type }) => type)).not.toContain("aligning");
  await train("spring", directory);
  expect(outputs("spring", directory)).toEqual(expected);
});

test("other columns of the passive party, and another name, are other requests", async () => {
  await world.start(shop, output("columns", required));
  await expectError(() => leave("spring", "columns"), "USAGE", /gone home/);
  await tandem("approve", await waiting());
  await expectError(() => leave("summer", "columns"), "USAGE", /gone home/);
  await tandem("deny", await waiting());
  const other = { ...output("columns", required), data: { path: "data.csv", id: "id", features: [] } };
  await world.start(shop, other);
  await expectError(() => leave("spring", "columns"), "USAGE", /gone home/);
  await waiting();
});

test("an approval is used by one job; one for several jobs by as many, under any name, from as many rows", async () => {
  await world.start(shop, output("uses", required));
  await expectError(() => leave("one", "uses"), "USAGE", /gone home/);
  const id = await waiting();
  await tandem("approve", id);
  await train("one", "uses");
  await expectError(() => leave("two", "uses"), "USAGE", /gone home/);
  await tandem("approve", await waiting(), "--uses", "2");
  await Promise.all(["two", "three"].map((job) => train(job, "uses")));
  await expectError(() => leave("four", "uses"), "USAGE", /gone home/);
  const { stderr, exitCode } = await tandemHere("approve", id, "-c", config());
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^error: request \w+ is over: its approval was used/)]);
  expect(outputs("three", "uses")[1]).toBe(expected[1]);
});

test("an approval expires, and a withdrawn one ends a job at its next attempt", async () => {
  let now = Date.now();
  const surroundings = { now: () => now };
  const changes = output("expires", { ...required, approval_days: 2 });
  await world.start(shop, changes, surroundings);
  await expectError(() => leave("spring", "expires"), "USAGE", /gone home/);
  await tandem("approve", await waiting(), "--days", "1");
  now += 25 * 3_600_000;
  await expectError(() => leave("spring", "expires"), "USAGE", /gone home/);
  now = Date.now();
});

test("an alignment is requested too, and its approval is for one", async () => {
  const party = await world.start(shop, output("align", required));
  const aligning = async (): Promise<unknown> =>
    runAlignment(
      await world.activeConfig("spring", { output: { directory: "align" } }, { passives: [shop], file: "align.json" }),
      undefined,
      () => {},
    );
  const first = aligning();
  const { request } = await party.seen("request-waits");
  expect(await tandem("requests")).toContain("private set intersection with 140 ids, without a job");
  await tandem("approve", request);
  expect(await first).toMatchObject({ aligned: { rows: { length: 120 } } });
  const second = aligning();
  const { request: again } = await party.seen("request-waits", 2);
  await tandem("deny", again, "--reason", "once is enough");
  await expectError(() => second, "POLICY", /once is enough/);
});

test("several passive parties: each approves for itself, and no place is held meanwhile", async () => {
  const [, telecom] = world.shops;
  const atShop = await world.start(shop, output("several", required));
  const atTelecom = await world.start(telecom, output("several", required));
  const training = world.train("spring", { output: { directory: "several" } }, { file: "several.json" });
  await tandem("approve", (await atShop.seen("request-waits")).request);
  await atShop.seen("request-decided");
  expect(atShop.events.some((event) => event.type === "occupancy" && event.running > 0)).toBe(false);
  const { request } = await atTelecom.seen("request-waits");
  expect((await tandemHere("approve", request, "-c", config(telecom))).exitCode).toBe(0);
  const events = await training;
  expect(events.filter(({ type }) => type === "approval-given")).toHaveLength(2);
});

test("a named partner is approved automatically, and so is every one by default", async () => {
  const party = await world.start(shop, output("trusted", { ...required, automatic_for: ["bank"] }));
  await train("spring", "trusted");
  expect(outputs("spring", "trusted")).toEqual(expected);
  expect(party.events.some(({ type }) => type === "request-waits")).toBe(false);
  const path = world.writePassive(shop, output("trusted", { ...required, automatic_for: ["bnak"] }), "wrong.json");
  const { stderr } = await tandemHere("party", "-c", path);
  expect(stderr).toMatch(/'policy.automatic_for': no active party is named 'bnak'; the config names bank/);
});

test("a job without a name keeps the name of its request, until it is denied", async () => {
  await world.start(shop, output("unnamed", required));
  const name = "job-20260101-000000-000";
  await expectError(() => leave(name, "unnamed"), "USAGE", /gone home/);
  const folder = join(world.bank.folder, "unnamed");
  expect(unfinishedJob(folder)).toBe(name);
  const request = await waiting();
  await tandem("deny", request);
  await expectError(() => train(name, "unnamed"), "POLICY", /has denied/);
  expect(unfinishedJob(folder)).toBeNull();
  await tandem("approve", request);
  await train(name, "unnamed");
  expect(unfinishedJob(folder)).toBeNull();
  expect(outputs(name, "unnamed")[1]).toBe(expected[1]);
});
