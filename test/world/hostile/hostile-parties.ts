/**
 * A bank and a shop on one machine, each with a folder, a certificate and a table, for jobs in which one of them is
 * hostile. Their tables hold unique words and digits, so that a leak into a log is detected.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SeededRandom } from "../../../src/base/random.ts";
import {
  type ActiveConfig,
  type ActiveConfigInput,
  type PassiveConfigInput,
  readActiveConfig,
} from "../../../src/party/config/config.ts";
import type { Experiment } from "../../../src/party/experiment.ts";
import { initParty } from "../../../src/party/init.ts";
import type { Scenario } from "./hostile-scenarios.ts";

export interface Party {
  readonly name: string;
  readonly folder: string;
  readonly fingerprint: string;
}

export interface HostileParties {
  readonly bank: Party;
  readonly shop: Party;
  /** Whether a column of the shop has categories. Then every job must agree on them. */
  readonly hasCategories: boolean;
}

export const peopleCount = 48;
export const labelWords = ["zqdefaulter", "zqpayer"] as const;
/** In the configs: what a party derives its draws and its noise from. */
export const plantedSecrets = ["zqbanksecret", "zqshopsecret", "zqnoisesecret"] as const;
export const columnsOf = { bank: ["bank_a", "bank_b"], shop: ["shop_a", "shop_b", "shop_c"] } as const;

export interface Person {
  readonly id: string;
  readonly bank: readonly string[];
  readonly shop: readonly string[];
  readonly label: string;
  readonly grade: number;
}

/** The same instances for all parties. Labels depend on the columns of both. */
export function makePeople(count = peopleCount): readonly Person[] {
  const random = new SeededRandom("people of a hostile job");
  return Array.from({ length: count }, (_, i) => {
    const values = Array.from({ length: 4 }, () => random.normal());
    const kind = random.below(5);
    const risk = values[0] - 2 * values[2] + (values[3] > 0 ? values[1] : 0.5) + (kind > 2 ? 1 : -1);
    const cells = values.map((value) => (random.uniform() < 0.05 ? "" : value.toFixed(7)));
    return {
      id: `zq${1000 + i}x`,
      bank: cells.slice(0, 2),
      shop: [...cells.slice(2), String(kind)],
      label: labelWords[risk + random.normal() / 2 > 0 ? 0 : 1],
      grade: risk < -1 ? 0 : risk < 1 ? 1 : 2,
    };
  });
}

/** @param root a folder of their own */
export async function foundParties(
  root: string,
  { hasCategories = false, people = makePeople() }: { hasCategories?: boolean; people?: readonly Person[] } = {},
): Promise<HostileParties> {
  const found = async (role: "active" | "passive", name: string): Promise<Party> => {
    const folder = join(root, name);
    await mkdir(root, { recursive: true });
    const { fingerprint } = await initParty({ role, name, host: "127.0.0.1", port: 0, directory: folder });
    return { name, folder, fingerprint };
  };
  const [bank, shop] = await Promise.all([found("active", "bank"), found("passive", "shop")]);
  await writeTable(
    join(bank.folder, "data.csv"),
    ["id", ...columnsOf.bank, "outcome", "grade"],
    people.map((person) => [person.id, ...person.bank, person.label, String(person.grade)]),
  );
  await writeTable(
    join(shop.folder, "data.csv"),
    ["id", ...columnsOf.shop],
    people.map((person) => [person.id, ...person.shop]),
  );
  return { bank, shop, hasCategories };
}

export function writeTable(
  path: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  return writeFile(path, `${[header, ...rows].map((row) => row.join(",")).join("\n")}\n`);
}

const tls = { certificate: "certificate.pem", key: "key.pem" };

export type PassiveChanges = Partial<Omit<PassiveConfigInput, "policy">> & {
  readonly policy?: PassiveConfigInput["policy"];
};

/** A campaign is thousands of jobs in a day. */
export const shopExperiment: Experiment = {
  samplingSecret: plantedSecrets[1],
  noiseSecret: plantedSecrets[2],
  dailyLimits: { alignments: 1e9, jobs: 1e9, attempts: 1e9, histogram_requests: 1e9 },
};

/** Where a process finds `shopExperiment`. */
export function experimentPath(config: string): string {
  return config.replace(/\.json$/, ".experiment.json");
}

/** @returns the config's path */
export async function writeShopConfig(
  { bank, shop, hasCategories }: HostileParties,
  changes: PassiveChanges = {},
  file = "party.json",
): Promise<string> {
  const config: PassiveConfigInput = {
    name: shop.name,
    listen: { host: "127.0.0.1", port: 0 },
    tls,
    active: [{ name: bank.name, fingerprint: bank.fingerprint }],
    data: { path: "data.csv", id: "id", features: [...columnsOf.shop], categorical: hasCategories ? ["shop_c"] : [] },
    output: { directory: "jobs", contributions: true },
    threads: 1,
    ...changes,
    policy: {
      schemes: ["paillier", "lattice"],
      lattice_minimums: "root",
      insecure_min_key_bits: 256,
      min_instances: 10,
      max_trees: 20,
      explanations: true,
      budget: { daily: { ids: 1e9 } },
      ...changes.policy,
    },
  };
  const path = join(shop.folder, file);
  await writeFile(path, JSON.stringify(config));
  await writeFile(experimentPath(path), JSON.stringify(shopExperiment));
  return path;
}

/** @returns the config's path */
export async function writeBankConfig(
  { bank, shop, hasCategories }: HostileParties,
  port: number,
  job: string,
  scenario: Scenario,
  changes: Partial<ActiveConfigInput> = {},
): Promise<string> {
  const config: ActiveConfigInput = {
    name: bank.name,
    job,
    passives: [{ name: shop.name, host: "127.0.0.1", port, fingerprint: shop.fingerprint }],
    tls,
    ...(scenario.scheme === "lattice" ? {} : { insecure_key_bits: 256 }),
    output: { directory: "jobs" },
    patience_seconds: 0,
    threads: 1,
    align: scenario.align ?? false,
    ...(scenario.scheme === undefined ? {} : { scheme: scenario.scheme }),
    ...(scenario.privacy === undefined ? {} : { privacy: scenario.privacy }),
    training: {
      num_round: 2,
      max_depth: 2,
      max_bin: 6,
      min_child_weight: 0,
      ...(hasCategories ? { enable_categorical: true } : {}),
      ...scenario.training,
    },
    ...changes,
    data: {
      path: "data.csv",
      id: "id",
      features: [...columnsOf.bank],
      label: "outcome",
      positive: labelWords[0],
      test_fraction: 0.25,
      ...scenario.data,
      ...changes.data,
    },
  };
  const path = join(bank.folder, `${job}.json`);
  await writeFile(path, JSON.stringify(config));
  return path;
}

export async function bankConfig(...given: Parameters<typeof writeBankConfig>): Promise<ActiveConfig> {
  return readActiveConfig(await writeBankConfig(...given), () => given[2], { samplingSecret: plantedSecrets[0] });
}
