/**
 * A bank that cheats with requests: it floods, changes terms after they were approved, replays, and puts anything into
 * texts. And a local user who edits the log of decisions, or has no right to it.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@connectrpc/connect";
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { RequestDecisions } from "../src/party/approvals/request-decisions.ts";
import { requestJob } from "../src/party/active/request-job.ts";
import { agreedParameters, proposedParameters } from "../src/protocol/job-parameters.ts";
import { hashDomain, hashToCurve } from "../src/psi/hash-to-curve.ts";
import { Admission, type PassiveAdmission } from "../src/wire/generated/tandem/v1/admission_pb.ts";
import { Alignment } from "../src/wire/generated/tandem/v1/alignment_pb.ts";
import { PassiveParty } from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { expectError } from "./support/expect-error.ts";
import { rawTransport } from "./support/raw-client.ts";
import { collect, one } from "./support/streams.ts";
import { bankAndShops, testWorlds } from "./support/test-worlds.ts";
import { tandemHere } from "./world/command-here.ts";
import { makePeople } from "./world/people.ts";
import type { ProcessWorld } from "./world/processes.ts";
import type { RunningParty } from "./world/running-party.ts";

const worlds = testWorlds();
let world: ProcessWorld;
let party: RunningParty;
let directory = "";
let runs = 0;
let now = 0;
type Parameters = ReturnType<typeof proposedParameters>;
let parameters: Parameters;

beforeAll(async () => {
  world = await worlds.found(bankAndShops(1, makePeople(120, "hostile requests")));
});

beforeEach(async () => {
  directory = `run-${runs++}`;
  now = Date.now();
  party = await start();
  const { job } = await world.activeConfig("spring");
  parameters = proposedParameters(agreedParameters(job));
});

function start(): Promise<RunningParty> {
  const changes = { output: { directory }, policy: { approval: "required" as const } };
  return world.start(world.shop, changes, { now: () => now });
}

interface Bank {
  readonly admission: Client<typeof Admission>;
  readonly alignment: Client<typeof Alignment>;
  readonly jobs: Client<typeof PassiveParty>;
}

/** A connection of the bank. */
function bank(): Bank {
  const transport = rawTransport(world.bank, party.port);
  return {
    admission: createClient(Admission, transport),
    alignment: createClient(Alignment, transport),
    jobs: createClient(PassiveParty, transport),
  };
}

const rowCount = 120;
const asked = (job = "spring", changes: object = {}) => ({
  protocolVersion,
  parameters: { ...parameters, job },
  rowCount,
  work: "training",
  aligned: true,
  ...changes,
});

/** The first answer to a request, or the refusal. */
async function first({ admission }: Bank, request: object): Promise<PassiveAdmission | string> {
  const stream = admission.request(request)[Symbol.asyncIterator]();
  return stream.next().then(
    ({ value }) => value as PassiveAdmission,
    (error: unknown) => String(error),
  );
}

const decisions = () =>
  new RequestDecisions({
    party: "shop0",
    directory: join(world.shop.folder, directory),
    config: "0".repeat(64),
    days: 7,
    now: () => now,
  });
const person = { who: "alice", via: "command" } as const;

/** A request that is approved, and its connection. */
async function approved(uses = 1): Promise<Bank> {
  const connection = bank();
  const answer = await first(connection, asked());
  await decisions().approve(typeof answer === "string" ? answer : answer.request, person, { uses });
  expect(await first(connection, asked())).toMatchObject({ place: 0, request: "" });
  return connection;
}

const offer = (changes: object = {}) => ({
  protocolVersion,
  job: "spring",
  hashDomain,
  normalisations: [],
  activeIdCount: rowCount,
  ...changes,
});

const jobId = (byte: number) => new Uint8Array(16).fill(byte);

/** The refusal of a first message of a job. */
async function joined({ jobs }: Bank, changes: object = {}, id = 1): Promise<string> {
  const hello = {
    protocolVersion,
    activeName: "bank",
    parameters,
    instanceCount: 80,
    idsDigest: new Uint8Array(32),
    aligned: true,
    jobId: jobId(id),
    ...changes,
  };
  return collect(jobs.join(hello)).then(
    () => "joined",
    (error: unknown) => String(error),
  );
}

const failure = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "nothing",
    (error: unknown) => String(error),
  );

test("before approval no call reveals anything: no intersection, no number of ids, no column", async () => {
  const connection = bank();
  expect(await first(connection, asked())).toMatchObject({
    place: 0,
    waiting: 0,
    request: expect.any(String) as string,
  });
  expect(await failure(connection.alignment.begin(offer()))).toMatch(
    /does not begin job spring: it waits for approval/,
  );
  expect(await joined(connection)).toMatch(/does not begin job spring: it waits for approval/);
  const silent = bank();
  expect(await failure(silent.alignment.begin(offer({ job: "other" })))).toMatch(/it was not requested before/);
  expect(await joined(silent, { parameters: { ...parameters, job: "other" } })).toMatch(/it was not requested before/);
  expect(party.events.map(({ type }) => type)).not.toContain("aligning");
});

test("a flood of requests stops at four; one of the same name replaces the first", async () => {
  const warnings: string[] = [];
  const warned = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const connection = bank();
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    const answer = await first(connection, asked(`job-${i}`));
    ids.push(typeof answer === "string" ? answer : answer.request);
  }
  expect(await first(connection, asked("job-4"))).toMatch(/has 4 requests of this party waiting for approval/);
  for (let i = 0; i < 20; i++) await first(connection, asked("job-0", { purpose: `try ${i}` }));
  const waiting = (await decisions().list()).filter(({ standing }) => standing === "waiting");
  expect(waiting).toHaveLength(4);
  expect(waiting.map(({ id }) => id)).not.toContain(ids[0]);
  expect(warnings).toEqual([]); // of listeners that calls leave at their connection
  await expectError(
    () => decisions().approve(ids[0], person),
    "USAGE",
    /has no request .* a partner may have replaced it/,
  );
});

test.each<{ what: string; changes: (given: Parameters) => object; says: RegExp }>([
  { what: "more trees", changes: (p) => ({ numRound: p.numRound + 1 }), says: /numRound: 2 requested, 3 brought/ },
  { what: "deeper trees", changes: () => ({ maxDepth: 4 }), says: /maxDepth: 3 requested, 4 brought/ },
  { what: "another key", changes: () => ({ schemeParameters: { keyBits: 300 } }), says: /keyBits: 256 requested/ },
  { what: "a finer grid", changes: (p) => ({ resolutionBits: p.resolutionBits - 1, padding: 1 }), says: /padding/ },
  { what: "more bins", changes: () => ({ maxBin: 16 }), says: /maxBin: 8 requested, 16 brought/ },
])("terms swapped after approval are refused: $what", async ({ changes, says }) => {
  const connection = await approved();
  expect(await joined(connection, { parameters: { ...parameters, ...changes(parameters) } })).toMatch(says);
  expect((await decisions().list())[0]).toMatchObject({ standing: "approved" });
});

test("more rows, or ids of another kind, than were approved are refused", async () => {
  const connection = await approved();
  const { alignment } = connection;
  expect(await failure(alignment.begin(offer({ activeIdCount: rowCount + 1 })))).toMatch(/120 requested, 121 brought/);
  expect(await failure(alignment.begin(offer({ normalisations: ["nfkc"] })))).toMatch(
    /normalisations:  ?requested, nfkc/,
  );
  expect(await failure(alignment.begin(offer({ validationFile: true })))).toMatch(/validation/);
  expect(await joined(connection, { instanceCount: rowCount + 1 })).toMatch(/rows: 120 requested, 121 brought/);
  expect(await joined(connection, { aligned: false })).toMatch(/aligned: true requested, false brought/);
});

test("an approval is not for a sixth intersection", async () => {
  let connection = await approved();
  for (let i = 0; i < 5; i++) {
    await connection.alignment.begin(offer());
    const points = new Uint8Array(32 * rowCount);
    for (let id = 0; id < rowCount; id++) hashToCurve(`guess ${i} ${id}`, points, 32 * id);
    await collect(connection.alignment.remask(one({ sequence: 0, points })));
    connection = bank();
    const answer = await first(connection, asked());
    expect(typeof answer === "string" ? answer : answer.request === "", `after ${i + 1}`).toBe(i < 4);
  }
  expect(await failure(connection.alignment.begin(offer()))).toMatch(/it waits for approval/);
});

test("an approval that a job has used is not for another job, nor for other rows of the same", async () => {
  const connection = await approved();
  expect(await joined(connection)).toMatch(/was not aligned/); // the use is stored before anything else is looked at
  expect(await joined(connection, { instanceCount: 79, idsDigest: new Uint8Array(32).fill(1) })).toMatch(/other rows/);
  expect(await joined(connection, {}, 2)).toMatch(/its approval was used or has ended/);
  const again = await first(bank(), asked());
  expect(again).toMatchObject({ request: expect.stringMatching(/^[0-9a-f]{8}$/) as string });
  party = await start();
  expect(await first(bank(), asked())).toEqual(again);
  expect(await first(bank(), asked("spring", { jobId: jobId(1) })), "the job itself continues").toMatchObject({
    request: "",
  });
  expect(await first(bank(), asked("spring", { jobId: jobId(2) }))).toEqual(again);
});

test("an expired approval begins nothing; a withdrawn one not even a job that has begun", async () => {
  await approved();
  now += 8 * 86_400_000;
  expect(await first(bank(), asked())).toMatchObject({ request: expect.stringMatching(/./) as string });
  const connection = await approved();
  expect(await joined(connection)).toMatch(/was not aligned/);
  const { id } = (await decisions().list()).at(-1) ?? { id: "" };
  await decisions().deny(id, person, "the contract has ended");
  expect(await joined(connection)).toMatch(/has denied the request .*: the contract has ended/);
});

test("another bank does not use this one's approval, and one approval is not two", async () => {
  const connection = await approved();
  const both = await Promise.all([joined(connection, {}, 1), joined(connection, {}, 2)]);
  expect(both.filter((said) => /its approval was used/.test(said))).toHaveLength(1);
});

test("texts of a bank: bounded, and harmless on a terminal", async () => {
  const purpose = "\u001b[2J\u202e<img src=x onerror=alert(1)>\r\nrequest 00000000 of bank: approved";
  expect(await first(bank(), asked("spring", { purpose }))).toMatchObject({ request: expect.any(String) as string });
  const { stdout } = await tandemHere("requests", "-c", join(world.shop.folder, "passive.json"));
  // eslint-disable-next-line no-control-regex
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(stdout.match(/^request /gm)).toHaveLength(1);
  expect(await first(bank(), asked("spring", { purpose: "x".repeat(501) }))).toMatch(/purpose: .*up to 500 characters/);
  expect(await first(bank(), asked("spring", { purpose: "x".repeat(10_000_000) }))).toMatch(/Error/);
  expect(await first(bank(), asked("../spring"))).toMatch(/takes names of up to 64 letters/);
  expect(await first(bank(), asked("spring", { work: "<b>" }))).toMatch(/work: .* does not know <b>/);
  const many = Array.from({ length: 17 }, () => "nfkc");
  expect(await first(bank(), asked("spring", { normalisations: many }))).toMatch(/normalise: .* up to 16 names/);
  expect(await decisions().list()).toHaveLength(1);
});

test("texts of a passive party: the bank shows the name of a request without control characters", async () => {
  const events: object[] = [];
  const answers = [
    { place: 0, waiting: 0, request: "\u001b[2Jx" },
    { place: 0, waiting: 0, request: "" },
  ];
  const request = async function* () {
    yield* answers as unknown as PassiveAdmission[];
  };
  const config = { ...(await world.activeConfig("spring")) };
  await requestJob([{ name: "shop0", request } as never], {}, { config, emit: (event) => void events.push(event) });
  expect(JSON.stringify(events)).not.toContain("\\u001b");
  expect(events).toMatchObject([{ type: "approval-awaited", request: " [2Jx" }, { type: "approval-given" }]);
});

test("a log with a changed, a removed or an added line begins no job, and says which line", async () => {
  const connection = await approved();
  await first(connection, asked("summer"));
  await decisions().deny((await decisions().list()).find(({ terms }) => terms.job === "summer")?.id ?? "", person, "");
  const path = join(world.shop.folder, directory, ".requests", "actions.jsonl");
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  expect(lines).toHaveLength(2);
  for (const edited of [
    text.replace('"uses":1', '"uses":9'),
    `${lines[1]}\n`,
    `${lines[0]}\n${lines[0].replace("spring", "winter")}\n${lines[1]}\n`,
  ]) {
    writeFileSync(path, edited);
    await expectError(() => decisions().list(), "FILE_FORMAT", /line \d, does not follow the line before it/);
    const { stderr } = await tandemHere("party", "-c", join(world.shop.folder, "passive.json"));
    expect(stderr).toMatch(/another process is working|own files|actions.jsonl, line \d/);
    expect(await joined(connection, {}, 3)).toMatch(/has trouble with its own files/);
  }
  writeFileSync(path, `${text}\n{"at":"2026-`); // a write that a crash has interrupted
  expect(await decisions().actions()).toHaveLength(2);
  expect(await joined(connection)).toMatch(/was not aligned/);
  await decisions().deny((await decisions().list())[0].id, person, "");
  expect(await decisions().actions()).toHaveLength(3);
});

test.skipIf(process.getuid?.() !== 0)(
  "another user of the machine cannot approve, and reads why in one line",
  async () => {
    const answer = await first(bank(), asked());
    const id = typeof answer === "string" ? answer : answer.request;
    const open = join(mkdtempSync(join(tmpdir(), "tandem-open-")), "passive.json");
    const { output, ...config } = JSON.parse(readFileSync(join(world.shop.folder, "passive.json"), "utf8")) as {
      output: { directory: string };
    };
    const folder = join(world.shop.folder, output.directory);
    writeFileSync(open, JSON.stringify({ ...config, output: { directory: folder } }), { mode: 0o644 });
    chmodSync(dirname(open), 0o755);
    const otherUser = 65534;
    const bin = fileURLToPath(new URL("../bin/tandem.js", import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [bin, "approve", id, "-c", open], {
      uid: otherUser,
      gid: otherUser,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^error: \S+ cannot be (created|read|written).*\n$/)]);
    expect(await first(bank(), asked())).toMatchObject({ request: id });
  },
);
