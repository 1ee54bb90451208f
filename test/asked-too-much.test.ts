/**
 * Parties over real TLS, one of which exceeds its limits: an active party that guesses thousands of ids by scoring, PSI
 * and attempts, and a passive party whose table consists of guessed ids.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { hashDomain, hashToCurve } from "../src/psi/hash-to-curve.ts";
import { runActive } from "../src/party/active/run.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import type { Experiment } from "../src/party/experiment.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { readPassiveShare } from "../src/store/share-files.ts";
import { Alignment } from "../src/wire/generated/tandem/v1/alignment_pb.ts";
import { Scoring } from "../src/wire/generated/tandem/v1/scoring_pb.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { makePeople } from "./world/people.ts";
import { expectError } from "./support/expect-error.ts";
import { rawClient } from "./support/raw-client.ts";
import { collect, one } from "./support/streams.ts";
import { testWorlds, type TrainedWorld, TrainedWorlds } from "./support/test-worlds.ts";

const worlds = new TrainedWorlds();
const guessing = testWorlds();
const dayMs = 86_400_000;
type Daily = NonNullable<Experiment["dailyLimits"]>;

/** Trained parties; the passive one has these daily limits and a clock that can be set. */
async function limited(daily: Daily): Promise<{
  readonly world: TrainedWorld;
  readonly clock: { now: number };
  /** Restarts the passive party. */
  restart(changed?: Daily): Promise<void>;
}> {
  const world = await worlds.restarted(1);
  const clock = { now: Date.UTC(2100, 5, 15, 12) };
  const restart = async (changed: Daily = daily): Promise<void> => {
    const { ids, ...dailyLimits } = changed;
    const policy = { budget: { daily: { ids } } };
    await world.start(world.shop, { policy }, { now: () => clock.now, experiment: { dailyLimits } });
  };
  await restart();
  return { world, clock, restart };
}

/** Asks by scoring which ids the passive party knows. @returns how many, or the refusal */
async function oracle(world: TrainedWorld, guesses: readonly string[]): Promise<number | string> {
  const { model } = await readPassiveShare(join(world.shops[0].folder, "jobs", "spring", "share.json"));
  const client = rawClient(Scoring, world.bank, world.parties[0].port);
  return client.score({ protocolVersion, model, ids: [...guesses], unknownAsMissing: true }).then(
    ({ known }) => known.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0),
    (error: unknown) => String(error),
  );
}

const guesses = (count: number): string[] => Array.from({ length: count }, (_, i) => `zq${1000 + i}x`);

/** One PSI with points of guessed ids, up to the masked ids. */
async function aligned(client: Client<typeof Alignment>, count: number, job: string): Promise<number> {
  await client.begin({ protocolVersion, job, hashDomain, normalisations: [], activeIdCount: count });
  const points = new Uint8Array(32 * count);
  for (let i = 0; i < count; i++) hashToCurve(`guess ${i}`, points, 32 * i);
  await collect(client.remask(one({ sequence: 0, points })));
  const answers = await collect(client.maskedIds({}));
  return answers.reduce((sum, { points: { length } }) => sum + length / 32, 0);
}

test("scoring as an oracle for ids ends at the daily limit, across restarts and changes of the clock", async () => {
  const { world, clock, restart } = await limited({ ids: 1000 });
  expect(await oracle(world, guesses(400))).toBe(210);
  expect(await oracle(world, guesses(400))).toBe(210);
  const refused = /ids: 800 used, 400 requested, 1000 allowed; it resets at 2100-06-16 00:00 UTC/;
  expect(await oracle(world, guesses(400))).toMatch(refused);
  expect((await world.parties[0].seen("alarm")).words).toMatch(
    /budget\.daily\.ids is nearly used up: 800 of 1000 requested ids/,
  );
  clock.now -= 3 * dayMs;
  expect(await oracle(world, guesses(400))).toMatch(refused);
  await restart();
  expect(await oracle(world, guesses(400))).toMatch(/ids: 8\d\d used, 400 requested/);
  clock.now += 4 * dayMs;
  expect(await oracle(world, guesses(400))).toBe(210);
});

test("the default limit for a small table is 10,000 ids a day", async () => {
  const { world } = await limited({});
  expect(await oracle(world, guesses(10_000))).toBe(210);
  expect(await oracle(world, guesses(1))).toMatch(/ids: 10000 used, 1 requested, 10000 allowed/);
});

test("PSI counts towards the limit of ids and one of its own; refused before a point is answered", async () => {
  const { world } = await limited({ ids: 1000, alignments: 3 });
  const client = rawClient(Alignment, world.bank, world.parties[0].port);
  for (let time = 0; time < 3; time++) expect(await aligned(client, 100, `job${time}`)).toBe(210);
  await expect(aligned(client, 100, "more")).rejects.toThrow(/alignments: 3 used, 1 requested, 3 allowed/);
  expect(await oracle(world, guesses(701))).toMatch(/ids: 300 used, 701 requested/);
  expect(await oracle(world, guesses(700))).toBe(210);
});

test("a PSI that only begins reveals nothing, and counts as an attempt but not as a PSI", async () => {
  const { world } = await limited({ alignments: 1, attempts: 6 });
  const begin = (client: Client<typeof Alignment>) =>
    client.begin({ protocolVersion, job: "j", hashDomain, normalisations: [], activeIdCount: 1 });
  const client = rawClient(Alignment, world.bank, world.parties[0].port);
  for (let time = 0; time < 5; time++) await begin(client);
  expect(await aligned(client, 1, "j")).toBe(210);
  await expect(begin(client)).rejects.toThrow(/attempts: 6 used, 1 requested, 6 allowed/);
});

test("jobs and nodes are limited per day; a refused job starts on the next day", async () => {
  const { world, clock, restart } = await limited({ jobs: 1 });
  await world.train("summer");
  const autumn = await world.activeConfig("autumn");
  await expectError(() => runActive(autumn, () => {}), "POLICY", /jobs: 1 used, 1 requested, 1 allowed/);
  clock.now += dayMs;
  await runActive(autumn, () => {});
  await restart({ histogram_requests: 5 });
  await expectError(
    () => world.train("winter"),
    "POLICY",
    /does not allow this node today: .*histogram_requests: \d+ used, 1 requested, 5 allowed/,
  );
});

test("the daily counts are in the job's record, and their file can be removed", async () => {
  const { world, restart } = await limited({ jobs: 1, ids: 5000 });
  await world.train("summer");
  await world.parties[0].seen("job-ended");
  const budget = world.parties[0].events.findLast(({ type }) => type === "budget");
  expect(budget).toMatchObject({
    today: { day: "2100-06-15", used: { jobs: 1, alignments: 1, attempts: 3 }, limits: { jobs: 1, ids: 5000 } },
  });
  const partners = join(world.shops[0].folder, "jobs", ".partners");
  await world.parties[0].stop();
  const files = readdirSync(partners).sort();
  expect(files).toHaveLength(2);
  for (const file of files) expect(readFileSync(join(partners, file), "utf8")).toContain('"active":"bank"');
  const day = files.find((file) => file.endsWith(".day.json")) ?? expect.fail("no file of the day");
  rmSync(join(partners, day));
  await restart();
  await world.train("autumn");
});

test("an active party that accepts other positions than the common ones gets no job with them", async () => {
  const world = await worlds.restarted(1);
  async function* first(count: number): AsyncGenerator<Uint32Array> {
    yield Uint32Array.from({ length: count }, (_, position) => position);
  }
  const cheating: ActiveWorld = {
    ...realWorld,
    connect: async (config, watchOf) =>
      (await realWorld.connect(config, watchOf)).map((peer) => ({
        ...peer,
        alignment: (job, validationFile) => {
          const honest = peer.alignment(job, validationFile);
          return { ...honest, accept: (count, _positions, options) => honest.accept(count, first(count), options) };
        },
      })),
  };
  const [party] = world.parties;
  const config = await world.activeConfig("others");
  await expectError(() => runActive(config, () => {}, cheating), "ID_MISMATCH", /does not hold the same ids/);
  expect((await party.seen("aligned")).commonCount).toBe(180);
  expect(party.events.map(({ type }) => type)).not.toContain("passive-tree");
});

test("a passive party with a table of guessed ids: refused before a masked id, or an alarm", async () => {
  const guessed = makePeople(900, "guesses");
  const world = await guessing.found({
    bank: { people: guessed.slice(0, 30), columns: [0] },
    shop: { people: guessed, columns: [1] },
  });
  const party = await world.start(world.shop);
  const attempt = async (job: string, changes: object): Promise<PartyEvent[]> => {
    const events: PartyEvent[] = [];
    await world
      .train(job, changes, { onEvent: (event) => events.push(event) })
      .catch((error: unknown) =>
        events.push({ type: "error", party: "bank", code: "INTERNAL", message: String(error) }),
      );
    return events;
  };
  const bounded = await attempt("bounded", { max_passive_ids: 899 });
  expect(bounded.find(({ type }) => type === "error")).toMatchObject({
    message: expect.stringMatching(/shop brings 900 ids; at most 899 are allowed here \(max_passive_ids\)/),
  });
  // No id was masked, and the passive party's PSI ended before it received any.
  expect(bounded.map(({ type }) => type)).not.toContain("alignment-progress");
  expect((await party.seen("refused")).message).toMatch(/gone/);
  expect(party.events.map(({ type }) => type)).not.toContain("aligned");

  const alarms = (await attempt("allowed", {})).flatMap((event) => (event.type === "alarm" ? [event] : []));
  expect(alarms.map(({ peer }) => peer)).toEqual(["shop", "shop"]);
  expect(alarms[0].words).toMatch(/brings 900 ids, more than 20 times the 30 of this party/);
  expect(alarms[1].words).toMatch(/holds all 30 ids of this party, among 900/);
});
