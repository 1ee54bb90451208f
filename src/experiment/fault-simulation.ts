/**
 * All parties of a job in one process, with real roles, real desks and real Paillier, but with a network, disks and a
 * clock of the simulation: connections break, stall and repeat themselves, and any party crashes at any moment and is
 * started again, until the job is done. What the parties then have on their disks must be, byte for byte, what they have
 * after an undisturbed run.
 *
 * Checked on the way: a passive party's stored trees are as many as the active party's, or up to a round more; and nobody
 * gets two different answers about one node of one run.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescMethod } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import { SeededRandom } from "../base/random.ts";
import { writeCsv } from "../data/write-csv.ts";
import type { ActiveWorld } from "../party/active-world.ts";
import type { ActiveConfig, PassiveConfig } from "../party/config.ts";
import { readActiveConfig, readPassiveConfig } from "../party/config.ts";
import type { Emit } from "../party/events.ts";
import { PassiveDesk } from "../party/passive-desk.ts";
import { runActive } from "../party/run-active.ts";
import { noNotes } from "../party/run-record.ts";
import type { PassiveSplit } from "../protocol/generated/tandem/v1/tandem_pb.ts";
import { firstTreeOf, fitsStoredTrees, treesPerRound } from "../protocol/job-parameters.ts";
import { readActiveShare } from "../store/share-files.ts";
import { alignmentPeerOver } from "../transport/alignment-client.ts";
import { type PartyCalls, partyCalls } from "../transport/party-service.ts";
import { peerOver } from "../transport/peer-client.ts";
import { FaultPlan, type FaultKind } from "./fault-plan.ts";
import { SimulatedConnection } from "./simulated-connection.ts";
import { Crashed, SimulatedDisk } from "./simulated-storage.ts";
import { turns } from "./turns.ts";

const jobName = "simulated";
const earlierJob = "earlier";
const activeName = "bank";
const passiveNames = ["shop", "telecom"];
/** A party that is down comes back within this time of the simulation. */
const downMsMax = 3000;
const activeStartsMax = 60;

/** A job on real (small) data. */
export interface Scenario {
  readonly name: string;
  readonly active: ActiveConfig;
  readonly passives: readonly PassiveConfig[];
  /** Of the model that the job goes on from; 0: none. */
  readonly startTrees: number;
}

export interface SimulationResult {
  readonly seed: number;
  readonly faults: Readonly<Record<FaultKind, number>>;
  /** Attempts at the job, over all processes of the active party. */
  readonly attempts: number;
  readonly resumed: number;
  /** What every party has at the end, by party and file. */
  readonly files: ReadonlyMap<string, string>;
}

interface Terms {
  readonly name: string;
  readonly rowCount: number;
  /** Rows are in the same order everywhere, or aligned first. */
  readonly align?: boolean;
  readonly classes?: number;
  readonly validationFraction?: number;
  /** The last rows of everybody stand in files of their own. */
  readonly validationFile?: true;
  /** Passive parties' last columns are text. */
  readonly categories?: true;
  /** How many of the rows have a label that means nothing: validation soon stops improving. */
  readonly noise?: number;
  /** Of the passive parties. */
  readonly minimums?: { readonly min_instances_per_node: number; readonly min_instances_per_candidate: number };
  readonly training: object;
  /** Goes on from the model of an earlier job that was trained like this. */
  readonly before?: object;
}

const small = { num_round: 3, max_depth: 3, max_bin: 6, min_child_weight: 0 };
/** What a job can be: a seed takes one of them. */
const allTerms: readonly Terms[] = [
  { name: "plain", rowCount: 200, training: small },
  { name: "several classes", rowCount: 110, classes: 3, training: { ...small, num_round: 2, objective: "multi:softprob", num_class: 3, subsample: 0.8 } },
  { name: "sampled", rowCount: 120, training: { ...small, sampling_method: "goss", top_rate: 0.3, other_rate: 0.3, colsample_bytree: 0.8, colsample_bylevel: 0.8, colsample_bynode: 0.8 } },
  { name: "early stopping", rowCount: 120, noise: 0.5, validationFraction: 0.3, training: { ...small, num_round: 9, eta: 1, early_stopping_rounds: 2, eval_metric: ["auc", "logloss"] } },
  { name: "leaf by leaf", rowCount: 120, training: { ...small, grow_policy: "lossguide", max_leaves: 5, local_rounds: 1 } },
  { name: "classes stopped early", rowCount: 100, classes: 3, noise: 0.4, validationFraction: 0.3, training: { ...small, num_round: 6, eta: 0.5, objective: "multi:softprob", num_class: 3, early_stopping_rounds: 1, colsample_bynode: 0.7 } },
  { name: "small groups withheld", rowCount: 120, minimums: { min_instances_per_node: 15, min_instances_per_candidate: 6 }, training: { ...small, colsample_bynode: 0.8 } },
  { name: "categories", rowCount: 120, categories: true, training: { ...small, enable_categorical: true } },
  { name: "validation files", rowCount: 130, noise: 0.5, validationFile: true, training: { ...small, num_round: 9, eta: 1, early_stopping_rounds: 2, eval_metric: ["auc"] } },
  { name: "aligned", rowCount: 60, align: true, training: small },
  { name: "warm start", rowCount: 110, classes: 3, before: { num_round: 1 }, training: { ...small, num_round: 2, objective: "multi:softprob", num_class: 3, colsample_bytree: 0.8 } },
];

export interface Scenarios {
  readonly all: readonly Scenario[];
  /** Half of the seeds take the plain one. */
  of(seed: number): Scenario;
  close(): Promise<void>;
}

/** In a folder of their own; `close` removes it. */
export async function prepareScenarios(): Promise<Scenarios> {
  const root = await mkdtemp(join(tmpdir(), "tandem-faults-"));
  const all = await Promise.all(allTerms.map((terms, i) => scenario(join(root, String(i)), terms)));
  const [plain, ...others] = all;
  return {
    all,
    of: (seed) => (seed % 2 === 1 ? plain : others[(seed / 2) % others.length]),
    close: () => rm(root, { recursive: true, force: true }),
  };
}

async function scenario(root: string, { name: scenarioName, rowCount, align = false, classes = 2, validationFraction, validationFile, categories, noise = 0, minimums, training, before }: Terms): Promise<Scenario> {
  await mkdir(root);
  const random = new SeededRandom(`faults ${scenarioName}`);
  const columns = Array.from({ length: 5 }, () => Array.from({ length: rowCount }, () => random.normal()));
  const labels = columns[0].map((x, i) => {
    if (random.uniform() < noise) return String(Math.floor(random.uniform() * classes));
    const score = x - columns[2][i] + (columns[3][i] > 0 ? columns[4][i] : 0) + 0.5 * random.normal();
    return String(score > 0 ? 1 : classes > 2 && score < -1 ? 2 : 0);
  });
  const ids = labels.map((_, i) => `p${1000 + i}`);
  const cell = (value: number, isText: boolean): string => (isText ? `kind ${Math.round(2 * value)}` : value.toFixed(3));
  const cells = (column: number, isText = false): string[] => columns[column].map((value) => (random.uniform() < 0.05 ? "" : cell(value, isText)));
  const write = async (name: string, names: string[], values: string[][]): Promise<{ path: string; validation_path?: string }> => {
    // Where people are aligned, every party knows others, in an order of its own.
    const order = align ? Array.from(random.permutation(rowCount)).slice(0, rowCount - 6) : ids.map((_, i) => i);
    const file = async (fileName: string, rows: readonly number[]): Promise<string> => {
      const path = join(root, fileName);
      await writeCsv(path, ["id", ...names], [ids, ...values].map((column) => rows.map((row) => column[row])));
      return path;
    };
    if (!validationFile) return { path: await file(`${name}.csv`, order) };
    const trained = Math.round(0.7 * rowCount);
    return { path: await file(`${name}.csv`, order.slice(0, trained)), validation_path: await file(`${name}-validation.csv`, order.slice(trained)) };
  };
  const tls = { certificate: "unused", key: "unused" };
  const configFile = async (name: string, config: object): Promise<string> => {
    const path = join(root, `${name}.json`);
    await writeFile(path, JSON.stringify({ name, tls, sampling_secret: `columns of ${name}`, output: { directory: name }, threads: 1, ...config }));
    return path;
  };
  const fingerprint = "0".repeat(64);
  const data = { id: "id", features: "all" };
  const active = await configFile(activeName, {
    job: jobName,
    passives: passiveNames.map((name) => ({ name, host: "simulated", port: 1, fingerprint })),
    data: { ...data, ...(await write(activeName, ["a", "label"], [cells(0), labels])), label: "label", test_fraction: 0.2, ...(validationFraction === undefined ? {} : { validation_fraction: validationFraction }) },
    align,
    training,
    insecure_key_bits: 128,
  });
  const passives = await Promise.all(
    passiveNames.map(async (name, i) => {
      const files = await write(name, [`${name}1`, `${name}2`], [cells(1 + 2 * i), cells(2 + 2 * i, categories)]);
      const policy = { insecure_min_key_bits: 128, min_instances: 1, ...minimums };
      return configFile(name, { listen: { host: "simulated", port: 1 }, active: [{ name: activeName, fingerprint }], data: { ...data, ...files }, policy });
    }),
  );
  const alone = { name: scenarioName, active: await readActiveConfig(active, () => jobName), passives: await Promise.all(passives.map(readPassiveConfig)), startTrees: 0 };
  return before === undefined ? alone : afterEarlierJob(alone, before);
}

/** The shares of an earlier job lie on real disks: nobody writes them any more. */
async function afterEarlierJob(scenario: Scenario, before: object): Promise<Scenario> {
  const { active, passives } = scenario;
  const { files } = await simulateFaults({ ...scenario, active: { ...active, training: { ...active.training, ...before } } }, 0, true);
  for (const { name, output } of [active, ...passives]) {
    const folder = join(output.directory, earlierJob);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "share.json"), files.get(`${name}/share.json`) ?? "");
  }
  const { trees } = await readActiveShare(join(active.output.directory, earlierJob, "share.json"));
  return { ...scenario, active: { ...active, warm_start: { model: earlierJob } }, startTrees: trees.length };
}

/** @throws if the job fails, or something is seen on the way that must not be */
export async function simulateFaults(scenario: Scenario, seed: number, undisturbed = false): Promise<SimulationResult> {
  return new Simulation(scenario, new FaultPlan(seed, undisturbed)).run();
}

/** A process of the active party. */
interface ActiveProcess {
  readonly number: number;
  dead: boolean;
  readonly connections: SimulatedConnection[];
}

class SimulatedPassive {
  readonly config: PassiveConfig;
  readonly disk = new SimulatedDisk();
  calls: PartyCalls | null = null;
  starts = 0;
  connections: SimulatedConnection[] = [];
  #downUntilMs = 0;
  readonly #simulation: Simulation;

  constructor(config: PassiveConfig, simulation: Simulation) {
    this.config = config;
    this.#simulation = simulation;
  }

  /** Starts the party if it is time to. */
  async start(nowMs: number): Promise<void> {
    if (this.calls !== null || nowMs < this.#downUntilMs) return;
    const { plan } = this.#simulation;
    const start = this.starts++;
    let dead = false;
    const crash = (kind: FaultKind, share: number, path: string, index: number): void => {
      if (!plan.happens(kind, share, this.config.name, start, path, index)) return;
      dead = true;
      this.crash(nowMs);
      throw new Crashed();
    };
    const storage = this.disk.storage(() => dead, {
      turns: (path, index) => plan.writeTurns(this.config.name, start, path, index),
      before: (path, index) => crash("passive crash at a write", 0.02, path, index),
      after: (path, index) => {
        this.#simulation.check();
        crash("passive crash after a write", 0.02, path, index);
      },
    });
    const desk = new PassiveDesk(this.config, () => {}, () => {}, { storage });
    await desk.load();
    this.#kill = () => (dead = true);
    this.calls = partyCalls(desk);
  }

  #kill: () => void = () => {};

  crash(nowMs: number): void {
    if (this.calls === null) return;
    const { plan } = this.#simulation;
    this.#kill();
    this.calls = null;
    this.#downUntilMs = nowMs + plan.upTo(downMsMax, "down", this.config.name, this.starts);
    for (const connection of this.connections.splice(0)) {
      connection.loseThere();
      connection.lose();
    }
  }
}

class Simulation {
  readonly plan: FaultPlan;
  readonly #scenario: Scenario;
  readonly #activeDisk = new SimulatedDisk();
  readonly #passives: readonly SimulatedPassive[];
  /** What a party said about a node of a run. */
  readonly #given = new Map<string, string>();
  #nowMs = 0;
  #attempts = 0;
  #resumed = 0;
  #violation: Error | null = null;

  constructor(scenario: Scenario, plan: FaultPlan) {
    this.#scenario = scenario;
    this.plan = plan;
    this.#passives = scenario.passives.map((config) => new SimulatedPassive(config, this));
  }

  async run(): Promise<SimulationResult> {
    for (let start = 0; ; start++) {
      if (start === activeStartsMax) throw new Error(`the job was not done after ${activeStartsMax} starts of the active party`);
      // A process may crash when everything is done and nothing is left to do.
      if ((await this.#runActive(start)) || this.#isDone()) break;
      this.#nowMs += this.plan.upTo(downMsMax, "active down", start);
    }
    if (this.#violation !== null) throw this.#violation;
    return { seed: this.plan.seed, faults: this.plan.counts, attempts: this.#attempts, resumed: this.#resumed, files: this.#files() };
  }

  /** @returns whether the job is done; otherwise the process has crashed */
  async #runActive(number: number): Promise<boolean> {
    const process: ActiveProcess = { number, dead: false, connections: [] };
    let crashed = (): void => {};
    const end = new Promise<false>((resolve) => (crashed = () => resolve(false)));
    const crash = (): void => {
      process.dead = true;
      for (const connection of process.connections) connection.lose();
      crashed();
    };
    // Before anybody has answered, a process waits for a short time only; then somebody starts it again.
    let isProven = this.#activeDisk.files.has(join(this.#activeFolder, "checkpoint.json"));
    const emit: Emit = ({ type }) => {
      if (type === "alignment-progress" || type === "layout") isProven = true;
      if (type === "resumed" && !process.dead) this.#resumed++;
    };
    const failed = (error: unknown): boolean => {
      if (process.dead || (!isProven && error instanceof TandemError && error.code === "PARTY_LOST")) return false;
      throw error;
    };
    return Promise.race([runActive(this.#scenario.active, emit, this.#world(process, crash)).then(() => !process.dead, failed), end]);
  }

  #world(process: ActiveProcess, crash: () => void): ActiveWorld {
    const { plan } = this;
    const crashAt = (kind: FaultKind, path: string, index: number): void => {
      if (!plan.happens(kind, 0.05, activeName, process.number, path, index)) return;
      crash();
      throw new Crashed();
    };
    const storage = this.#activeDisk.storage(() => process.dead, {
      turns: (path, index) => plan.writeTurns(activeName, process.number, path, index),
      before: (path, index) => crashAt("active crash at a write", path, index),
      after: (path, index) => {
        this.check();
        crashAt("active crash after a write", path, index);
      },
    });
    return {
      storage,
      lock: () => Promise.resolve(() => Promise.resolve()), // a process that has crashed holds nothing
      notes: () => noNotes,
      now: () => this.#nowMs,
      sleep: async (ms) => {
        this.#nowMs += ms;
        await turns(1);
        if (process.dead) throw new Crashed();
      },
      jitter: () => plan.draw("jitter", this.#nowMs),
      connect: async () => {
        if (process.dead) throw new Crashed();
        const attempt = this.#attempts++;
        return Promise.all(this.#passives.map((passive) => this.#connect(process, crash, passive, attempt)));
      },
    };
  }

  async #connect(process: ActiveProcess, crashActive: () => void, passive: SimulatedPassive, attempt: number) {
    const { name } = passive.config;
    await passive.start(this.#nowMs);
    if (passive.calls === null) this.plan.counts["party down"]++;
    const { calls } = passive;
    let run = "";
    const connection = new SimulatedConnection({
      plan: this.plan,
      place: [name, attempt],
      activeName,
      calls,
      crashPassive: () => passive.calls === calls && passive.crash(this.#nowMs),
      crashActive,
      seen: (method, answer) => this.#seen(name, run, method, answer),
    });
    process.connections.push(connection);
    passive.connections.push(connection);
    const peer = peerOver(name, connection.transport);
    const join: typeof peer.join = (hello, options) => {
      run = Buffer.from(hello.run ?? []).toString("hex");
      return peer.join(hello, options);
    };
    return { ...peer, join, alignment: (job: string, validationFile: boolean) => alignmentPeerOver(name, connection.transport, job, validationFile), close: () => connection.lose() };
  }

  #seen(party: string, run: string, method: DescMethod, answer: unknown): void {
    if (method.localName !== "splits") return;
    const { tree, node, leftMembers } = answer as PassiveSplit;
    const key = [party, run, tree, node].join("/");
    const said = Buffer.from(leftMembers).toString("hex");
    if ((this.#given.get(key) ?? said) !== said) this.#violation ??= new Error(`${party} has answered in two ways about tree ${tree}, node ${node}`);
    this.#given.set(key, said);
  }

  /** After every write: the passive parties are level with the active party, or up to a round ahead. */
  check(): void {
    const ours = treesIn(this.#activeDisk.files.get(join(this.#activeFolder, "checkpoint.json")), "trees");
    if (ours === null) return;
    const { training } = this.#scenario.active;
    const agreed = { localRounds: training.local_rounds, treesPerRound: treesPerRound(training), startTrees: this.#scenario.startTrees };
    for (const { config, disk } of this.#passives) {
      const theirs = treesIn(disk.files.get(join(config.output.directory, jobName, "progress.json")), "trees") ?? 0;
      if (!fitsStoredTrees(agreed, ours, Math.max(theirs, firstTreeOf(agreed)))) this.#violation ??= new Error(`${config.name} has stored ${theirs} trees, the active party ${ours}`);
    }
  }

  get #activeFolder(): string {
    return join(this.#scenario.active.output.directory, jobName);
  }

  #isDone(): boolean {
    const { files } = this.#activeDisk;
    return files.has(join(this.#activeFolder, "share.json")) && !files.has(join(this.#activeFolder, "checkpoint.json"));
  }

  #files(): Map<string, string> {
    const files = new Map<string, string>();
    const folder = this.#activeFolder;
    for (const name of ["share.json", "predictions.csv"]) files.set(`${activeName}/${name}`, this.#activeDisk.file(join(folder, name)));
    if (this.#activeDisk.files.has(join(folder, "checkpoint.json"))) throw new TandemError("CHECKPOINT", "the job is done, and its checkpoint is still there");
    for (const { config, disk } of this.#passives) {
      const own = join(config.output.directory, jobName);
      files.set(`${config.name}/share.json`, disk.file(join(own, "share.json")));
      if (!disk.file(join(own, "job.json")).includes('"secret":null')) throw new TandemError("CHECKPOINT", `the job is done, and ${config.name} still has its secret`);
    }
    return files;
  }
}

/** How many trees a stored file has: a number, or a list of them. */
function treesIn(text: string | undefined, field: string): number | null {
  if (text === undefined) return null;
  const contents = Object.values(JSON.parse(text) as Record<string, unknown>).find((value) => typeof value === "object" && value !== null && field in value) as Record<string, unknown>;
  const trees = contents[field];
  return Array.isArray(trees) ? trees.length : Number(trees);
}
