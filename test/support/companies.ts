/**
 * Companies as they are deployed, in one process: each its own folder, config file, self-signed certificate and table;
 * real TLS on loopback between them.
 */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { SeededRandom } from "../../src/base/random.ts";
import type { Storage } from "../../src/base/files/storage.ts";
import {
  type ActiveConfig,
  type ActiveConfigInput,
  type PassiveConfigInput,
  readActiveConfig,
  readPassiveConfig,
} from "../../src/party/config/config.ts";
import type { Experiment } from "../../src/party/experiment.ts";
import type { PartyEvent } from "../../src/record/events.ts";
import { initParty } from "../../src/party/init.ts";
import { runPassive } from "../../src/party/passive/run.ts";

export interface Person {
  readonly id: string;
  readonly values: readonly string[];
  readonly label: string;
}

/** People whose label depends on all six values; the same seed gives the same people. */
export function makePeople(count: number, seed: string): Person[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, (_, i) => {
    const values = Array.from({ length: 6 }, () => random.normal());
    const risk = values[0] - values[2] + (values[4] > 0 ? values[1] : -values[5]);
    const cells = values.map((value) => (random.uniform() < 0.05 ? "" : value.toFixed(4)));
    return {
      id: `zq${1000 + i}x`,
      values: cells,
      label: random.uniform() < 1 / (1 + Math.exp(-2 * risk)) ? "defaulter" : "payer",
    };
  });
}

export function shuffled<T>(items: readonly T[], seed: string): T[] {
  return Array.from(new SeededRandom(seed).permutation(items.length), (i) => items[i]);
}

export interface Company {
  readonly name: string;
  readonly folder: string;
  readonly fingerprint: string;
}

/** A folder with key and certificate, and the people's columns in data.csv. */
export async function foundCompany(
  root: string,
  name: string,
  people: readonly Person[],
  columns: readonly number[],
  labels = false,
): Promise<Company> {
  const folder = join(root, name);
  const { fingerprint } = await initParty({
    role: labels ? "active" : "passive",
    name,
    host: "127.0.0.1",
    port: 0,
    directory: folder,
  });
  const names = ["id", ...columns.map((column) => `${name}_${column}`), ...(labels ? ["outcome"] : [])];
  const rows = people.map(({ id, values, label }) => [
    id,
    ...columns.map((column) => values[column]),
    ...(labels ? [label] : []),
  ]);
  writeFileSync(join(folder, "data.csv"), `${[names, ...rows].map((row) => row.join(",")).join("\n")}\n`);
  return { name, folder, fingerprint };
}

/** What an auditor knows about them. */
export function pinsOf(companies: readonly Company[]): ReadonlyMap<string, string> {
  return new Map(companies.map(({ name, fingerprint }) => [name, fingerprint]));
}

/** The same company, with all its files, in a folder under another root. */
export function copyCompany(company: Company, root: string): Company {
  const folder = join(root, company.name);
  cpSync(company.folder, folder, { recursive: true });
  return { ...company, folder };
}

const tls = { certificate: "certificate.pem", key: "key.pem" };

/** Keys are new in every run; sampled columns must not be. */
const experimentOf = ({ name }: Company): Experiment => ({ samplingSecret: `columns of ${name}` });

export interface RunningParty {
  readonly port: number;
  readonly events: PartyEvent[];
  seen<T extends PartyEvent["type"]>(type: T, count?: number): Promise<Extract<PartyEvent, { type: T }>>;
  stop(): Promise<void>;
}

/** @returns where a passive party's config is */
export function writePassiveConfig(
  company: Company,
  actives: readonly Company[],
  changes: Partial<PassiveConfigInput> = {},
): string {
  const config: PassiveConfigInput = {
    name: company.name,
    listen: { host: "127.0.0.1", port: 0 },
    tls,
    active: actives.map(({ name, fingerprint }) => ({ name, fingerprint })),
    data: { path: "data.csv", id: "id", features: "all" },
    output: { directory: "jobs" },
    ...changes,
    policy: { insecure_min_key_bits: 256, min_instances: 10, ...changes.policy },
  };
  const path = join(company.folder, "passive.json");
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** A passive party that runs until the test ends. */
export async function startParty(
  company: Company,
  actives: readonly Company[],
  changes: Partial<PassiveConfigInput> = {},
  atEnd: (stop: () => Promise<void>) => void = onTestFinished,
  storage?: Storage,
  now?: () => number,
  experiment: Experiment = {},
): Promise<RunningParty> {
  const path = writePassiveConfig(company, actives, changes);
  const events: PartyEvent[] = [];
  const waiting = new Set<() => void>();
  const stopping = new AbortController();
  const emit = (event: PartyEvent): void => {
    events.push(event);
    for (const look of waiting) look();
  };
  const ended = runPassive(await readPassiveConfig(path, { ...experimentOf(company), ...experiment }), emit, {
    stop: stopping.signal,
    ...(storage === undefined ? {} : { storage }),
    ...(now === undefined ? {} : { now }),
  });
  const seen: RunningParty["seen"] = (type, count = 1) => {
    const found = new Promise<Extract<PartyEvent, { type: typeof type }>>((resolve) => {
      const look = (): void => {
        const matching = events.filter((event) => event.type === type);
        if (matching.length >= count) resolve(matching[count - 1] as Extract<PartyEvent, { type: typeof type }>);
      };
      waiting.add(look);
      look();
    });
    return Promise.race([found, ended.then(() => Promise.reject(new Error(`the party ended before ${type}`)))]);
  };
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  atEnd(stop);
  return { port: (await seen("listening")).port, events, seen, stop };
}

export interface Partner {
  readonly company: Company;
  readonly party: { readonly port: number };
}

/** @returns where the active party's config is */
export function writeActiveConfig(
  company: Company,
  partners: readonly Partner[],
  job: string,
  changes: Partial<ActiveConfigInput> = {},
): string {
  const config: ActiveConfigInput = {
    name: company.name,
    job,
    passives: partners.map(({ company: { name, fingerprint }, party }) => ({
      name,
      host: "127.0.0.1",
      port: party.port,
      fingerprint,
    })),
    tls,
    insecure_key_bits: 256,
    output: { directory: "jobs" },
    ...changes,
    data: {
      path: "data.csv",
      id: "id",
      features: "all",
      label: "outcome",
      positive: "defaulter",
      test_fraction: 0.25,
      ...changes.data,
    },
    training: { num_round: 2, max_depth: 3, max_bin: 8, ...changes.training },
  };
  mkdirSync(company.folder, { recursive: true });
  const path = join(company.folder, `active-${job}.json`);
  writeFileSync(path, JSON.stringify(config));
  return path;
}

export function activeConfig(
  company: Company,
  partners: readonly Partner[],
  job: string,
  changes: Partial<ActiveConfigInput> = {},
): Promise<ActiveConfig> {
  return readActiveConfig(writeActiveConfig(company, partners, job, changes), () => job, experimentOf(company));
}
