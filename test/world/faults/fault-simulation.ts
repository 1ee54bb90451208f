/**
 * All parties of a job in one process, with real roles, job admission and ciphers, but a simulated network, disks and
 * clock: connections break, stall and duplicate messages, and any party crashes at any moment and is restarted, until
 * the job is done. What the parties then have on their disks must be, byte for byte, what they have after an
 * undisturbed job.
 *
 * Checked on the way: a passive party's stored trees are as many as the active party's, or up to a round more; and no
 * two different answers are given for one node of one job.
 */
import { join } from "node:path";
import type { DescMethod } from "@bufbuild/protobuf";
import { TandemError } from "../../../src/base/error.ts";
import type { ActiveWorld, ConnectedPeer } from "../../../src/party/active/world.ts";
import type { ActiveConfig, PassiveConfig } from "../../../src/party/config/config.ts";
import type { Emit } from "../../../src/record/events.ts";
import { isCrewTrouble } from "../../../src/base/crew-trouble.ts";
import { runActive } from "../../../src/party/active/run.ts";
import { noNotes } from "../../../src/record/job-record.ts";
import type { PassiveSplit } from "../../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { gradientRoundCount } from "../../../src/gbdt/boost/gradient-rounds.ts";
import { firstTreeOf, fitsStoredTrees, treesPerRound } from "../../../src/protocol/job-parameters.ts";
import { schemeNamed } from "../../../src/scheme/registry.ts";
import { psiPeerOver } from "../../../src/transport/psi-client.ts";
import type { CallWatch } from "../../../src/transport/call-watch.ts";
import { requestOver } from "../../../src/transport/admission-client.ts";
import { peerOver } from "../../../src/transport/peer-client.ts";
import { attemptsMax, type JobExposure, shareScale, type Stretch } from "./exposure.ts";
import { FaultPlan, type FaultKind } from "./fault-plan.ts";
import { SimulatedCrew } from "./simulated-crew.ts";
import { SimulatedConnection } from "./simulated-connection.ts";
import { downMsMax, type PassiveSurroundings, SimulatedPassive } from "./simulated-passive.ts";
import { Crashed, SimulatedDisk } from "./simulated-storage.ts";
import { ticks } from "./ticks.ts";

export const jobName = "simulated";
export const activeName = "bank";

/** A job on real (small) data. */
export interface Scenario {
  readonly name: string;
  readonly active: ActiveConfig;
  readonly passives: readonly PassiveConfig[];
  /** Trees of the start model; 0: none. */
  readonly startTrees: number;
  /** Rows per block of the parties' workers; left out: no workers. */
  readonly crewRows?: number;
}

export interface SimulationResult {
  readonly seed: number;
  readonly faults: Readonly<Record<FaultKind, number>>;
  /** Attempts at the job, over all processes of the active party. */
  readonly attempts: number;
  readonly resumed: number;
  readonly exposure: JobExposure;
  /** What every party has at the end, by party and file. */
  readonly files: ReadonlyMap<string, string>;
}

/** The job as it is without faults: what becomes of it with faults is compared with this. */
export async function simulateUndisturbed(scenario: Scenario): Promise<SimulationResult> {
  return new Simulation(scenario, new FaultPlan(0, 0), Infinity).run();
}

/**
 * @param exposure of this job, or one like it, undisturbed
 * @throws if the job fails, or something is seen on the way that must not be
 */
export async function simulateFaults(
  scenario: Scenario,
  seed: number,
  { exposure }: Pick<SimulationResult, "exposure">,
): Promise<SimulationResult> {
  // Where answers are counted a job ends when too many rounds were redone: its worlds are calmer.
  const calm = schemeNamed(scenario.active.job.scheme).membership === "hidden" ? 0.5 : 1;
  const plan = new FaultPlan(seed, calm * shareScale(exposure));
  return new Simulation(scenario, plan, attemptsMax(exposure, plan.share)).run();
}

/** A process of the active party. */
interface ActiveProcess {
  readonly number: number;
  dead: boolean;
  readonly connections: SimulatedConnection[];
  cutCrew: () => void;
}

class Simulation implements PassiveSurroundings {
  readonly plan: FaultPlan;
  readonly #scenario: Scenario;
  readonly #activeDisk = new SimulatedDisk();
  readonly #passives: readonly SimulatedPassive[];
  /** The active party's workers: processes of their own. */
  readonly #crew: SimulatedCrew | null;
  /** What a party said about a node of a job. */
  readonly #given = new Map<string, string>();
  #nowMs = 0;
  readonly #alarms = new Set<{ readonly atMs: number; readonly ring: () => void }>();
  /** At the stretch of the job that is to be done next. */
  readonly #attemptsMax: number;
  #attemptsFailed = 0;
  #attempts = 0;
  #resumed = 0;
  #join: Stretch | null = null;
  readonly #stretches: Stretch[] = [];
  #violation: Error | null = null;

  constructor(scenario: Scenario, plan: FaultPlan, triesMax: number) {
    this.#scenario = scenario;
    this.plan = plan;
    this.#attemptsMax = triesMax;
    const { crewRows = null, active } = scenario;
    const hasTasks = crewRows !== null && schemeNamed(active.job.scheme).task !== undefined;
    this.#crew = hasTasks ? new SimulatedCrew(activeName, plan, this.#activeDisk, crewRows) : null;
    this.#passives = scenario.passives.map((config) => new SimulatedPassive(config, this, scenario.crewRows ?? null));
  }

  async run(): Promise<SimulationResult> {
    try {
      await this.#runToTheEnd();
    } finally {
      for (const passive of this.#passives) passive.stop();
      this.#crew?.stop();
    }
    if (this.#violation !== null) throw this.#violation;
    return {
      seed: this.plan.seed,
      faults: this.plan.counts,
      attempts: this.#attempts,
      resumed: this.#resumed,
      exposure: { join: this.#join ?? this.plan.takeStretch(), stretches: this.#stretches },
      files: this.#files(),
    };
  }

  async #runToTheEnd(): Promise<void> {
    for (let start = 0; ; start++) {
      // A process may crash when everything is done and nothing is left to do.
      if ((await this.#runActive(start)) || this.#isDone()) return;
      this.#nowMs += this.plan.upTo(downMsMax, "active down", start);
    }
  }

  /** @returns whether the job is done; otherwise the process has crashed */
  async #runActive(number: number): Promise<boolean> {
    const process: ActiveProcess = { number, dead: false, connections: [], cutCrew: () => {} };
    let crashed = (): void => {};
    const end = new Promise<false>((resolve) => (crashed = () => resolve(false)));
    const crash = (): void => {
      process.dead = true;
      process.cutCrew();
      for (const connection of process.connections) connection.lose();
      crashed();
    };
    // Before the first answer a process waits for a short time only; then it is restarted.
    let isProven = this.#activeDisk.files.has(join(this.#activeFolder, "checkpoint.json"));
    const emit: Emit = ({ type }) => {
      if (type === "alignment-progress" || type === "layout") isProven = true;
      if (type === "layout") this.#join ??= this.plan.takeStretch();
      if (type === "resumed" && !process.dead) this.#resumed++;
    };
    const failed = (error: unknown): boolean => {
      const isLoss = error instanceof TandemError && (error.code === "PARTY_LOST" || isCrewTrouble(error.code));
      if (process.dead || (!isProven && isLoss)) return false;
      throw error;
    };
    return Promise.race([
      runActive(this.#scenario.active, emit, this.#world(process, crash)).then(() => !process.dead, failed),
      end,
    ]);
  }

  #world(process: ActiveProcess, crash: () => void): ActiveWorld {
    const { plan } = this;
    const crashAt = (kind: FaultKind, path: string, index: number): void => {
      if (!plan.happens(kind, 0.05, activeName, process.number, path, index)) return;
      crash();
      throw new Crashed();
    };
    const storage = this.#activeDisk.storage(() => process.dead, {
      ticks: (path, index) => plan.writeTicks(activeName, process.number, path, index),
      before: (path, index) => crashAt("active crash at a write", path, index),
      after: (path, index) => {
        this.check();
        if (path === join(this.#activeFolder, "checkpoint.json")) this.#progressed();
        crashAt("active crash after a write", path, index);
      },
    });
    const crew = this.#crew?.party(storage);
    if (crew !== undefined) process.cutCrew = crew.cut;
    return {
      storage,
      crew: crew?.crew,
      lock: () => Promise.resolve(() => Promise.resolve()), // a process that has crashed holds nothing
      notes: () => noNotes,
      now: () => this.#nowMs,
      sleep: async (ms) => {
        this.#nowMs += ms;
        this.#ring();
        await ticks(1);
        if (process.dead) throw new Crashed();
      },
      alarm: (ms, ring) => {
        const alarm = { atMs: this.#nowMs + ms, ring };
        this.#alarms.add(alarm);
        return () => this.#alarms.delete(alarm);
      },
      jitter: () => plan.draw("jitter", this.#nowMs),
      connect: async (_config, watchOf) => {
        if (process.dead) throw new Crashed();
        const attempt = this.#attempts++;
        if (++this.#attemptsFailed > this.#attemptsMax) throw this.#stuck();
        return Promise.all(this.#passives.map((passive) => this.#connect(process, crash, passive, attempt, watchOf)));
      },
    };
  }

  /** A stretch of the job will not have to be done again. */
  #progressed(): void {
    this.#attemptsFailed = 0;
    this.#stretches.push(this.plan.takeStretch());
  }

  #stuck(): Error {
    return new Error(`no progress: ${this.#attemptsMax} consecutive attempts have failed`);
  }

  #ring(): void {
    for (const alarm of this.#alarms) {
      if (alarm.atMs > this.#nowMs) continue;
      this.#alarms.delete(alarm);
      alarm.ring();
    }
  }

  async #connect(
    process: ActiveProcess,
    crashActive: () => void,
    passive: SimulatedPassive,
    attempt: number,
    watchOf: (party: string) => CallWatch,
  ): Promise<ConnectedPeer> {
    const { name } = passive.config;
    const watch = watchOf(name);
    await passive.start(this.#nowMs);
    if (passive.calls === null) this.plan.counts["party down"]++;
    const { calls } = passive;
    let jobId = "";
    const connection = new SimulatedConnection({
      plan: this.plan,
      place: [name, attempt],
      activeName,
      calls,
      membership: schemeNamed(this.#scenario.active.job.scheme).membership,
      crashPassive: () => passive.calls === calls && passive.crash(this.#nowMs),
      crashActive,
      seen: (method, answer) => this.#seen(name, jobId, method, answer),
    });
    process.connections.push(connection);
    passive.connections.push(connection);
    const peer = peerOver(name, connection.transport, { watch });
    const join: typeof peer.join = (hello, options) => {
      jobId = Buffer.from(hello.jobId ?? []).toString("hex");
      return peer.join(hello, options);
    };
    return {
      ...peer,
      join,
      request: requestOver(name, connection.transport, { watch }),
      alignment: (job, validationFile) => psiPeerOver(name, connection.transport, job, validationFile, "", { watch }),
      close: () => {
        watch.close();
        connection.lose();
      },
    };
  }

  #seen(party: string, jobId: string, method: DescMethod, answer: unknown): void {
    if (method.localName !== "splits") return;
    const { tree, node, leftMembers } = answer as PassiveSplit;
    const key = [party, jobId, tree, node].join("/");
    const said = Buffer.from(leftMembers).toString("hex");
    if ((this.#given.get(key) ?? said) !== said)
      this.#violation ??= new Error(`${party} gave two different answers for tree ${tree}, node ${node}`);
    this.#given.set(key, said);
  }

  /** After every write: the passive parties are level with the active party, or up to a round ahead. */
  check(): void {
    const ours = treesIn(this.#activeDisk.files.text(join(this.#activeFolder, "checkpoint.json")), "trees");
    if (ours === null) return;
    const { training } = this.#scenario.active.job;
    const agreed = {
      localRounds: gradientRoundCount(training.local_rounds, training),
      treesPerRound: treesPerRound(training),
      startTrees: this.#scenario.startTrees,
    };
    for (const { config, disk } of this.#passives) {
      const theirs = treesIn(disk.files.text(join(config.output.directory, jobName, "progress.json")), "trees") ?? 0;
      if (!fitsStoredTrees(agreed, ours, Math.max(theirs, firstTreeOf(agreed))))
        this.#violation ??= new Error(`${config.name} has stored ${theirs} trees, the active party ${ours}`);
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
    for (const name of ["share.json", "predictions.csv"])
      files.set(`${activeName}/${name}`, this.#activeDisk.file(join(folder, name)));
    if (this.#activeDisk.files.has(join(folder, "checkpoint.json")))
      throw new TandemError("CHECKPOINT", "the job is done, and its checkpoint is still there");
    for (const { config, disk } of this.#passives) {
      const own = join(config.output.directory, jobName);
      files.set(`${config.name}/share.json`, disk.file(join(own, "share.json")));
      if (!disk.file(join(own, "job.json")).includes('"secret":null'))
        throw new TandemError("CHECKPOINT", `the job is done, and ${config.name} still has its secret`);
    }
    return files;
  }
}

/** How many trees a stored file has: a number, or lists of them in one line or more. */
function treesIn(text: string | undefined, field: string): number | null {
  if (text === undefined) return null;
  let count = 0;
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const contents = Object.values(parsed(line)).find(
      (value) => typeof value === "object" && value !== null && field in value,
    ) as Record<string, unknown> | undefined;
    const trees = contents?.[field];
    // Lists are of new trees, numbers of all trees so far.
    if (Array.isArray(trees)) count += trees.length;
    else if (trees !== undefined) count = Number(trees);
  }
  return count;
}

/** Nothing of a line that was interrupted. */
function parsed(line: string): object {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}
