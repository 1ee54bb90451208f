/**
 * Passive parties that keep their connection and answer pings, but no call: the active party reports that it waits, and
 * gives up in time. The services are real, over TLS; the active party's clock runs faster.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runAlignment } from "../src/party/active/run.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import { readIdentity } from "../src/party/identity.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { diagnosisRoutes } from "../src/transport/diagnosis-service.ts";
import { listenTls } from "../src/transport/tls-listen.ts";
import { Admission } from "../src/wire/generated/tandem/v1/admission_pb.ts";
import { Alignment } from "../src/wire/generated/tandem/v1/alignment_pb.ts";
import { Scoring } from "../src/wire/generated/tandem/v1/scoring_pb.ts";
import { PassiveParty } from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import type { ActiveChanges, ProcessWorld } from "./world/processes.ts";

const worlds = testWorlds();
const people = makePeople(300, "silent");
let world: ProcessWorld;
beforeAll(async () => {
  world = await worlds.found({ bank: { people, columns: [0, 1] }, shop: { people, columns: [2, 3] } });
});

const never = (): Promise<never> => new Promise(() => {});
/** An hour is half a minute. */
const speed = 120;
const fast: ActiveWorld = {
  ...realWorld,
  now: () => speed * performance.now(),
  alarm: (ms, ring) => realWorld.alarm(ms / speed, ring),
  sleep: (ms) => realWorld.sleep(ms / speed),
};

/** A passive party with these handlers. */
async function serving(
  routes: (router: ConnectRouter) => void,
): Promise<{ readonly ports: { readonly shop: number } }> {
  const { bank, shop } = world;
  const identity = await readIdentity({
    certificate: join(shop.folder, "certificate.pem"),
    key: join(shop.folder, "key.pem"),
  });
  const admitting = (router: ConnectRouter): void => {
    router.service(Admission, {
      request: async function* () {
        yield { place: 0 };
      },
    });
    diagnosisRoutes({ name: "shop", checkTable: () => Promise.resolve() })(router);
    routes(router);
  };
  const server = await listenTls(
    { routes: admitting },
    identity,
    [{ name: "bank", fingerprints: [bank.fingerprint] }],
    {
      host: "127.0.0.1",
      port: 0,
    },
  );
  onTestFinished(() => server.close());
  return { ports: { shop: server.port } };
}

/** Any commitment, and the pinned certificate. */
function introduction(): { readonly commitment: Uint8Array; readonly certificate: Uint8Array } {
  const certificate = new X509Certificate(readFileSync(join(world.shop.folder, "certificate.pem"))).raw;
  return { commitment: new Uint8Array(32), certificate: Uint8Array.from(certificate) };
}

/** Joins, sends heartbeats at this interval (0: none), and otherwise has the test's handlers. */
function party(beatMs: number, more: Partial<ServiceImpl<typeof PassiveParty>>) {
  return (router: ConnectRouter) =>
    void router.service(PassiveParty, {
      async *join(_hello, { signal }) {
        yield { protocolVersion, passiveName: "shop", featureCount: 2, ...introduction() };
        while (!signal.aborted) {
          await (beatMs === 0 ? never() : new Promise((resolve) => setTimeout(resolve, beatMs)));
          yield { working: true };
        }
      },
      setUp: () => Promise.resolve({ candidateCount: 4 }),
      ...more,
    });
}

async function train(
  routes: (router: ConnectRouter) => void,
  changes: ActiveChanges,
): Promise<{ events: PartyEvent[]; message: string }> {
  const events: PartyEvent[] = [];
  const run = { ...(await serving(routes)), onEvent: (event: PartyEvent) => events.push(event), surroundings: fast };
  const { message } = await expectError(
    () => world.train(`job-${jobs++}`, { align: false, ...changes }, run),
    "PARTY_LOST",
    /party shop/,
  );
  return { events, message };
}
let jobs = 0;

const unanswered = (events: readonly PartyEvent[]) => events.filter((event) => event.type === "unanswered");

describe("training", () => {
  test.each([
    ["set-up", { setUp: never }],
    ["gradients that it does not even read", { gradients: never }],
    [
      "gradients that it has read",
      { gradients: async (chunks: AsyncIterable<unknown>) => (await drained(chunks), never()) },
    ],
    [
      "histograms",
      { gradients: async (chunks: AsyncIterable<unknown>) => (await drained(chunks), {}), histograms: silence },
    ],
  ])(
    "a party that does not answer %s is reported first, and given up after patience_seconds",
    async (_call, answers) => {
      const { events, message } = await train(party(0, answers), { patience_seconds: 150 });
      expect(message).toMatch(/has not answered for \d+ s, nor said that it works; gave up after waiting for \d+ s/);
      const said = unanswered(events);
      expect(said.length).toBeGreaterThan(1);
      expect(said.length).toBeLessThan(9);
      expect(said.at(-1)).toMatchObject({ party: "bank", peer: "shop", isWorking: false });
      expect(said.at(-1)?.waitedMs).toBeGreaterThan(2 * (said.at(-2)?.waitedMs ?? Infinity));
    },
  );

  test("a party that sends heartbeats is waited for beyond patience_seconds, up to call_seconds", async () => {
    const { events, message } = await train(party(10, { setUp: never }), { patience_seconds: 1, call_seconds: 300 });
    expect(message).toMatch(/says that it works, and has not answered a call for \d+ s; call_seconds allows more/);
    expect(unanswered(events)).toContainEqual(expect.objectContaining({ peer: "shop", isWorking: true }));
    expect(unanswered(events).length).toBeLessThan(6);
  });

  test("a party that does not answer join", async () => {
    const { message } = await train(party(0, { join: silence }), { patience_seconds: 150 });
    expect(message).toMatch(/has not answered for \d+ s/);
  });

  test("a small patience_seconds does not give up a party that is silent for less than a minute", async () => {
    const slowly = { setUp: () => new Promise<never>((_, reject) => setTimeout(() => reject(new Error("slow")), 200)) };
    const { message } = await train(party(0, slowly), { patience_seconds: 1 });
    expect(message).toMatch(/internal/);
  });
});

test("PSI with a party that does not answer ends as well", async () => {
  const events: PartyEvent[] = [];
  const routes = (router: ConnectRouter): void =>
    void router.service(Alignment, { begin: () => ({ passiveIdCount: 300 }), remask: silence, maskedIds: silence });
  const config = await world.activeConfig("aligned", { patience_seconds: 150 }, await serving(routes));
  await expectError(
    () => runAlignment(config, join(world.root, "aligned.csv"), (event) => events.push(event), fast),
    "PARTY_LOST",
    /party shop has not answered for \d+ s/,
  );
  expect(unanswered(events).length).toBeGreaterThan(0);
});

test("scoring with a party that does not answer times out as well", async () => {
  await world.start(world.shop);
  await world.train("scored");
  const mute = await serving(
    (router) =>
      void router.service(Scoring, {
        score: never,
        maskOpen: never,
        maskStep: never,
        tags: never,
        contributions: never,
      }),
  );
  const config = await world.activeConfig("scored", {}, mute);
  const options = {
    model: "scored",
    input: join(world.bank.folder, "data.csv"),
    output: join(world.root, "scores.csv"),
    unknown: "refuse",
    onProgress: () => {},
  } as const;
  await expectError(() => runPredict(config, options), "PARTY_LOST", /party shop did not answer in time/);
});

async function drained(items: AsyncIterable<unknown>): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  while ((await iterator.next()).done !== true);
}

// oxlint-disable-next-line require-yield
async function* silence(): AsyncGenerator<never> {
  await never();
}
