/**
 * Several jobs of two banks at one passive party, at once and in turn: every model is that of the same job alone,
 * whatever is lost or killed in between, and no bank learns anything about the other.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { diskStorage } from "../src/base/files/storage.ts";
import { SeededRandom } from "../src/base/random.ts";
import { runAlignment } from "../src/party/active/run.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import { RequestDecisions } from "../src/party/approvals/request-decisions.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { readRequests } from "../src/store/request-file.ts";
import { isCampaign, seedCount } from "./support/campaign.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople, shuffled } from "./world/people.ts";
import { type ActiveChanges, type Company, foundCompany, type ProcessWorld } from "./world/processes.ts";
import { startProxy } from "./world/proxy.ts";
import { freePort, RestartedProcess, until } from "./world/tandem-process.ts";

const worlds = testWorlds();
const people = makePeople(220, "several");
let world: ProcessWorld;
let rival: Company;
let expected: readonly (readonly string[])[];

interface Job {
  readonly name: string;
  readonly active: () => Company;
  readonly changes: ActiveChanges;
}

/** Of two banks; the third with a scheme that hides members. */
const jobs: readonly Job[] = [
  { name: "spring", active: () => world.bank, changes: { training: { num_round: 5, max_depth: 3 } } },
  { name: "summer", active: () => world.bank, changes: { training: { num_round: 4, max_depth: 2, seed: 5 } } },
  {
    name: "winter",
    active: () => rival,
    changes: {
      scheme: "curve",
      insecure_key_bits: undefined,
      training: { num_round: 4, max_depth: 3, subsample: 0.8 },
    },
  },
];

const impatient: ActiveWorld = {
  ...realWorld,
  partners: async () => {}, // parties may be down
  sleep: (ms) => realWorld.sleep(ms / 10),
};

const policy = { schemes: ["paillier", "curve"] };

function outputsOf({ name, active }: Job, directory: string): string[] {
  const own = (file: string): string => world.read(active(), name, file, directory);
  return [own("share.json"), own("predictions.csv"), world.read(world.shop, name, "share.json", directory)];
}

function run(job: Job, directory: string, port?: number): Promise<PartyEvent[]> {
  return world.train(
    job.name,
    { ...job.changes, output: { directory } },
    {
      active: job.active(),
      file: `${job.name}-${directory}.json`,
      surroundings: impatient,
      ...(port === undefined ? {} : { ports: { shop: port } }),
    },
  );
}

const passive = (directory: string, jobsMax: number) => ({
  output: { directory },
  policy: { ...policy, max_jobs: jobsMax },
});
const actives = () => [world.bank, rival];

beforeAll(async () => {
  world = await worlds.found({
    bank: { people: shuffled(people.slice(0, 200), "bank"), columns: [0, 1] },
    shop: { people: shuffled(people.slice(20), "shop"), columns: [2, 3] },
  });
  rival = await foundCompany(world.root, "rival", { people: people.slice(10, 210), columns: [1] }, "active");
  await world.start(world.shop, passive("alone", 1), { actives: actives() });
  for (const job of jobs) await run(job, "alone");
  expected = jobs.map((job) => outputsOf(job, "alone"));
});

test("three jobs of two banks at once: each has the model that it has alone, and a record of its own", async () => {
  const party = await world.start(world.shop, passive("at once", 3), { actives: actives() });
  const events = await Promise.all(jobs.map((job) => run(job, "at once")));
  expect(jobs.map((job) => outputsOf(job, "at once"))).toEqual(expected);
  const running = party.events.flatMap((event) => (event.type === "occupancy" ? [event.running] : []));
  expect(Math.max(...running)).toBe(3);
  expect(running.at(-1)).toBe(0);
  expect(events.flat().some(({ type }) => type === "queued" || type === "waiting")).toBe(false);
  for (const [i, { name, active }] of jobs.entries()) {
    const record = world.read(world.shop, name, "events.jsonl", "at once");
    const lines = record
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect([...new Set(lines.map(({ job }) => job))]).toEqual([name]);
    expect(lines.filter(({ type }) => type === "passive-tree")).toHaveLength([5, 4, 4][i]);
    expect(lines.every(({ peer = active().name }) => peer === active().name)).toBe(true);
    const own = world.read(world.shop, name, "own.jsonl", "at once");
    expect(own.match(/"kind":"own-splits"/g)).toHaveLength([5, 4, 4][i]);
  }
});

test("one after the other: the banks alternate, learn their places, and nothing about each other", async () => {
  const party = await world.start(world.shop, passive("in turn", 1), { actives: actives() });
  const [spring, summer, winter] = jobs;
  const first = run(spring, "in turn");
  await party.seen("passive-tree");
  const second = run(summer, "in turn");
  await party.seen("job-waits");
  const third = run(winter, "in turn");
  const [, ofSecond, ofThird] = await Promise.all([first, second, third]);
  expect(jobs.map((job) => outputsOf(job, "in turn"))).toEqual(expected);
  const ended = party.events.flatMap((event) => (event.type === "job-ended" ? [event.job] : []));
  expect(ended).toEqual(["spring", "winter", "summer"]);
  const placesOf = (events: readonly PartyEvent[]): string[] =>
    events.flatMap((event) => (event.type === "queued" ? [`${event.place}/${event.waiting}`] : []));
  expect(placesOf(ofSecond)).toEqual(["1/1", "2/2", "1/1", "0/0"]);
  expect(placesOf(ofThird)).toEqual(["1/2", "0/1"]);
  expect(JSON.stringify(ofThird)).not.toMatch(/bank|spring|summer/);
  expect(JSON.stringify(ofSecond)).not.toMatch(/rival|winter/);
});

test("an alignment and a job of one config do not disturb each other", async () => {
  const party = await world.start(world.shop, passive("both", 3), { actives: actives() });
  const [spring] = jobs;
  const training = run(spring, "both");
  await party.seen("passive-tree");
  const config = await world.activeConfig("spring", { output: { directory: "both" } });
  const { path, aligned } = await runAlignment(config, undefined, () => {});
  expect(path).toMatch(/both\/spring-alignment\/aligned\.csv$/);
  expect(aligned.rows).toHaveLength(180);
  const events = await training;
  expect(outputsOf(spring, "both")).toEqual(expected[0]);
  expect(events.some(({ type }) => type === "waiting" || type === "queued")).toBe(false);
});

test("two banks choose the same name: the second is refused, and the first continues", async () => {
  const party = await world.start(world.shop, passive("same name", 3), { actives: actives() });
  const [spring, , winter] = jobs;
  const training = run(spring, "same name");
  await party.seen("passive-tree");
  const thief = { ...winter, name: "spring" };
  await expectError(() => run(thief, "same name"), "HANDSHAKE_MISMATCH", /with another active party; choose another/);
  await training;
  expect(outputsOf(spring, "same name")).toEqual(expected[0]);
});

test("a job that the memory bound can never hold is refused; one that it cannot hold now waits", async () => {
  const tight = { ...passive("memory", 3), policy: { ...policy, max_jobs: 3, max_jobs_megabytes: 40 } };
  const party = await world.start(world.shop, tight, { actives: actives() });
  await Promise.all([run(jobs[0], "memory"), run(jobs[2], "memory")]);
  expect([outputsOf(jobs[0], "memory"), outputsOf(jobs[2], "memory")]).toEqual([expected[0], expected[2]]);
  const running = party.events.flatMap((event) => (event.type === "occupancy" ? [event.running] : []));
  expect(Math.max(...running)).toBe(1);
  await world.start(world.shop, { ...tight, policy: { ...policy, max_jobs_megabytes: 20 } }, { actives: actives() });
  await expectError(() => run(jobs[1], "memory"), "POLICY", /max_jobs_megabytes: about \d+ needed, 20 allowed/);
});

test("connections of three jobs are cut at random moments", async () => {
  const party = await world.start(world.shop, passive("cut", 3), { actives: actives() });
  const proxy = await startProxy(party.port);
  onTestFinished(() => proxy.close());
  const random = new SeededRandom("cuts of several jobs");
  const training = { isOver: false };
  const cutting = (async (): Promise<void> => {
    for (let cuts = 0; cuts < 4 && !training.isOver; cuts++) {
      await new Promise((resolve) => setTimeout(resolve, 150 + 400 * random.uniform()));
      proxy.cut();
    }
  })();
  await Promise.all(jobs.map((job) => run(job, "cut", proxy.port)));
  training.isOver = true;
  await cutting;
  expect(jobs.map((job) => outputsOf(job, "cut"))).toEqual(expected);
});

/** The party is killed when a number of trees of all jobs are grown. */
const seeds = Array.from({ length: seedCount({ test: 1, campaign: 20 }) }, (_, seed) => seed);

test.each(seeds)("seed %i: the party is killed and restarted with three jobs under way", async (seed) => {
  const directory = `killed-${seed}`;
  const random = new SeededRandom(`kills of several jobs ${seed}`);
  const port = await freePort();
  const changes = { ...passive(directory, 3), listen: { host: "127.0.0.1", port } };
  const config = world.writePassive(world.shop, changes, `${directory}.json`, { actives: actives() });
  const shop = new RestartedProcess("shop", "party", "-c", config);
  onTestFinished(() => shop.kill());
  await shop.start().port();
  let trees = 0;
  const training = jobs.map((job) =>
    world.train(
      job.name,
      { ...job.changes, output: { directory }, patience_seconds: 120 },
      {
        active: job.active(),
        file: `${job.name}-${directory}.json`,
        surroundings: impatient,
        ports: { shop: port },
        onEvent: ({ type }) => void (trees += type === "tree" ? 1 : 0),
      },
    ),
  );
  const all = Promise.all(training);
  for (let kill = 0; kill < (isCampaign ? 3 : 2); kill++) {
    const at = 1 + 4 * kill + random.below(4);
    await Promise.race([until(`${at} trees are grown`, () => trees >= at), all]);
    await shop.kill();
    await shop.start().port();
  }
  await all;
  expect(jobs.map((job) => outputsOf(job, directory))).toEqual(expected);
  rmSync(world.path(world.shop, "", "", directory), { recursive: true });
});

/** Kills at random moments: of jobs that wait for approval, that are approved just now, and that train. */
const approvalSeeds = Array.from({ length: seedCount({ test: 1, campaign: 40 }) }, (_, seed) => seed);
const killsPerSeed = isCampaign ? 5 : 2;

test.each(approvalSeeds)(
  "seed %i: the party is killed while jobs wait for approval, and while they run",
  async (seed) => {
    const directory = `approved-${seed}`;
    const random = new SeededRandom(`kills of approved jobs ${seed}`);
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    const port = await freePort();
    const changes = passive(directory, 3);
    const config = world.writePassive(
      world.shop,
      { ...changes, policy: { ...changes.policy, approval: "required" }, listen: { host: "127.0.0.1", port } },
      `${directory}.json`,
      { actives: actives() },
    );
    const output = join(world.shop.folder, directory);
    const decisions = new RequestDecisions({ party: "shop", directory: output, config: "0".repeat(64), days: 7 });
    const shop = new RestartedProcess("shop", "party", "-c", config);
    onTestFinished(() => shop.kill());
    await shop.start().port();
    const state = { isOver: false };
    const training = Promise.all(
      jobs.map((job) =>
        world.train(
          job.name,
          { ...job.changes, output: { directory }, patience_seconds: 3600 },
          {
            active: job.active(),
            file: `${job.name}-${directory}.json`,
            surroundings: impatient,
            ports: { shop: port },
          },
        ),
      ),
    ).finally(() => (state.isOver = true));
    const deciding = (async (): Promise<void> => {
      for (; !state.isOver; await pause(100))
        for (const { id, standing } of await decisions.list())
          if (standing === "waiting" && random.uniform() < 0.2)
            await decisions.approve(id, { who: "alice", via: "command" });
    })();
    for (let kill = 0; kill < killsPerSeed && !state.isOver; kill++) {
      await pause(300 + 1500 * random.uniform());
      await shop.kill();
      await shop.start().port();
    }
    await training;
    await deciding;
    expect(jobs.map((job) => outputsOf(job, directory))).toEqual(expected);
    const uses = (await readRequests(output, diskStorage)).flatMap((request) => request.uses);
    expect(new Set(uses.map(({ approval }) => approval)).size, "each approval is used once").toBe(uses.length);
    expect(uses).toHaveLength((await decisions.actions()).length);
    rmSync(output, { recursive: true });
  },
);
