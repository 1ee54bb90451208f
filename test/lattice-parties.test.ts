/** The lattice scheme between companies: policy, results, and the same fault tolerance as Paillier. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import type { Model } from "../src/gbdt/tree/model.ts";
import { runCrossValidation } from "../src/party/active/cross-validation.ts";
import { runActive } from "../src/party/active/run.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { mergeShares } from "../src/store/merge-shares.ts";
import { readActiveShare, readPassiveShare } from "../src/store/share-files.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { openJob } from "../src/verify/open-job.ts";
import { scratchDirectory } from "./support/command.ts";
import {
  activeConfig,
  type Company,
  foundCompany,
  makePeople,
  pinsOf,
  shuffled,
  startParty,
  writeActiveConfig,
  writePassiveConfig,
} from "./support/companies.ts";
import { expectError } from "./support/expect-error.ts";
import { freePort, PartyProcess, until } from "./support/processes.ts";

const root = scratchDirectory();
const people = makePeople(300, "lattice");
const allowed = { schemes: ["paillier", "lattice"] };
const lattice = { scheme: "lattice", insecure_key_bits: undefined };

let bank: Company;
let shop: Company;
beforeAll(async () => {
  bank = await foundCompany(root, "bank", shuffled(people.slice(0, 280), "bank"), [0, 1], true);
  shop = await foundCompany(root, "shop", shuffled(people.slice(10), "shop"), [2, 3]);
});

async function modelOf(job: string): Promise<Model> {
  const share = (company: Company): string => join(company.folder, "jobs", job, "share.json");
  return mergeShares(await readActiveShare(share(bank)), [await readPassiveShare(share(shop))]);
}

test("processes, each killed once: the same model as Paillier, and no stored ciphertexts to verify", async () => {
  const port = await freePort();
  const training = { num_round: 4, max_depth: 2, max_bin: 8 };
  const partner = [{ company: shop, party: { port } }];
  const config = writeActiveConfig(bank, partner, "hidden", { ...lattice, training });
  const theirs = writePassiveConfig(shop, [bank], { listen: { host: "127.0.0.1", port }, policy: allowed });
  const active = new PartyProcess("bank", "train", "-c", config);
  const passive = new PartyProcess("shop", "party", "-c", theirs);
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

  const party = await startParty(shop, [bank], { policy: allowed });
  const plain = await activeConfig(bank, [{ company: shop, party }], "plain", { training });
  await runActive(plain, () => {});
  expect(firstDifference(await modelOf("hidden"), await modelOf("plain"))).toBeNull();
  const answers = readdirSync(join(bank.folder, "jobs", "hidden", "evidence"));
  expect(answers.length).toBe(4);
  const sizeOf = (job: string): number => statSync(join(bank.folder, "jobs", job, "evidence", answers[0])).size;
  expect(sizeOf("hidden"), "answers are not kept").toBeLessThan(sizeOf("plain") / 2);

  const openings = await Promise.all([openJob(config, "hidden"), openJob(theirs, "hidden")]);
  const verdict = await checkOpenings(openings, { pins: pinsOf([bank, shop]), trees: null });
  expect(verdict.records).toEqual([]);
  expect(verdict.trees.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => "not checked"));
  expect(verdict.notChecked).toEqual([expect.stringMatching(/^no tree: messages of the lattice scheme cannot/)]);
});

test("a passive party must allow it, and say that minimums at the root are enough", async () => {
  const minimums = { min_instances_per_candidate: 2, min_instances_per_tree: 5 };
  const party = await startParty(shop, [bank], { policy: minimums });
  const config = await activeConfig(bank, [{ company: shop, party }], "refused", lattice);
  await expectError(
    () => runActive(config, () => {}),
    "POLICY",
    /lattice requested, paillier allowed \('schemes: \[paillier, lattice\]' in its policy would allow it\)/,
  );
  await party.stop();
  const allowing = await startParty(shop, [bank], { policy: { ...minimums, ...allowed } });
  const again = await activeConfig(bank, [{ company: shop, party: allowing }], "refused", lattice);
  await expectError(
    () => runActive(again, () => {}),
    "POLICY",
    /min_instances_per_candidate, min_instances_per_tree would hold over all people only \('lattice_minimums: root'/,
  );
  expect(existsSync(join(shop.folder, "jobs", "refused", "share.json"))).toBe(false);
});

test("a cross-validation: the same result as Paillier", async () => {
  const party = await startParty(shop, [bank], { policy: { ...allowed, lattice_minimums: "root" } });
  const partners = [{ company: shop, party }];
  const training = { num_round: 1, max_depth: 2 };
  const [hidden, plain] = [
    await activeConfig(bank, partners, "hidden-folds", { ...lattice, training }),
    await activeConfig(bank, partners, "told-folds", { training }),
  ];
  const events: PartyEvent[] = [];
  const found = await runCrossValidation(hidden, { folds: 2 }, (event) => events.push(event));
  const expected = await runCrossValidation(plain, { folds: 2 }, () => {});
  expect(found.folds).toEqual(expected.folds);
  expect(events.find((event) => event.type === "key")).toMatchObject({ keyless: true });
});
