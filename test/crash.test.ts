/** Parties as processes over mutual TLS, killed repeatedly in the middle of one job. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { checkOpenings } from "../src/verify/check.ts";
import { isCampaign, partOf } from "./support/campaign.ts";
import { activeJobFiles } from "./support/job-files.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople, shuffled } from "./world/people.ts";
import type { ProcessWorld } from "./world/processes.ts";
import { onFullDisk, type RestartedProcess, until } from "./world/tandem-process.ts";

const worlds = testWorlds();
const people = makePeople(260, "crash");

/** One kill: which parties, and when. A killed party is restarted at once. */
interface Kill {
  readonly who: readonly ("bank" | "shop0" | "shop1")[];
  readonly when: string;
  readonly isTime: (said: (name: string) => string) => boolean;
}

const trees = (text: string): number => Number([...text.matchAll(/tree (\d+)\/8/g)].at(-1)?.[1] ?? 0);

let world: ProcessWorld;
beforeAll(async () => {
  world = await worlds.found(
    {
      bank: { people: shuffled(people.slice(0, 220), "bank"), columns: [0, 1] },
      shop0: { people: shuffled(people.slice(40), "shop 0"), columns: [2, 3] },
      shop1: { people: shuffled(people.slice(20, 250), "shop 1"), columns: [4, 5] },
    },
    { active: { training: { num_round: 8, max_depth: 3, max_bin: 16 }, insecure_key_bits: 256 } },
  );
  const undisturbed = { output: { directory: "undisturbed" } };
  await world.startAll(undisturbed);
  await world.train("job", undisturbed);
  await world.close();
});

/** Whatever was redone, both parties have signed the same digests in the end, and verification passes. */
async function expectVerified(): Promise<void> {
  const { records, trees } = await checkOpenings(await world.openings("job"), { pins: world.pins, trees: null });
  expect(records).toEqual([]);
  expect(trees).toEqual(Array.from({ length: 8 }, (_, tree) => ({ tree, state: "as agreed", finding: null })));
}

/** Both roles write into this directory. */
const sameOutput = (directory: string) => ({ active: { output: { directory } }, passive: { output: { directory } } });

function expectUndisturbedFiles(directory: string): void {
  expect(world.outputs("job", directory)).toEqual(world.outputs("job", "undisturbed"));
  for (const company of [world.bank, ...world.shops]) {
    const folder = join(company.folder, directory, "job");
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o077, `${company.name}: ${name}`).toBe(0);
  }
  expect(readdirSync(join(world.bank.folder, directory, "job")).toSorted()).toEqual(activeJobFiles);
}

test("kills in one job, in its phases and of every party: the files of an undisturbed job", async () => {
  const { active, passives } = await world.restartable("job", sameOutput("crashing"));
  const all = [active, ...passives];
  const byName = (name: string): RestartedProcess => all.find((process) => process.name === name) ?? active;
  const predictions = world.path(world.bank, "job", "predictions.csv", "crashing");

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
  await expectVerified();
  expect(active.saidEver).toMatch(/resumes after \d of 8 trees/);
  expect(active.saidEver).toMatch(/trying again in/);
});

test.runIf(isCampaign)(
  "full disks, at one party after the other: each reports it, and the job resumes from its checkpoint",
  async () => {
    const { active, passives } = await world.restartable("job", sameOutput("full"));
    const [shop0, shop1] = passives;
    const fullDisk = onFullDisk(1);
    shop0.start({ through: fullDisk });
    shop1.start();
    active.start();
    expect(await active.ended()).toBe(2);
    expect(active.said).toMatch(/shop0 has trouble with its own files\. Its log says what \(FILE_UNWRITABLE\)/);
    expect(shop0.said).toMatch(/shop0\/full\/job\/\S+ cannot be written \(EFBIG\)/);
    await shop0.kill();
    shop0.start();
    active.start({ through: fullDisk });
    expect(await active.ended()).toBe(2);
    expect(active.said).toMatch(/bank\/full\/job\/\S+ cannot be written \(EFBIG\) \(FILE_UNWRITABLE\)/);
    active.start();
    expect(await active.ended(), active.said).toBe(0);
    expectUndisturbedFiles("full");
  },
);
