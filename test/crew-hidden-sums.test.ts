/**
 * A passive party's rows with `tandem worker` processes over nats-server, in jobs that hide sums or limit what outcomes
 * reveal: the model is that of the joined table, bit for bit.
 */
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { scratchDirectory } from "./support/command.ts";
import { isCampaign } from "./support/campaign.ts";
import { onePlaceModel } from "./support/joined-tables.ts";
import { natsProgram } from "./support/nats-server.ts";
import { bankAndShops, testWorlds } from "./support/test-worlds.ts";
import { type CrewHome, makeCrewHome } from "./world/crews/crew-home.ts";
import { makePeople } from "./world/people.ts";
import type { ActiveChanges, Company, PassiveChanges, ProcessWorld } from "./world/processes.ts";
import { TandemProcess } from "./world/tandem-process.ts";

const worlds = testWorlds();
const stops: (() => unknown)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

/** The shortest and smallest that a config allows. */
const section = { block_rows: 256, lease_seconds: 2, store: "memory", workers_min: 2 } as const;
const people = makePeople(600, "crews with hidden sums");

/** A bank that holds people 0 to 499, and shops that hold 30 to 589 or fewer. */
function holdings(shopCount: number): Parameters<typeof worlds.found>[0] {
  const { bank, ...shops } = bankAndShops(shopCount, people);
  const all = Object.entries(shops).map(([name, holding]) => [
    name,
    "columns" in holding ? { ...holding, people: people.slice(30).toReversed() } : holding,
  ]);
  return {
    bank: "columns" in bank ? { ...bank, people: people.slice(0, 500) } : bank,
    ...Object.fromEntries(all),
  } as Parameters<typeof worlds.found>[0];
}

/** A running engine with a crew's files, and the number of its workers' processes. */
async function crewOf({ folder }: Company, workerCount: number): Promise<CrewHome & { workers: TandemProcess[] }> {
  const home = await makeCrewHome({
    program: natsProgram ?? "",
    party: join(folder, "passive.yaml"),
    folder: join(scratchDirectory(), "crew"),
    serverCount: 1,
    section,
  });
  const server = home.servers.start(0);
  stops.push(() => server.kill("SIGKILL"));
  await home.servers.ready();
  const workers = Array.from({ length: workerCount }, () => {
    const worker = new TandemProcess(["worker", "-c", home.workerConfig, "--threads", "1"]);
    stops.push(() => worker.stop("SIGKILL"));
    return worker;
  });
  return { ...home, workers };
}

/** Every shop has a crew of its own. @param disturb after the first tree */
async function expectSame(
  world: ProcessWorld,
  changes: ActiveChanges,
  disturb: (workers: readonly TandemProcess[]) => unknown = () => {},
): Promise<void> {
  const workers: TandemProcess[] = [];
  const parties: TandemProcess[] = [];
  for (const shop of world.shops) {
    const crew = await crewOf(shop, 2);
    workers.push(...crew.workers);
    parties.push(await world.spawn(shop, { crew: crew.section, policy }));
  }
  let trees = 0;
  await world.train("crewed", changes, {
    onEvent: ({ type }) => {
      if (type === "tree" && ++trees === 1) disturb(workers);
    },
  });
  for (const party of parties) {
    const joined = [...party.stderr.matchAll(/"event":"worker-joined".*?"worker":"([^"]+)"/g)];
    expect(new Set(joined.map(([, worker]) => worker)).size, "workers of a crew").toBe(2);
    expect(party.stderr, "the rows of a crew are in two blocks").toMatch(/"event":"crew-opened".*"blocks":2/);
  }
  const model = await world.model("crewed");
  const owners = model.trees.flat().flatMap((node) => (node.kind === "split" ? [node.rule.owner] : []));
  expect(Math.max(...owners), "no passive party split a node").toBeGreaterThan(0);
  const config = await world.activeConfig("crewed", changes);
  expect(firstDifference(model, await onePlaceModel(world, config))).toBeNull();
}

const policy: PassiveChanges["policy"] = { schemes: ["paillier", "lattice", "curve"], lattice_minimums: "root" };
const lattice = { scheme: "lattice", insecure_key_bits: undefined } as const;
const training = { num_round: 2, max_depth: 2, max_bin: 8 };

describe.skipIf(natsProgram === null)("workers' processes over nats-server", () => {
  test("Paillier, hidden sums and a limit of outcome_bits: the model of the joined table", async () => {
    const world = await worlds.found(holdings(1));
    await expectSame(world, { training, privacy: { hidden_sums: true, outcome_bits: 1 } });
  });

  const more: readonly [string, number, ActiveChanges][] = [
    ["lattice, hidden sums", 1, { ...lattice, privacy: { hidden_sums: true } }],
    [
      "lattice, guarded: hidden sums, outcome_bits and hidden outcomes",
      1,
      { ...lattice, privacy: { preset: "guarded" } },
    ],
    ["Paillier, strict, two shops with a crew each", 2, { privacy: { preset: "strict" } }],
    ["Paillier, outcome_bits alone", 1, { privacy: { outcome_bits: 0.8 } }],
    ["curve, outcome_bits alone", 1, { ...lattice, scheme: "curve", privacy: { outcome_bits: 0.8 } }],
  ];
  test.runIf(isCampaign).each(more)("%s", async (_name, shopCount, changes) => {
    await expectSame(await worlds.found(holdings(shopCount)), { training: { ...training, num_round: 4 }, ...changes });
  });

  test.runIf(isCampaign).each([
    ["Paillier", {}],
    ["lattice", lattice],
  ] as const)("%s, hidden sums: a worker that is killed in the middle changes nothing", async (_name, scheme) => {
    const world = await worlds.found(holdings(1));
    const changes = { ...scheme, training: { ...training, num_round: 6 }, privacy: { hidden_sums: true } };
    await expectSame(world, changes, ([first]) => first.child.kill("SIGKILL"));
  });
});
