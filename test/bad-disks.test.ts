/**
 * Full disks, damaged files, data and configs that change during a job: a clear error at the party concerned, nothing
 * lost, and once the cause is removed the same command resumes.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { diskStorage, type Storage } from "../src/base/files/storage.ts";
import { realWorld } from "../src/party/active/world.ts";
import { partOf } from "./support/campaign.ts";
import { expectError } from "./support/expect-error.ts";
import { activeJobFiles } from "./support/job-files.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople, shuffled } from "./world/people.ts";
import type { ProcessWorld } from "./world/processes.ts";
import { RunningParty } from "./world/running-party.ts";

const worlds = testWorlds();
const people = makePeople(240, "bad disks");
const training = { num_round: 3 };
/** What an undisturbed job leaves, at the bank and at the shop. */
let expected: readonly string[];
/** Companies before their first job, and after a job that stopped after its first tree; tests work on copies. */
let fresh: ProcessWorld;
let begun: ProcessWorld;

const world = (): ProcessWorld => worlds.copy(fresh);
const begunWorld = (): ProcessWorld => worlds.copy(begun);

beforeAll(async () => {
  fresh = await worlds.found(
    {
      bank: { people: shuffled(people.slice(0, 200), "bank"), columns: [0, 1] },
      shop: { people: shuffled(people.slice(20), "shop"), columns: [2, 3, 4] },
    },
    { active: { training } },
  );
  const undisturbed = world();
  await undisturbed.start(undisturbed.shop);
  await undisturbed.train("j");
  expected = undisturbed.outputs("j");
  begun = world();
  await begun.start(begun.shop);
  await oneTree(begun);
  await begun.close();
});

/** A disk that fails on some writes of some file. */
function failing(name: string, isFull: () => boolean): Storage {
  return {
    ...diskStorage,
    write: (path, contents) => {
      if (path.endsWith(name) && isFull())
        throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written (ENOSPC)`);
      return diskStorage.write(path, contents);
    },
    append: (path, contents) => {
      if (path.endsWith(name) && isFull())
        throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written (ENOSPC)`);
      return diskStorage.append(path, contents);
    },
  };
}

/** Runs the job until its active party has stored one tree and the disk is full for the next. */
async function oneTree(made: ProcessWorld): Promise<void> {
  let writes = 0;
  const storage = failing("checkpoint.json", () => ++writes > 2);
  await expectError(
    () => made.train("j", {}, { surroundings: { ...realWorld, storage } }),
    "FILE_UNWRITABLE",
    /checkpoint\.json cannot be written \(ENOSPC\)/,
  );
}

async function expectContinued(made: ProcessWorld): Promise<void> {
  const events = await made.train("j");
  expect(events.find((event) => event.type === "resumed")).toMatchObject({ trees: 1, treeCount: 3 });
  expect(made.outputs("j")).toEqual(expected);
}

describe("a full disk", () => {
  test("at the active party, in the middle of the job", async () => {
    const made = world();
    await made.start(made.shop);
    await oneTree(made);
    await expectContinued(made);
  });

  test.each([
    ["share.json", 1],
    ["reference.json", 1],
    ["predictions.csv", 1],
    ["aligned.csv", 1],
    ["checkpoint.json", 1],
  ])("at the active party, at %s", async (name, from) => {
    const made = world();
    const party = await made.start(made.shop);
    let writes = 0;
    await expectError(
      () => made.train("j", {}, { surroundings: { ...realWorld, storage: failing(name, () => ++writes >= from) } }),
      "FILE_UNWRITABLE",
      /ENOSPC/,
    );
    expect(
      party.events.findLast(
        (event) => event.type === "job-ended" || event.type === "refused" || event.type === "aligned",
      ),
    ).toBeDefined();
    await made.train("j");
    expect(made.outputs("j")).toEqual(expected);
  });

  const writes: readonly [string, number][] = [
    ["alignment.json", 1],
    ["job.json", 1],
    ["progress.json", 1],
    ["progress.json", 4],
    ["reference.json", 1],
    ["share.json", 1],
    ["job.json", 2],
  ];
  test.each(partOf(writes, 1, 2))(
    "at the passive party, at %s, write %i: the path is in its own log, the active party gets the code only",
    async (name, from) => {
      const made = world();
      let full = true;
      let writes = 0;
      const storage = failing(name, () => full && ++writes >= from);
      const party = await made.start(made.shop, {}, { storage });
      const error = await expectError(() => made.train("j"), "FILE_UNWRITABLE", /shop/);
      expect(error.message).not.toContain(made.shop.folder);
      const said = party.events
        .filter((event) => event.type === "error" || event.type === "job-ended")
        .map((event) => JSON.stringify(event));
      expect(said.join("\n")).toContain(`${name} cannot be written (ENOSPC)`);
      full = false;
      await made.train("j");
      expect(made.outputs("j")).toEqual(expected);
    },
  );
});

/** The middle of a file's first line: what is lost at the end of lines that are appended was never confirmed. */
const middle = (text: string): number => text.indexOf("\n") >> 1;

/** Ways to damage a stored file, and the error for each. */
const damages: readonly [what: string, spoil: (text: string) => string, says: RegExp][] = [
  ["cut off", (text) => text.slice(0, middle(text)), /or is truncated/],
  ["empty", () => "", /or is truncated/],
  ["with one bit flipped", (text) => flipped(text, middle(text)), /checksum does not match|is truncated/],
  ["of another version", (text) => text.replace(/\/\d"/, `/9"`), /has the format tandem-\S+\/9, not tandem-\S+\/\d/],
];

function flipped(text: string, at: number): string {
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}

describe("a damaged file", () => {
  test.each(partOf(damages, 0, 2))("the active party's checkpoint, %s", async (_what, spoil, says) => {
    const made = begunWorld();
    await made.start(made.shop);
    const path = join(made.bank.folder, "jobs", "j", "checkpoint.json");
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, spoil(whole));
    const error = await expectError(() => made.train("j"), "CHECKPOINT", says);
    expect(error.message).toContain("checkpoint.json");
    expect(error.message).toMatch(/\. Restore the file, or remove it and start again under another name/);
    writeFileSync(path, whole);
    await expectContinued(made);
  });

  const damagedFiles = ["job.json", "progress.json", "alignment.json"].flatMap((name) =>
    damages.map(([what, spoil, says]) => [name, what, spoil, says] as const),
  );
  // Three has no factor in common with the kinds of damage: every kind and every file is among the cases.
  test.each(partOf(damagedFiles, 0, 3))("the passive party's %s, %s", async (name, what, spoil, says) => {
    const made = begunWorld();
    const party = await made.start(made.shop);
    const path = join(made.shop.folder, "jobs", "j", name);
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, spoil(whole));
    const error = await expectError(
      () => made.train("j"),
      "CHECKPOINT",
      /shop has trouble with its own files\. Its log says what/,
    );
    expect(error.message).not.toContain(made.shop.folder);
    expect(party.events.findLast((event) => event.type === "error")).toMatchObject({
      code: "CHECKPOINT",
      message: expect.stringMatching(says) as string,
    });
    // Another job is not concerned.
    if (what === "empty") await made.train("other", { training: { num_round: 1 } });
    writeFileSync(path, whole);
    await expectContinued(made);
  });
});

describe("changes during a job", () => {
  test("the active party's parameters or data", async () => {
    const made = world();
    await made.start(made.shop);
    await oneTree(made);
    await expectError(
      () => made.train("j", { training: { eta: 0.2 } }),
      "CHECKPOINT",
      /checkpoint\.json: training\.eta was 0\.3 when the job began and is 0\.2 now\. Put it back/,
    );
    const data = join(made.bank.folder, "data.csv");
    const whole = readFileSync(data, "utf8");
    writeFileSync(data, whole.replace("payer", "defaulter"));
    await expectError(() => made.train("j"), "CHECKPOINT", /the data has changed since the job began/);
    writeFileSync(data, whole);
    await expectContinued(made);
  });

  test("the passive party's data", async () => {
    const made = world();
    await made.start(made.shop);
    await oneTree(made);
    const data = join(made.shop.folder, "data.csv");
    const whole = readFileSync(data, "utf8");
    writeFileSync(data, whole.replace(/(-?\d+\.\d+)\n/, "7.0\n"));
    await expectError(
      () => made.train("j"),
      "CHECKPOINT",
      /the data of shop has changed since job j was aligned; put it back, or choose/,
    );
    writeFileSync(data, whole);
    await expectContinued(made);
  });

  test("one party's folder is gone: trees of two runs are never mixed", async () => {
    const made = world();
    await made.start(made.shop);
    await oneTree(made);
    const keep = join(made.bank.folder, "kept");
    for (const [company, says] of [
      [made.bank, /shop has stored 2 trees of a job named j, which has begun; continue it, or choose another name/],
      [made.shop, /shop: job j was not aligned/],
    ] as const) {
      const folder = join(company.folder, "jobs", "j");
      cpSync(folder, keep, { recursive: true });
      rmSync(folder, { recursive: true });
      await expectError(() => made.train("j"), company === made.bank ? "CHECKPOINT" : "PROTOCOL_STATE", says);
      rmSync(folder, { recursive: true, force: true });
      cpSync(keep, folder, { recursive: true });
      rmSync(keep, { recursive: true });
    }
    await expectContinued(made);
  });

  test("a config that was corrected before the first tree starts afresh under the same name", async () => {
    const made = world();
    await made.start(made.shop, { policy: { max_depth: 2 } });
    await expectError(() => made.train("j"), "POLICY");
    await made.train("j", { training: { max_depth: 2 } });
    expect(existsSync(join(made.bank.folder, "jobs", "j", "share.json"))).toBe(true);
  });
});

test("another process of the same party, at the same job or in the same folder, is refused", async () => {
  const made = world();
  await made.start(made.shop);
  await expectError(
    async () => RunningParty.start(await made.passiveConfig(made.shop)),
    "PARTY_BUSY",
    /another process is working in .*jobs\. Let it finish, or stop it first/,
  );
  const outcomes = await Promise.allSettled([made.train("j"), made.train("j")]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const [refused] = outcomes.filter((outcome) => outcome.status === "rejected");
  await expectError(() => Promise.reject(refused.reason), "PARTY_BUSY", /another process is working in .*jobs\/j/);
  expect(made.outputs("j")).toEqual(expected);
  expect(readdirSync(join(made.bank.folder, "jobs", "j")).toSorted()).toEqual(
    activeJobFiles.filter((name) => name !== "report.html"),
  );
});
