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
import type { PartyEvent } from "../src/record/events.ts";
import { runActive } from "../src/party/active/run.ts";
import { partOf } from "./support/campaign.ts";
import { scratchDirectory } from "./support/command.ts";
import {
  activeConfig,
  type Company,
  copyCompany,
  foundCompany,
  makePeople,
  type RunningParty,
  shuffled,
  startParty,
} from "./support/companies.ts";
import { expectError } from "./support/expect-error.ts";
import { activeJobFiles } from "./support/job-files.ts";

const root = scratchDirectory();
const people = makePeople(240, "bad disks");
const training = { num_round: 3 };
const quiet = (): void => {};
let worlds = 0;
/** What an undisturbed job leaves, at the bank and at the shop. */
let expected: readonly string[];

interface World {
  readonly bank: Company;
  readonly shop: Company;
}

/** A job that stopped after its first tree, its parties ended; tests work on copies. */
let begun: World;

async function world(): Promise<World> {
  const folder = newFolder();
  return {
    bank: await foundCompany(folder, "bank", shuffled(people.slice(0, 200), "bank"), [0, 1], true),
    shop: await foundCompany(folder, "shop", shuffled(people.slice(20), "shop"), [2, 3, 4]),
  };
}

function newFolder(): string {
  return join(root, String(worlds++));
}

function begunWorld(): World {
  const folder = newFolder();
  return { bank: copyCompany(begun.bank, folder), shop: copyCompany(begun.shop, folder) };
}

const files = ({ bank, shop }: World): string[] =>
  [
    join(bank.folder, "jobs", "j", "share.json"),
    join(bank.folder, "jobs", "j", "predictions.csv"),
    join(shop.folder, "jobs", "j", "share.json"),
  ].map((path) => readFileSync(path, "utf8"));
const configOf = ({ bank, shop }: World, party: RunningParty, changes: Parameters<typeof activeConfig>[3] = {}) =>
  activeConfig(bank, [{ company: shop, party }], "j", { training, ...changes });

beforeAll(async () => {
  const made = await world();
  const party = await startParty(made.shop, [made.bank], {}, () => {});
  await runActive(await configOf(made, party), quiet);
  await party.stop();
  expected = files(made);
  begun = await world();
  const first = await startParty(begun.shop, [begun.bank], {}, () => {});
  await oneTree(begun, first);
  await first.stop();
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
async function oneTree(made: World, party: RunningParty): Promise<void> {
  let writes = 0;
  const storage = failing("checkpoint.json", () => ++writes > 2);
  await expectError(
    async () => runActive(await configOf(made, party), quiet, { ...realWorld, storage }),
    "FILE_UNWRITABLE",
    /checkpoint\.json cannot be written \(ENOSPC\)/,
  );
}

async function expectContinued(made: World, party: RunningParty): Promise<void> {
  const events: PartyEvent[] = [];
  await runActive(await configOf(made, party), (event) => events.push(event));
  expect(events.find((event) => event.type === "resumed")).toMatchObject({ trees: 1, treeCount: 3 });
  expect(files(made)).toEqual(expected);
}

describe("a full disk", () => {
  test("at the active party, in the middle of the job", async () => {
    const made = await world();
    const party = await startParty(made.shop, [made.bank]);
    await oneTree(made, party);
    await expectContinued(made, party);
  });

  test.each([
    ["share.json", 1],
    ["predictions.csv", 1],
    ["aligned.csv", 1],
    ["checkpoint.json", 1],
  ])("at the active party, at %s", async (name, from) => {
    const made = await world();
    const party = await startParty(made.shop, [made.bank]);
    let writes = 0;
    await expectError(
      async () =>
        runActive(await configOf(made, party), quiet, { ...realWorld, storage: failing(name, () => ++writes >= from) }),
      "FILE_UNWRITABLE",
      /ENOSPC/,
    );
    expect(
      party.events.findLast(
        (event) => event.type === "job-ended" || event.type === "refused" || event.type === "aligned",
      ),
    ).toBeDefined();
    await runActive(await configOf(made, party), quiet);
    expect(files(made)).toEqual(expected);
  });

  const writes: readonly [string, number][] = [
    ["alignment.json", 1],
    ["job.json", 1],
    ["progress.json", 1],
    ["progress.json", 4],
    ["share.json", 1],
    ["job.json", 2],
  ];
  test.each(partOf(writes, 1, 2))(
    "at the passive party, at %s, write %i: the path is in its own log, the active party gets the code only",
    async (name, from) => {
      const made = await world();
      let full = true;
      let writes = 0;
      const party = await startParty(
        made.shop,
        [made.bank],
        {},
        undefined,
        failing(name, () => full && ++writes >= from),
      );
      const error = await expectError(
        async () => runActive(await configOf(made, party), quiet),
        "FILE_UNWRITABLE",
        /shop/,
      );
      expect(error.message).not.toContain(made.shop.folder);
      const said = party.events
        .filter((event) => event.type === "error" || event.type === "job-ended")
        .map((event) => JSON.stringify(event));
      expect(said.join("\n")).toContain(`${name} cannot be written (ENOSPC)`);
      full = false;
      await runActive(await configOf(made, party), quiet);
      expect(files(made)).toEqual(expected);
    },
  );
});

/** Ways to damage a stored file, and the error for each. */
const damages: readonly [what: string, spoil: (text: string) => string, says: RegExp][] = [
  ["cut off", (text) => text.slice(0, text.length >> 1), /or is truncated/],
  ["empty", () => "", /or is truncated/],
  ["with one bit flipped", (text) => flipped(text, text.length >> 1), /checksum does not match|is truncated/],
  ["of another version", (text) => text.replace(/\/\d"/, `/9"`), /has the format tandem-\S+\/9, not tandem-\S+\/\d/],
];

function flipped(text: string, at: number): string {
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}

describe("a damaged file", () => {
  test.each(partOf(damages, 0, 2))("the active party's checkpoint, %s", async (_what, spoil, says) => {
    const made = begunWorld();
    const party = await startParty(made.shop, [made.bank]);
    const path = join(made.bank.folder, "jobs", "j", "checkpoint.json");
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, spoil(whole));
    const error = await expectError(async () => runActive(await configOf(made, party), quiet), "CHECKPOINT", says);
    expect(error.message).toContain("checkpoint.json");
    expect(error.message).toMatch(/\. Restore the file, or remove it and start again under another name/);
    writeFileSync(path, whole);
    await expectContinued(made, party);
  });

  const damagedFiles = ["job.json", "progress.json", "alignment.json"].flatMap((name) =>
    damages.map(([what, spoil, says]) => [name, what, spoil, says] as const),
  );
  // Three has no factor in common with the kinds of damage: every kind and every file is among the cases.
  test.each(partOf(damagedFiles, 0, 3))("the passive party's %s, %s", async (name, what, spoil, says) => {
    const made = begunWorld();
    const party = await startParty(made.shop, [made.bank]);
    const path = join(made.shop.folder, "jobs", "j", name);
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, spoil(whole));
    const error = await expectError(
      async () => runActive(await configOf(made, party), quiet),
      "CHECKPOINT",
      /shop has trouble with its own files\. Its log says what/,
    );
    expect(error.message).not.toContain(made.shop.folder);
    expect(party.events.findLast((event) => event.type === "error")).toMatchObject({
      code: "CHECKPOINT",
      message: expect.stringMatching(says) as string,
    });
    // Another job is not concerned.
    if (what === "empty")
      await runActive(
        await activeConfig(made.bank, [{ company: made.shop, party }], "other", { training: { num_round: 1 } }),
        quiet,
      );
    writeFileSync(path, whole);
    await expectContinued(made, party);
  });
});

describe("changes during a job", () => {
  test("the active party's parameters or data", async () => {
    const made = await world();
    const party = await startParty(made.shop, [made.bank]);
    await oneTree(made, party);
    await expectError(
      async () => runActive(await configOf(made, party, { training: { ...training, eta: 0.2 } }), quiet),
      "CHECKPOINT",
      /checkpoint\.json: training\.eta was 0\.3 when the job began and is 0\.2 now\. Put it back/,
    );
    const data = join(made.bank.folder, "data.csv");
    const whole = readFileSync(data, "utf8");
    writeFileSync(data, whole.replace("payer", "defaulter"));
    await expectError(
      async () => runActive(await configOf(made, party), quiet),
      "CHECKPOINT",
      /the data has changed since the job began/,
    );
    writeFileSync(data, whole);
    await expectContinued(made, party);
  });

  test("the passive party's data", async () => {
    const made = await world();
    const party = await startParty(made.shop, [made.bank]);
    await oneTree(made, party);
    const data = join(made.shop.folder, "data.csv");
    const whole = readFileSync(data, "utf8");
    writeFileSync(data, whole.replace(/(-?\d+\.\d+)\n/, "7.0\n"));
    await expectError(
      async () => runActive(await configOf(made, party), quiet),
      "CHECKPOINT",
      /the data of shop has changed since job j was aligned; put it back, or choose/,
    );
    writeFileSync(data, whole);
    await expectContinued(made, party);
  });

  test("one party's folder is gone: trees of two runs are never mixed", async () => {
    const made = await world();
    const party = await startParty(made.shop, [made.bank]);
    await oneTree(made, party);
    const keep = join(made.bank.folder, "kept");
    for (const [company, says] of [
      [made.bank, /job: shop has stored 2 trees of a job named j; continue it, or choose another name/],
      [made.shop, /shop: job j was not aligned/],
    ] as const) {
      const folder = join(company.folder, "jobs", "j");
      cpSync(folder, keep, { recursive: true });
      rmSync(folder, { recursive: true });
      await expectError(
        async () => runActive(await configOf(made, party), quiet),
        company === made.bank ? "CHECKPOINT" : "PROTOCOL_STATE",
        says,
      );
      rmSync(folder, { recursive: true, force: true });
      cpSync(keep, folder, { recursive: true });
      rmSync(keep, { recursive: true });
    }
    await expectContinued(made, party);
  });

  test("a config that was corrected before the first tree starts afresh under the same name", async () => {
    const made = await world();
    const party = await startParty(made.shop, [made.bank], { policy: { max_depth: 2 } });
    await expectError(async () => runActive(await configOf(made, party), quiet), "POLICY");
    await runActive(await configOf(made, party, { training: { ...training, max_depth: 2 } }), quiet);
    expect(existsSync(join(made.bank.folder, "jobs", "j", "share.json"))).toBe(true);
  });
});

test("another process of the same party, at the same job or in the same folder, is refused", async () => {
  const made = await world();
  const party = await startParty(made.shop, [made.bank]);
  await expectError(
    () => startParty(made.shop, [made.bank], {}, () => {}),
    "PARTY_BUSY",
    /another process is working in .*jobs\. Let it finish, or stop it first/,
  );
  const config = await configOf(made, party);
  const outcomes = await Promise.allSettled([runActive(config, quiet), runActive(config, quiet)]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const [refused] = outcomes.filter((outcome) => outcome.status === "rejected");
  await expectError(() => Promise.reject(refused.reason), "PARTY_BUSY", /another process is working in .*jobs\/j/);
  expect(files(made)).toEqual(expected);
  expect(readdirSync(join(made.bank.folder, "jobs", "j")).toSorted()).toEqual(
    activeJobFiles.filter((name) => name !== "report.html"),
  );
});
