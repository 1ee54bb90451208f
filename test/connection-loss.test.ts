/**
 * Real TLS connections that break in the middle of a message, or go silent: the job resumes and ends with the same
 * result.
 */
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { runActive } from "../src/party/active/run.ts";
import { readIdentity } from "../src/party/identity.ts";
import { connectTls } from "../src/transport/tls-connect.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople, shuffled } from "./world/people.ts";
import type { ActiveChanges, ProcessWorld } from "./world/processes.ts";
import { type Trouble, startProxy } from "./world/proxy.ts";

const worlds = testWorlds();
const people = makePeople(500, "loss");
let world: ProcessWorld;
let expected: readonly string[];

beforeAll(async () => {
  world = await worlds.found(
    {
      bank: { people: shuffled(people.slice(0, 460), "bank"), columns: [0, 1] },
      shop: { people: shuffled(people.slice(30), "shop"), columns: [2, 3, 4] },
    },
    { active: { training: { num_round: 3 }, insecure_key_bits: 512 } },
  );
  const output = { directory: "undisturbed" };
  await world.start(world.shop, { output });
  await world.train("j", { output });
  expected = world.outputs("j", "undisturbed");
});

/**
 * Heartbeats and waits are shortened for the test; events state the real durations.
 */
const watchful: ActiveWorld = {
  ...realWorld,
  partners: async () => {}, // the first connection is the job's
  sleep: (ms) => realWorld.sleep(ms / 20),
  connect: async ({ tls, passives }, watchOf) => {
    const identity = await readIdentity(tls);
    return passives.map((passive) =>
      connectTls(passive.name, identity, passive.fingerprint, passive.channel, {
        pingIntervalMs: 300,
        pingTimeoutMs: 700,
        watch: watchOf(passive.name),
      }),
    );
  },
};

async function runThrough(
  name: string,
  troubles: readonly Trouble[],
): Promise<{ connections: number; events: PartyEvent[] }> {
  const output = { directory: name };
  const party = await world.start(world.shop, { output });
  const way = await startProxy(party.port, troubles);
  onTestFinished(() => way.close());
  const events = await world.train("j", { output }, { surroundings: watchful, ports: { shop: way.port } });
  expect(world.outputs("j", name)).toEqual(expected);
  return { connections: way.connections(), events };
}

/** From the handshake through PSI into the trees; the exact place depends on TLS and does not matter. */
const places = {
  "to passive": [3000, 6000, 12_000, 18_000, 26_000, 40_000, 60_000],
  "to active": [1500, 3000, 6000, 12_000, 16_000, 20_000, 24_000],
};

describe.each(["to passive", "to active"] as const)("%s", (direction) => {
  test("cut after a number of bytes, repeatedly", async () => {
    const troubles = places[direction].map((bytes): Trouble => ({ kind: "cut", direction, bytes }));
    const { connections, events } = await runThrough(`cut ${direction}`, troubles);
    expect(connections).toBe(troubles.length + 1);
    expect(events.filter((event) => event.type === "waiting")).toHaveLength(troubles.length);
  });

  test("silent after a number of bytes", async () => {
    const troubles = places[direction].slice(3, 5).map((bytes): Trouble => ({ kind: "silence", direction, bytes }));
    const { connections } = await runThrough(`silent ${direction}`, troubles);
    expect(connections).toBe(3);
  });

  test("a flipped bit in a TLS record is reported as a lost connection, not as a wrong certificate", async () => {
    const troubles = places[direction].slice(2).map((bytes): Trouble => ({ kind: "noise", direction, bytes }));
    const { connections, events } = await runThrough(`noise ${direction}`, troubles);
    expect(connections).toBe(troubles.length + 1);
    const waits = events.filter((event) => event.type === "waiting");
    expect(waits.map(({ code }) => code)).toEqual(troubles.map(() => "PARTY_LOST"));
  });
});

test("patience_seconds expires: the job stops with an error that says how to resume it, and it resumes", async () => {
  const output = { directory: "impatient" };
  const party = await world.start(world.shop, { output });
  const forever = Array.from({ length: 100 }, (): Trouble => ({ kind: "cut", direction: "to passive", bytes: 100 }));
  const way = await startProxy(party.port, [{ kind: "cut", direction: "to passive", bytes: 40_000 }, ...forever]);
  onTestFinished(() => way.close());
  await expectError(
    () =>
      world.train(
        "j",
        { output, patience_seconds: 1 },
        { surroundings: { ...realWorld, partners: async () => {} }, ports: { shop: way.port } },
      ),
    "PARTY_LOST",
    /party shop.*gave up after waiting for \d s: the same command continues the job/,
  );
  await world.train("j", { output });
  expect(world.outputs("j", "impatient")).toEqual(expected);
});

/** Waiting is only counted. */
function hurried(): {
  surroundings: ActiveWorld;
  emit: (event: PartyEvent) => void;
  waits: PartyEvent[];
  waitedMs: () => number;
} {
  const waits: PartyEvent[] = [];
  let sleptMs = 0;
  const sleep = (ms: number): Promise<void> => ((sleptMs += ms), Promise.resolve());
  return {
    surroundings: { ...realWorld, sleep, now: () => sleptMs },
    emit: (event) => void (event.type === "waiting" && waits.push(event)),
    waits,
    waitedMs: () => sleptMs,
  };
}

describe("before a party has answered", () => {
  const knock = (changes: ActiveChanges, job: string) => world.activeConfig(job, changes, { ports: { shop: 1 } });

  test.each([
    ["half a minute", {}, 30],
    ["patience_seconds", { patience_seconds: 300 }, 300],
    ["no time at all with patience_seconds 0", { patience_seconds: 0 }, 0],
  ])(
    "the connection is retried for %s, and the first failure is reported at once",
    async (_words, patience, seconds) => {
      const { surroundings, emit, waits, waitedMs } = hurried();
      await expectError(
        async () => runActive(await knock(patience, `nowhere-${seconds}`), emit, surroundings),
        "PARTY_LOST",
        /^party shop cannot be reached at 127\.0\.0\.1:1: nothing listens at 127\.0\.0\.1:1, where shop should/,
      );
      expect(waitedMs()).toBeLessThanOrEqual(seconds * 1000);
      expect(waitedMs()).toBeGreaterThanOrEqual(seconds * 1000 - 10_000);
      if (seconds > 0) expect(waits[0]).toMatchObject({ leftMs: seconds * 1000 });
    },
  );

  test("a host name that does not exist fails at once, whatever patience_seconds is", async () => {
    const { surroundings, emit, waitedMs } = hurried();
    const lost = Object.assign(new Error("getaddrinfo ENOTFOUND no-such-host"), { code: "ENOTFOUND" });
    const unresolved: ActiveWorld = {
      ...surroundings,
      connect: () => Promise.reject(new TandemError("PARTY_LOST", "party shop cannot be reached", { cause: lost })),
    };
    await expectError(
      async () => runActive(await knock({ patience_seconds: 86_400 }, "unresolved"), emit, unresolved),
      "PARTY_LOST",
      /gave up after waiting for \d s$/,
    );
    expect(waitedMs()).toBeLessThanOrEqual(3000);
  });

  test("a party that is started late is found", async () => {
    const output = { directory: "late" };
    const place = await world.start(world.shop, { output });
    await place.stop();
    let knocks = 0;
    const surroundings: ActiveWorld = {
      ...watchful,
      connect: async (config, watchOf) => {
        if (++knocks === 4) {
          const listen = { host: "127.0.0.1", port: place.port };
          await world.start(world.shop, { output, listen });
        }
        return watchful.connect(config, watchOf);
      },
    };
    const events = await world.train("j", { output }, { surroundings });
    expect(events.filter(({ type }) => type === "waiting")).toHaveLength(3);
    expect(world.outputs("j", "late")).toEqual(expected);
  });
});
