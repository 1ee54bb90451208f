/** A party's crew in one process: an engine in memory, workers that come and go, and time as fast as the loop turns. */
import { SeededRandom } from "../../src/base/random.ts";
import { BlockFiles } from "../../src/crew/block-files.ts";
import { type MemoryConnection, MemoryEngine } from "../world/crews/memory-engine.ts";
import type { CrewEvent } from "../../src/crew/remote-blocks.ts";
import { type LineTrouble, MemoryLines } from "../world/crews/memory-lines.ts";
import { RemoteCrew, type RemoteCrewOptions } from "../../src/crew/remote-crew.ts";
import { type Seal, sealOf } from "../../src/crew/seal.ts";
import { TickingClock } from "../world/crews/ticking-clock.ts";
import { Worker, type WorkerOptions } from "../../src/crew/worker.ts";
import { timelessSchemes } from "../world/crews/timeless-schemes.ts";
import { MemoryDisk } from "./memory-disk.ts";

export interface TestWorker {
  readonly worker: Worker;
  readonly connection: MemoryConnection;
  readonly troubles: readonly string[];
  /** Gives its blocks back. */
  stop(): Promise<void>;
  /** Without a word. */
  kill(): void;
}

export interface TestCrewOptions {
  /** Left out: nothing happens to messages. */
  readonly seed?: string;
  readonly bytesMax?: number;
  readonly clock?: TickingClock;
  readonly leaseMs?: number;
  readonly statusMs?: number;
  /** Direct connections between party and workers; left out: nothing happens to them. */
  readonly lineTrouble?: LineTrouble;
  /** What the party keeps for them. */
  readonly keptBytesMax?: number;
}

export class TestCrew {
  readonly clock: TickingClock;
  readonly #leaseMs: number;
  readonly engine: MemoryEngine;
  readonly lines: MemoryLines;
  readonly #keptBytesMax: number | undefined;
  readonly disk = new MemoryDisk();
  readonly events: CrewEvent[] = [];
  readonly #workers: TestWorker[] = [];
  readonly #parties: MemoryConnection[] = [];

  constructor({ seed, bytesMax = Infinity, clock, leaseMs = 1000, statusMs = 3000, ...lines }: TestCrewOptions = {}) {
    this.lines = new MemoryLines(lines.lineTrouble);
    this.#keptBytesMax = lines.keptBytesMax;
    this.clock = clock ?? new TickingClock();
    this.#leaseMs = leaseMs;
    const faults = seed === undefined ? {} : { faults: { random: new SeededRandom(seed), doubling: 0.2, delayMs: 6 } };
    this.engine = new MemoryEngine({ clock: this.clock, leaseMs, statusMs, bytesMax, ...faults });
  }

  /** The party's side. */
  crew(options: Partial<RemoteCrewOptions> = {}): RemoteCrew {
    const engine = this.engine.connect();
    this.#parties.push(engine);
    return new RemoteCrew({
      engine,
      sealOf: testSeal,
      files: this.blockFiles(),
      version: "1",
      leaseMs: this.#leaseMs,
      blockRows: 7,
      workersMin: 1,
      patienceMs: 20_000,
      clock: this.clock,
      lines: this.lines.host(this.#keptBytesMax).lines,
      on: (event) => this.events.push(event),
      ...options,
    });
  }

  work(id: string, options: Partial<WorkerOptions> = {}): TestWorker {
    const connection = this.engine.connect();
    const troubles: string[] = [];
    const line = this.lines.dialler();
    const worker = new Worker({
      dial: line.dial,
      id,
      engine: connection,
      sealOf: testSeal,
      files: this.blockFiles(),
      version: "1",
      threads: 1,
      schemeNamed: timelessSchemes(this.clock),
      clock: this.clock,
      onTrouble: (trouble) => troubles.push(trouble),
      ...options,
    });
    const signal = new AbortController();
    const running = worker.run(signal.signal);
    const end = (): Promise<void> => {
      signal.abort();
      return running;
    };
    const kill = (): void => {
      connection.cut();
      line.cut();
      void end();
    };
    const test = { worker, connection, troubles, stop: end, kill };
    this.#workers.push(test);
    return test;
  }

  get moves(): number {
    return this.events.filter((event) => event.kind === "block-held" && event.deliveries > 1).length;
  }

  /** Tasks that workers have done. */
  get tasks(): number {
    return this.#workers.reduce((sum, { worker }) => sum + worker.taskCount, 0);
  }

  /** Turns of the loop until something is so. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
  }

  stop(): void {
    this.killWorkers();
    for (const party of this.#parties) party.cut();
  }

  killWorkers(): void {
    for (const { kill } of this.#workers) kill();
  }

  blockFiles(): BlockFiles {
    return new BlockFiles(this.disk.storage(), "crew");
  }
}

export const testKey = new Uint8Array(32).fill(7);
const testSeal = (epoch: string): Seal => sealOf(testKey, epoch);
