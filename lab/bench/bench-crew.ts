/** A party's workers and their engine as processes of their own, for the bench; each crew has an engine for itself. */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../src/base/assert.ts";
import { openPartyCrew, type PartyCrew } from "../../src/party/crew/party-crew.ts";
import { type CrewHome, makeCrewHome } from "../../test/world/crews/crew-home.ts";
import type { EngineServers } from "../../test/world/crews/engine-servers.ts";
import { ProcessWorld } from "../../test/world/processes.ts";
import { startTandem } from "../../test/world/tandem-process.ts";
import { type ReadyJob, SummedTrees } from "./workers-job.ts";

export interface BenchCrewOptions {
  readonly program: string;
  readonly job: ReadyJob;
  readonly leaseSeconds: number;
  readonly workers: number;
  /** Of each worker, and of the party's own process. */
  readonly threads: number;
  readonly blocks: number;
}

const party = "passive";
const nothing = { header: ["id"], rows: [] };
/** The status table lists all workers after this time. */
const statusMs = 1500;

interface Opened {
  readonly home: CrewHome;
  readonly server: ChildProcess;
  readonly workers: ChildProcess[];
  party: PartyCrew | null;
  trees: SummedTrees | null;
}

export class BenchCrew {
  readonly #folder: string;
  readonly #options: BenchCrewOptions;
  #opened: Opened | null = null;
  readonly #killAll = (): void => {
    for (const child of [...(this.#opened?.workers ?? []), this.#opened?.server]) child?.kill("SIGKILL");
  };

  /** @param folder where everything that it needs is put */
  constructor(folder: string, options: BenchCrewOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  async open(): Promise<void> {
    const { program, job, leaseSeconds, workers, threads, blocks } = this.#options;
    const world = await ProcessWorld.found(this.#folder, { active: nothing, [party]: nothing });
    const home = await makeCrewHome({
      program,
      party: join(world.shop.folder, "passive.yaml"),
      folder: join(this.#folder, "crew"),
      serverCount: 1,
      section: {
        store: "memory",
        lease_seconds: leaseSeconds,
        workers_min: workers,
        block_rows: blocks === 1 ? "auto" : 2 ** Math.ceil(Math.log2(job.rows / blocks)),
      },
    });
    this.#opened = { home, server: home.servers.start(0), workers: [], party: null, trees: null };
    process.once("exit", this.#killAll);
    await home.servers.ready();
    for (let i = 0; i < workers; i++) await this.#startWorker(this.#opened);
    const config = await world.passiveConfig(world.shop, { crew: home.section });
    assert(config.crew !== undefined, "the config has a crew");
    this.#opened.party = await openPartyCrew(config.crew, party, () => {}, new AbortController().signal);
    this.#opened.trees = await SummedTrees.open(job, threads, this.#opened.party.crew);
  }

  get servers(): EngineServers {
    return this.#all.home.servers;
  }

  get trees(): SummedTrees {
    const { trees } = this.#all;
    assert(trees !== null, "a crew is opened once");
    return trees;
  }

  /** Kills it, as a power cut would. */
  killOne(): void {
    this.#all.workers.shift()?.kill("SIGKILL");
  }

  /** Of engine and workers since they began; 0 where the system does not report it. */
  cpuSeconds(): number {
    const { server, workers } = this.#all;
    return [server, ...workers].reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0);
  }

  async startOne(): Promise<void> {
    await this.#startWorker(this.#all);
    await new Promise((resolve) => setTimeout(resolve, statusMs));
  }

  async close(): Promise<void> {
    this.#opened?.trees?.close();
    await this.#opened?.party?.close();
    this.#killAll();
    process.removeListener("exit", this.#killAll);
  }

  get #all(): Opened {
    assert(this.#opened !== null, "a crew is opened first");
    return this.#opened;
  }

  /** Settles when it has found the engine. */
  async #startWorker({ home, workers }: Opened): Promise<void> {
    const worker = startTandem(["worker", "-c", home.workerConfig, "--threads", String(this.#options.threads)]);
    workers.push(worker.child);
    await worker.errorMatches(/"event":"engine-found"/);
  }
}

/** From the kernel's count of hundredths. */
function cpuSecondsOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}
