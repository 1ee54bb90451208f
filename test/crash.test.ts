/** Parties as processes over mutual TLS, killed repeatedly in the middle of one job. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runActive } from "../src/party/active/run.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { openJob } from "../src/verify/open-job.ts";
import { isCampaign, partOf } from "./support/campaign.ts";
import { scratchDirectory } from "./support/command.ts";
import {
  activeConfig,
  type Company,
  foundCompany,
  makePeople,
  pinsOf,
  shuffled,
  startParty,
} from "./support/companies.ts";
import { freePort, PartyProcess, until } from "./support/processes.ts";
import { activeJobFiles } from "./support/job-files.ts";

const root = scratchDirectory();
const people = makePeople(700, "crash");
const changes = { training: { num_round: 8, max_depth: 3, max_bin: 16 }, insecure_key_bits: 256 };

/** One kill: which parties, and when. A killed party is restarted at once. */
interface Kill {
  readonly who: readonly ("bank" | "shop0" | "shop1")[];
  readonly when: string;
  readonly isTime: (said: (name: string) => string) => boolean;
}

const trees = (text: string): number => Number([...text.matchAll(/tree (\d+)\/8/g)].at(-1)?.[1] ?? 0);

let bank: Company;
let shops: Company[];
beforeAll(async () => {
  bank = await foundCompany(root, "bank", shuffled(people.slice(0, 620), "bank"), [0, 1], true);
  shops = [
    await foundCompany(root, "shop0", shuffled(people.slice(40), "shop 0"), [2, 3]),
    await foundCompany(root, "shop1", shuffled(people.slice(20, 690), "shop 1"), [4, 5]),
  ];
  const undisturbed = { output: { directory: "undisturbed" } };
  const partners = await Promise.all(
    shops.map(async (company) => ({ company, party: await startParty(company, [bank], undisturbed, () => {}) })),
  );
  await runActive(await activeConfig(bank, partners, "job", { ...changes, ...undisturbed }), () => {});
  await Promise.all(partners.map(({ party }) => party.stop()));
});

/** Whatever was redone, both parties have signed the same digests in the end, and verification passes. */
async function expectVerified(directory: string): Promise<void> {
  const configs = [
    join(bank.folder, "active-job.json"),
    ...shops.map(({ folder }) => join(folder, `${directory}.json`)),
  ];
  const openings = await Promise.all(configs.map((path) => openJob(path, "job")));
  const { records, trees } = await checkOpenings(openings, { pins: pinsOf([bank, ...shops]), trees: null });
  expect(records).toEqual([]);
  expect(trees).toEqual(Array.from({ length: 8 }, (_, tree) => ({ tree, state: "as agreed", finding: null })));
}

/** The parties of a job, not yet started, with their results in this directory. */
async function processes(directory: string): Promise<{ active: PartyProcess; passives: PartyProcess[] }> {
  const ports = await Promise.all(shops.map(() => freePort()));
  const passives = shops.map((company, i) => {
    const config = JSON.parse(readFileSync(join(company.folder, "passive.json"), "utf8")) as object;
    const path = join(company.folder, `${directory}.json`);
    writeFileSync(
      path,
      JSON.stringify({ ...config, listen: { host: "127.0.0.1", port: ports[i] }, output: { directory } }),
    );
    return new PartyProcess(company.name, "party", "-c", path);
  });
  await activeConfig(
    bank,
    shops.map((company, i) => ({ company, party: { port: ports[i] } })),
    "job",
    { ...changes, output: { directory } },
  );
  return { active: new PartyProcess("bank", "train", "-c", join(bank.folder, "active-job.json")), passives };
}

function expectUndisturbedFiles(directory: string): void {
  for (const company of [bank, ...shops]) {
    const file = (which: string, name: string): string =>
      readFileSync(join(company.folder, which, "job", name), "utf8");
    for (const name of company === bank ? ["share.json", "predictions.csv"] : ["share.json"])
      expect(file(directory, name), `${company.name}: ${name}`).toBe(file("undisturbed", name));
    const folder = join(company.folder, directory, "job");
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o077, `${company.name}: ${name}`).toBe(0);
  }
  expect(readdirSync(join(bank.folder, directory, "job")).toSorted()).toEqual(activeJobFiles);
}

test("kills in one job, in its phases and of every party: the files of an undisturbed job", async () => {
  const { active, passives } = await processes("crashing");
  const all = [active, ...passives];
  const byName = (name: string): PartyProcess => all.find((process) => process.name === name) ?? active;
  const predictions = join(bank.folder, "crashing", "job", "predictions.csv");

  const everyKill: readonly Kill[] = [
    { who: ["shop0"], when: "aligning", isTime: (said) => said("shop0").includes('"aligning"') },
    {
      who: ["bank"],
      when: "aligning again",
      isTime: (said) => said("shop1").includes('"aligning"') && said("bank").includes("aligning"),
    },
    { who: ["shop1"], when: "aligned", isTime: (said) => said("shop1").includes('"aligned"') },
    { who: ["bank"], when: "joining", isTime: (said) => said("bank").includes("joined with") },
    { who: ["shop0"], when: "set up", isTime: (said) => said("shop0").includes('"joined"') },
    {
      who: ["shop1"],
      when: "in the first tree",
      isTime: (said) => said("bank").includes("no sum can overflow") && said("shop1").includes('"joined"'),
    },
    { who: ["bank"], when: "after the first tree", isTime: (said) => trees(said("bank")) >= 1 },
    { who: ["shop0"], when: "after the second tree", isTime: (said) => trees(said("bank")) >= 2 },
    { who: ["bank", "shop1"], when: "after the third tree, two at once", isTime: (said) => trees(said("bank")) >= 3 },
    {
      who: ["shop0"],
      when: "a passive party has finished the fifth tree",
      isTime: (said) => said("shop0").includes('"tree":5'),
    },
    {
      who: ["bank", "shop0", "shop1"],
      when: "after the sixth tree, all parties",
      isTime: (said) => trees(said("bank")) >= 6,
    },
    { who: ["shop1"], when: "predicting", isTime: (said) => trees(said("bank")) >= 8 },
    { who: ["bank"], when: "about to finish", isTime: () => existsSync(predictions) },
  ];
  const kills = partOf(everyKill, 0, 2);

  for (const process of all) process.start();
  const said = (name: string): string => byName(name).said;
  let unused = 0;
  for (const { who, when, isTime } of kills) {
    // A party that gave up waiting is restarted too, with the same command.
    await until(when, () => {
      for (const process of all) if (process.hasEnded && process.exitCode !== 0) process.start();
      return isTime(said) || active.exitCode === 0;
    });
    if (active.exitCode === 0) unused++;
    await Promise.all(who.map((name) => byName(name).kill()));
    for (const name of who) if (byName(name).exitCode !== 0) byName(name).start();
  }
  for (;;) {
    const code = await active.ended();
    if (code === 0 || /holds a finished job/.test(active.said)) break;
    expect(active.said).toMatch(/PARTY_LOST/);
    active.start();
  }
  expect(unused, "kills for which there was no time").toBeLessThanOrEqual(1);
  const killed = all.reduce((sum, process) => sum + process.kills, 0);
  expect(killed).toBeGreaterThanOrEqual(kills.length);
  for (const process of all) expect(process.kills, process.name).toBeGreaterThanOrEqual(isCampaign ? 3 : 2);

  expectUndisturbedFiles("crashing");
  await expectVerified("crashing");
  expect(active.saidEver).toMatch(/resumes after \d of 8 trees/);
  expect(active.saidEver).toMatch(/trying again in/);
});

test.runIf(isCampaign)(
  "full disks, at one party after the other: each reports it, and the job resumes from its checkpoint",
  async () => {
    const { active, passives } = await processes("full");
    const [shop0, shop1] = passives;
    const blocks = 1;
    shop0.start(blocks);
    shop1.start();
    active.start();
    expect(await active.ended()).toBe(2);
    expect(active.said).toMatch(/shop0 has trouble with its own files\. Its log says what \(FILE_UNWRITABLE\)/);
    expect(shop0.said).toMatch(/shop0\/full\/job\/\S+ cannot be written \(EFBIG\)/);
    await shop0.kill();
    shop0.start();
    active.start(blocks);
    expect(await active.ended()).toBe(2);
    expect(active.said).toMatch(/bank\/full\/job\/\S+ cannot be written \(EFBIG\) \(FILE_UNWRITABLE\)/);
    active.start();
    expect(await active.ended(), active.said).toBe(0);
    expectUndisturbedFiles("full");
  },
);
