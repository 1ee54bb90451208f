/** The lattice scheme between companies: policy, results, and the same fault tolerance as Paillier. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { runCrossValidation } from "../src/party/active/cross-validation.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople, shuffled } from "./world/people.ts";
import type { ProcessWorld } from "./world/processes.ts";
import { until } from "./world/tandem-process.ts";

const worlds = testWorlds();
const people = makePeople(300, "lattice");
const allowed = { schemes: ["paillier", "lattice"] };
const lattice = { scheme: "lattice", insecure_key_bits: undefined };

let world: ProcessWorld;
beforeAll(async () => {
  world = await worlds.found({
    bank: { people: shuffled(people.slice(0, 280), "bank"), columns: [0, 1] },
    shop: { people: shuffled(people.slice(10), "shop"), columns: [2, 3] },
  });
});

test("processes, each killed once: the same model as Paillier, verified without stored ciphertexts", async () => {
  const { bank, shop } = world;
  const training = { num_round: 4, max_depth: 2, max_bin: 8 };
  const changes = { active: { ...lattice, training }, passive: { policy: allowed } };
  const {
    active,
    passives: [passive],
  } = await world.restartable("hidden", changes);
  const trees = (): number => Number([...active.said.matchAll(/tree (\d)\/4/g)].at(-1)?.[1] ?? 0);
  passive.start();
  active.start();
  await until("the first tree", () => trees() >= 1);
  await active.kill();
  active.start();
  await until("the second tree", () => trees() >= 2);
  await passive.kill();
  passive.start();
  expect(await active.ended(), active.said).toBe(0);
  expect(active.saidEver).toMatch(/resumes after [12] of 4 trees/);
  expect(active.saidEver).toMatch(/encrypts with lattices .*\n/);
  expect(active.saidEver).toMatch(/besides sums, \d+ nodes x \d+ candidates reveal at most delta = 2\^-\d/);
  expect(active.saidEver + passive.saidEver).not.toMatch(/key_bits|-bit|keyBits/);
  const report = readFileSync(join(bank.folder, "jobs", "hidden", "report.html"), "utf8");
  expect(report).toContain("every sum is decrypted exactly");
  expect(report).not.toMatch(/Paillier|key_bits/);
  await passive.kill();

  await world.start(shop, { policy: allowed });
  await world.train("plain", { training });
  expect(firstDifference(await world.model("hidden"), await world.model("plain"))).toBeNull();
  const isTree = (name: string): boolean => /^\d+\.json$/.test(name);
  const kept = readdirSync(join(bank.folder, "jobs", "hidden", "evidence"));
  const answers = kept.filter(isTree);
  expect(answers.length).toBe(4);
  // A process that is killed while it writes leaves at most one temporary file.
  const others = kept.filter((name) => !isTree(name));
  expect(others.length, others.join()).toBeLessThanOrEqual(1);
  for (const name of others) expect(name).toMatch(/^\.\d+\.json\.\w+$/);
  const sizeOf = (job: string): number => statSync(join(bank.folder, "jobs", job, "evidence", answers[0])).size;
  expect(sizeOf("hidden"), "answers are not kept").toBeLessThan(sizeOf("plain") / 2);

  world.writeActive("hidden", changes.active);
  const verdict = await checkOpenings(await world.openings("hidden"), { pins: world.pins, trees: null });
  expect(verdict.records).toEqual([]);
  expect(verdict.trees.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => "as agreed"));
  expect(verdict.notChecked).toEqual([]);
});

test("a passive party must allow it, and say that minimums at the root are enough", async () => {
  const minimums = { min_instances_per_candidate: 2, min_instances_per_tree: 5 };
  await world.start(world.shop, { policy: minimums });
  await expectError(
    () => world.train("refused", lattice),
    "POLICY",
    /lattice requested, paillier allowed \('schemes: \[paillier, lattice\]' in its policy would allow it\)/,
  );
  await world.start(world.shop, { policy: { ...minimums, ...allowed } });
  await expectError(
    () => world.train("refused", lattice),
    "POLICY",
    /min_instances_per_candidate, min_instances_per_tree would hold over all people only \('lattice_minimums: root'/,
  );
  expect(existsSync(world.path(world.shop, "refused", "share.json"))).toBe(false);
});

test("a cross-validation: the same result as Paillier", async () => {
  await world.start(world.shop, { policy: { ...allowed, lattice_minimums: "root" } });
  const training = { num_round: 1, max_depth: 2 };
  const [hidden, plain] = [
    await world.activeConfig("hidden-folds", { ...lattice, training }),
    await world.activeConfig("told-folds", { training }),
  ];
  const events: PartyEvent[] = [];
  const found = await runCrossValidation(hidden, { folds: 2 }, (event) => events.push(event));
  const expected = await runCrossValidation(plain, { folds: 2 }, () => {});
  expect(found.folds).toEqual(expected.folds);
  expect(events.find((event) => event.type === "key")).toMatchObject({ keyless: true });
});
