/**
 * The world of processes: companies as they are deployed, each with a folder, a certificate, configs and a table of its
 * own, and real TLS on loopback between them. A party runs as a process of the command or, where how a process ends,
 * what it prints and how much memory it takes are not the point, in this process behind the same TLS server. What a
 * test changes is an option.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "../../src/gbdt/tree/model.ts";
import { runActive } from "../../src/party/active/run.ts";
import { type ActiveWorld, realWorld } from "../../src/party/active/world.ts";
import {
  type ActiveConfig,
  type ActiveConfigInput,
  type PassiveConfig,
  type PassiveConfigInput,
  readActiveConfig,
  readPassiveConfig,
} from "../../src/party/config/config.ts";
import type { Experiment } from "../../src/party/experiment.ts";
import { initParty } from "../../src/party/init.ts";
import type { Emit, PartyEvent } from "../../src/record/events.ts";
import { mergeShares } from "../../src/store/merge-shares.ts";
import { readActiveShare, readPassiveShare } from "../../src/store/share-files.ts";
import { openJob } from "../../src/verify/open-job.ts";
import type { Opening } from "../../src/verify/opening.ts";
import { csvText, featureTable, labelledTable, type Person, type Table } from "./people.ts";
import { type PassiveSurroundings, RunningParty } from "./running-party.ts";
import { freePort, type ProcessOptions, RestartedProcess, TandemProcess } from "./tandem-process.ts";

export interface Company {
  readonly name: string;
  readonly folder: string;
  readonly fingerprint: string;
}

/** People and the columns of them that a company holds, or a table as it is. */
export type Holding = { readonly people: readonly Person[]; readonly columns: readonly number[] } | Table;

export type PassiveChanges = Partial<PassiveConfigInput>;
export type ActiveChanges = Partial<Omit<ActiveConfigInput, "data">> & {
  readonly data?: Partial<ActiveConfigInput["data"]>;
};

export interface WorldOptions {
  /** What every config has unless a test changes it. */
  readonly passive?: PassiveChanges;
  readonly active?: ActiveChanges;
  /** Default: columns are sampled in the same way in every run, although keys are new. */
  readonly experiment?: (company: string) => Experiment;
}

export interface PassiveRun extends PassiveSurroundings {
  /** Default: the world's active party. */
  readonly actives?: readonly Pick<Company, "name" | "fingerprint">[];
  readonly experiment?: Experiment;
}

export interface ActiveRun {
  /** The active party, where it is not the world's. */
  readonly active?: Company;
  /** Ports of the passive parties, where they are not those on which they listen: proxies, for example. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Passive parties of the job; default: all of the world. */
  readonly passives?: readonly Company[];
  /** Name of the config file. */
  readonly file?: string;
}

const tls = { certificate: "certificate.pem", key: "key.pem" };
const host = "127.0.0.1";

export class ProcessWorld {
  readonly root: string;
  readonly bank: Company;
  readonly shops: readonly Company[];
  readonly #options: WorldOptions;
  readonly #ports = new Map<string, number>();
  readonly #running = new Map<string, RunningParty>();
  readonly #processes: { stop(signal: NodeJS.Signals): Promise<unknown> }[] = [];
  /** The config that was written last, by company. */
  readonly #configs = new Map<string, string>();

  private constructor(root: string, [bank, ...shops]: readonly Company[], options: WorldOptions) {
    this.root = root;
    this.bank = bank;
    this.shops = shops;
    this.#options = options;
  }

  /** @param holdings by the names of the companies, the active party first; nothing is started */
  static async found(
    root: string,
    holdings: Readonly<Record<string, Holding>>,
    options: WorldOptions = {},
  ): Promise<ProcessWorld> {
    const found = Object.entries(holdings).map(([name, holding], i) =>
      foundCompany(root, name, holding, i === 0 ? "active" : "passive"),
    );
    return new ProcessWorld(root, await Promise.all(found), options);
  }

  /** The same companies with all their files, in folders under another root; nothing runs. */
  copy(root: string): ProcessWorld {
    const companies = [this.bank, ...this.shops].map((company) => {
      const folder = join(root, company.name);
      cpSync(company.folder, folder, { recursive: true });
      return { ...company, folder };
    });
    return new ProcessWorld(root, companies, this.#options);
  }

  get shop(): Company {
    return this.shops[0];
  }

  /** @returns the path of a passive party's config */
  writePassive(company: Company, changes: PassiveChanges = {}, file = "passive.json", run: PassiveRun = {}): string {
    const { passive = {} } = this.#options;
    const config: PassiveConfigInput = {
      name: company.name,
      listen: { host, port: 0 },
      tls,
      active: (run.actives ?? [this.bank]).map(({ name, fingerprint }) => ({ name, fingerprint })),
      data: { path: "data.csv", id: "id", features: "all" },
      output: { directory: "jobs" },
      ...passive,
      ...changes,
      policy: { insecure_min_key_bits: 256, min_instances: 10, max_outputs: 3, ...passive.policy, ...changes.policy },
    };
    return this.#write(company, file, config);
  }

  /** @returns the path of an active party's config */
  writeActive(job: string, changes: ActiveChanges = {}, run: ActiveRun = {}): string {
    const { active: given = {} } = this.#options;
    const { active = this.bank, ports = {}, passives = this.shops, file = `active-${job}.json` } = run;
    const config: ActiveConfigInput = {
      name: active.name,
      job,
      passives: passives.map(({ name, fingerprint }) => ({
        name,
        host,
        port: ports[name] ?? this.#ports.get(name) ?? 1,
        fingerprint,
      })),
      tls,
      insecure_key_bits: 256,
      output: { directory: "jobs" },
      ...given,
      ...changes,
      data: {
        path: "data.csv",
        id: "id",
        features: "all",
        label: "outcome",
        positive: "defaulter",
        test_fraction: 0.25,
        ...given.data,
        ...changes.data,
      },
      training: { num_round: 2, max_depth: 3, max_bin: 8, ...given.training, ...changes.training },
    };
    return this.#write(active, file, config);
  }

  #write(company: Company, file: string, config: object): string {
    const path = join(company.folder, file);
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    this.#configs.set(company.name, path);
    return path;
  }

  activeConfig(job: string, changes: ActiveChanges = {}, run: ActiveRun = {}): Promise<ActiveConfig> {
    const path = this.writeActive(job, changes, run);
    return readActiveConfig(path, () => job, this.#experiment(run.active ?? this.bank));
  }

  passiveConfig(company: Company, changes: PassiveChanges = {}, run: PassiveRun = {}): Promise<PassiveConfig> {
    const experiment = { ...this.#experiment(company), ...run.experiment };
    return readPassiveConfig(this.writePassive(company, changes, undefined, run), experiment);
  }

  #experiment({ name }: Company): Experiment {
    return this.#options.experiment?.(name) ?? { samplingSecret: `columns of ${name}` };
  }

  /** Starts a passive party in this process, or restarts it with other options. */
  async start(company: Company, changes: PassiveChanges = {}, run: PassiveRun = {}): Promise<RunningParty> {
    await this.#running.get(company.name)?.stop();
    const party = await RunningParty.start(await this.passiveConfig(company, changes, run), run);
    this.#running.set(company.name, party);
    this.#ports.set(company.name, party.port);
    return party;
  }

  /** All passive parties in this process. */
  startAll(changes: PassiveChanges = {}): Promise<RunningParty[]> {
    return Promise.all(this.shops.map((shop) => this.start(shop, changes)));
  }

  /** Passive parties in this process, in the order of the companies. */
  get parties(): readonly RunningParty[] {
    return this.shops.flatMap(({ name }) => this.#running.get(name) ?? []);
  }

  /** A passive party as a process. */
  async spawn(company: Company, changes: PassiveChanges = {}, options: ProcessOptions & PassiveRun = {}) {
    const config = this.writePassive(company, changes, undefined, options);
    const experiment = join(company.folder, "experiment.json");
    writeFileSync(experiment, JSON.stringify({ ...this.#experiment(company), ...options.experiment }));
    const process = this.#ended(new TandemProcess(["party", "-c", config, "--experiment", experiment], options));
    this.#ports.set(company.name, await process.port());
    return process;
  }

  /** A command of a company, as a process that ends with the world. */
  command(...args: string[]): TandemProcess {
    return this.#ended(new TandemProcess(args));
  }

  #ended(process: TandemProcess): TandemProcess {
    this.#processes.push(process);
    return process;
  }

  /** The processes of a job, not yet started, which listen on the same ports when they are started again. */
  async restartable(
    job: string,
    { active = {}, passive = {} }: { readonly active?: ActiveChanges; readonly passive?: PassiveChanges } = {},
  ): Promise<{ readonly active: RestartedProcess; readonly passives: readonly RestartedProcess[] }> {
    const passives: RestartedProcess[] = [];
    for (const shop of this.shops) {
      const port = await freePort();
      this.#ports.set(shop.name, port);
      const config = this.writePassive(shop, { ...passive, listen: { host, port } });
      passives.push(new RestartedProcess(shop.name, "party", "-c", config));
    }
    const bank = new RestartedProcess(this.bank.name, "train", "-c", this.writeActive(job, active));
    for (const process of [bank, ...passives]) this.#processes.push({ stop: () => process.kill() });
    return { active: bank, passives };
  }

  /** Runs a job's active party in this process. @returns its events */
  async train(
    job: string,
    changes: ActiveChanges = {},
    { onEvent = () => {}, surroundings = realWorld, ...run }: TrainRun = {},
  ): Promise<PartyEvent[]> {
    const events: PartyEvent[] = [];
    const emit: Emit = (event) => {
      events.push(event);
      onEvent(event);
    };
    await runActive(await this.activeConfig(job, changes, run), emit, surroundings);
    return events;
  }

  /** A file of a company's job. */
  path(company: Company, job: string, name: string, directory = "jobs"): string {
    return join(company.folder, directory, job, name);
  }

  read(company: Company, job: string, name: string, directory?: string): string {
    return readFileSync(this.path(company, job, name, directory), "utf8");
  }

  /** The files that must be the same whatever happened during a job: shares, and the active party's predictions. */
  outputs(job: string, directory?: string): string[] {
    const share = (company: Company): string => this.read(company, job, "share.json", directory);
    return [share(this.bank), this.read(this.bank, job, "predictions.csv", directory), ...this.shops.map(share)];
  }

  /** The model of all shares, which no party has. */
  async model(job: string, directory?: string): Promise<Model> {
    const path = (company: Company): string => this.path(company, job, "share.json", directory);
    const shares = await Promise.all(this.shops.map((shop) => readPassiveShare(path(shop))));
    return mergeShares(await readActiveShare(path(this.bank)), shares);
  }

  /** Fingerprints of all companies, by name. */
  get pins(): ReadonlyMap<string, string> {
    return new Map([this.bank, ...this.shops].map(({ name, fingerprint }) => [name, fingerprint]));
  }

  /** What all companies open for verification, each with the config that it had last. */
  openings(job: string): Promise<Opening[]> {
    return Promise.all([this.bank, ...this.shops].map(({ name }) => openJob(this.#configs.get(name) ?? "", job)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((party) => party.stop()));
    await Promise.all(this.#processes.map((process) => process.stop("SIGKILL")));
  }
}

export interface TrainRun extends ActiveRun {
  readonly onEvent?: Emit;
  /** Clock, disk and connections of the active party. */
  readonly surroundings?: ActiveWorld;
}

/** A folder with key and certificate, and data.csv. */
export async function foundCompany(
  root: string,
  name: string,
  holding: Holding,
  role: "active" | "passive" = "passive",
): Promise<Company> {
  const folder = join(root, name);
  const { fingerprint } = await initParty({ role, name, host, port: 0, directory: folder });
  const table =
    "header" in holding
      ? holding
      : (role === "active" ? labelledTable : featureTable)(holding.people, holding.columns, name);
  writeFileSync(join(folder, "data.csv"), csvText(table));
  return { name, folder, fingerprint };
}

/** Worlds in folders of their own under one root, closed together. */
export class ProcessWorlds {
  readonly #root: string;
  readonly #worlds: ProcessWorld[] = [];
  #folders = 0;

  constructor(root: string) {
    this.#root = root;
  }

  async found(holdings: Readonly<Record<string, Holding>>, options?: WorldOptions): Promise<ProcessWorld> {
    return this.#add(await ProcessWorld.found(this.#folder(), holdings, options));
  }

  copy(world: ProcessWorld): ProcessWorld {
    return this.#add(world.copy(this.#folder()));
  }

  #folder(): string {
    return join(this.#root, `world-${this.#folders++}`);
  }

  #add(world: ProcessWorld): ProcessWorld {
    this.#worlds.push(world);
    return world;
  }

  async close(): Promise<void> {
    await Promise.all(this.#worlds.map((world) => world.close()));
  }
}
