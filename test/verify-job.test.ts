/** Jobs between companies over TLS, opened and checked afterwards: honest ones hold, and whoever deviates is named. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ActiveConfigInput, PassiveConfigInput } from "../src/party/config.ts";
import { runActive } from "../src/party/active/run.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations } from "../src/verify/findings.ts";
import { openJob } from "../src/verify/open-job.ts";
import type { Opening } from "../src/verify/opening.ts";
import {
  activeConfig,
  type Company,
  foundCompany,
  makePeople,
  shuffled,
  startParty,
  writeActiveConfig,
  writePassiveConfig,
} from "./support/companies.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-verify-"));
let bank: Company;
let shop: Company;
let telecom: Company;
beforeAll(async () => {
  const people = makePeople(120, "verified");
  bank = await foundCompany(root, "bank", people, [0, 1], true);
  shop = await foundCompany(root, "shop", shuffled(people, "shop"), [2, 3]);
  telecom = await foundCompany(root, "telecom", shuffled(people, "telecom"), [4, 5]);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Changes {
  readonly active?: Partial<ActiveConfigInput>;
  readonly passive?: Partial<PassiveConfigInput>;
}

async function trained(job: string, { active = {}, passive = {} }: Changes = {}): Promise<Opening[]> {
  const parties = await Promise.all([shop, telecom].map((company) => startParty(company, [bank], passive)));
  const partners = [shop, telecom].map((company, i) => ({ company, party: parties[i] }));
  await runActive(await activeConfig(bank, partners, job, active), () => {});
  return Promise.all([
    openJob(writeActiveConfig(bank, partners, job, active), job),
    ...[shop, telecom].map((company) => openJob(writePassiveConfig(company, [bank], passive), job)),
  ]);
}

test.each<{ readonly name: string; readonly changes: Changes }>([
  { name: "plain", changes: {} },
  {
    name: "sampled",
    changes: {
      active: {
        training: { subsample: 0.7, colsample_bytree: 0.7, colsample_bynode: 0.8, local_rounds: 1, num_round: 3 },
      },
    },
  },
  { name: "noisy", changes: { active: { privacy: { answer_noise: 2, max_thresholds: 3 } } } },
])("an honest job holds: $name", async ({ name, changes }) => {
  const openings = await trained(`honest-${name}`, changes);
  const verdict = await checkOpenings(openings, { trees: null });
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.notChecked).toEqual([]);
  expect(verdict.trees.map(({ state }) => state)).toEqual(verdict.trees.map(() => "as agreed"));
  expect(verdict.trees.length).toBe(2);
});
