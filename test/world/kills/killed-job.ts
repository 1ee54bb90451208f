/**
 * One job whose processes are killed, stopped and terminated, and restarted as by a supervisor. It must finish without
 * help, with the model of an undisturbed job, and never stall for long.
 */
import type { ChildProcess } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { CrewHome } from "../crews/crew-home.ts";
import { EngineServers } from "../crews/engine-servers.ts";
import { BankEvents } from "./bank-events.ts";
import type { Fault, KillPlan, Moment } from "./kill-plan.ts";
import { startTandem } from "../tandem-process.ts";
import { type JobConfigs, type KillWorld, leaseSeconds } from "./kill-world.ts";
import { Moments } from "./moments.ts";
import { MortalProcess, pause } from "./mortal-process.ts";

/** Beyond the lease: the longest stall while all processes run. */
const stallSecondsMax = leaseSeconds + 30;
const jobSecondsMax = 900;
const lookMs = 50;
/** On a busy machine processes need a while to start. */
const firstWaitMs = 30_000;

export interface DoneFault extends Fault {
  /** When it was done in fact; null: its moment did not come. */
  readonly at: Moment | null;
}

export interface JobOutcome {
  /** Null: all is well. */
  readonly failure: string | null;
  readonly done: readonly DoneFault[];
  /** The longest time without a tree while all processes ran, in seconds. */
  readonly stallSeconds: number;
  /** The same, including times in which a process was down. */
  readonly gapSeconds: number;
  readonly moves: number;
  readonly epochsLost: number;
  readonly attempts: number;
}

export class KilledJob {
  readonly #plan: KillPlan;
  readonly #name: string;
  readonly #world: KillWorld;
  readonly #servers: EngineServers;
  readonly #mortals: { servers: MortalProcess[]; workers: MortalProcess[]; shop: MortalProcess; bank: MortalProcess };
  readonly #events: BankEvents;
  readonly #moments: Moments;
  readonly #done: DoneFault[] = [];
  #isHurting = false;
  #gotOnAt = performance.now();
  #restoredAt = performance.now();
  #stallMs = 0;
  #gapMs = 0;

  private constructor(world: KillWorld, plan: KillPlan, name: string, home: CrewHome, configs: JobConfigs) {
    this.#world = world;
    this.#plan = plan;
    this.#name = name;
    this.#servers = home.servers;
    this.#events = new BankEvents(world.eventsOf(name));
    this.#moments = new Moments(home.servers, this.#events, () => this.#mortals.bank.hasEnded);
    const servers = Array.from({ length: home.servers.count }, (_, i) =>
      this.#mortal(EngineServers.nameOf(i), () => home.servers.start(i)),
    );
    const workers = Array.from({ length: plan.workerCount }, (_, i) =>
      this.#mortal(`worker-${i}`, () => tandem("worker", "-c", home.workerConfig, "--threads", "1")),
    );
    const shop = this.#mortal("shop", () => tandem("party", "-c", configs.shop), {
      onLine: (line) => this.#moments.hear(line),
    });
    const bank = this.#mortal("bank", () => tandem("train", "-c", configs.bank), {
      isEnd: (exitCode, said) => exitCode === 0 || said.some((line) => line.includes("holds a finished job")),
      onStart: () => (this.#gotOnAt = performance.now()),
    });
    this.#mortals = { servers, workers, shop, bank };
  }

  /** @param name of its folders, which nothing else has */
  static async start(world: KillWorld, plan: KillPlan, name: string): Promise<KilledJob> {
    const home = await world.crewHome(plan.engine);
    return new KilledJob(world, plan, name, home, await world.writeConfigs(name, plan.scheme, home));
  }

  /** @param expected what an undisturbed job stores */
  async run(expected: string): Promise<JobOutcome> {
    const hurting = this.#hurt();
    const failure = await this.#watch();
    await hurting;
    const { servers, workers, shop, bank } = this.#mortals;
    await Promise.all([bank, shop, ...workers, ...servers].map((mortal) => mortal.end()));
    const isSame = failure !== null || this.#world.modelOf(this.#name) === expected;
    return {
      failure: isSame ? failure : "the model is not that of an undisturbed job",
      done: this.#done,
      stallSeconds: this.#stallMs / 1000,
      gapSeconds: this.#gapMs / 1000,
      moves: this.#moments.moves,
      epochsLost: this.#moments.epochsLost,
      attempts: this.#events.attempts,
    };
  }

  /** Until the job is over. @returns what is wrong */
  async #watch(): Promise<string | null> {
    for (const began = performance.now(); !this.#mortals.bank.hasEnded; await pause(lookMs)) {
      const now = performance.now();
      if (this.#events.look()) this.#gotOnAt = now;
      this.#gapMs = Math.max(this.#gapMs, now - this.#gotOnAt);
      if (this.#isHurting) this.#restoredAt = now;
      const stallMs = now - Math.max(this.#gotOnAt, this.#restoredAt);
      this.#stallMs = Math.max(this.#stallMs, stallMs);
      if (stallMs > stallSecondsMax * 1000) return `no tree for ${stallSecondsMax} s, while all processes run`;
      if (now - began > jobSecondsMax * 1000) return `not at its end after ${jobSecondsMax} s`;
    }
    return null;
  }

  async #hurt(): Promise<void> {
    const isOver = (): boolean => this.#mortals.bank.hasEnded || this.#stallMs > stallSecondsMax * 1000;
    for (const [i, fault] of this.#plan.faults.entries()) {
      const comes = this.#moments.comes(fault.when, i === 0 ? firstWaitMs : undefined);
      if (fault.when === "reading data" && i > 0) void this.#handOn(fault);
      const came = await comes;
      await pause(fault.afterMs);
      if (isOver()) return;
      this.#isHurting = true;
      this.#note(`${fault.how} ${fault.who}, ${fault.when}${came ? "" : " (which did not come)"}`);
      this.#done.push({ ...fault, at: came ? fault.when : null });
      const found = await this.#victims(fault);
      const hurt = (mortal: MortalProcess): Promise<void> =>
        fault.how === "SIGSTOP"
          ? mortal.stopFor(leaseSeconds * 1000 + fault.beyondLeaseMs)
          : mortal.kill(fault.how, fault.awayMs);
      await Promise.all(found.map(hurt));
      this.#isHurting = false;
      const trees = this.#events.trees;
      while (!fault.isFollowedAtOnce && this.#events.trees === trees && !isOver()) await pause(lookMs);
    }
  }

  /** In the middle of a job data are read only if a worker gives its blocks back. It does not count as a fault. */
  async #handOn({ which }: Fault): Promise<void> {
    const { workers } = this.#mortals;
    await workers[(which + 1) % workers.length].kill("SIGTERM", 100);
  }

  async #victims({ who, which }: Fault): Promise<readonly MortalProcess[]> {
    const { servers, workers, shop, bank } = this.#mortals;
    const worker = workers[which % workers.length];
    const server = servers[which % servers.length];
    switch (who) {
      case "one worker":
        return [worker];
      case "all workers":
        return workers;
      case "server":
        return [server];
      case "stream leader":
        return [(await this.#leader()) ?? server];
      case "passive party":
        return [shop];
      case "active party":
        return [bank];
      case "worker and server":
        return [worker, server];
    }
  }

  async #leader(): Promise<MortalProcess | null> {
    const log = (await this.#servers.streams())?.find(({ name }) => name.endsWith("-log"));
    return this.#mortals.servers.find(({ name }) => name === log?.leader) ?? null;
  }

  #mortal(
    name: string,
    start: () => ChildProcess,
    rest: Partial<ConstructorParameters<typeof MortalProcess>[0]> = {},
  ): MortalProcess {
    return new MortalProcess({
      name,
      spawn: start,
      ...rest,
      onLine: (line) => {
        this.#note(line, name);
        rest.onLine?.(line);
      },
    });
  }

  /** The output of all processes in one file, for debugging. */
  #note(line: string, who = "-"): void {
    const at = new Date().toISOString().slice(11, 23);
    appendFileSync(join(this.#world.root, `${this.#name}.log`), `${at} ${who}: ${line}\n`);
  }
}

const tandem = (...args: readonly string[]): ChildProcess => startTandem(args).child;
