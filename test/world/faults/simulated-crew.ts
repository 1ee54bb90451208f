/**
 * A party's workers and engine in a simulation. Messages are late, duplicated and reordered; workers are killed and
 * replaced, or stopped for longer than their leases and resumed; the engine loses all state; and lines are refused, cut
 * in the middle of a payload, or deliver other bytes.
 */
import { join } from "node:path";
import type { Storage } from "../../../src/base/files/storage.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import { BlockFiles } from "../../../src/crew/block-files.ts";
import { type MemoryConnection, MemoryEngine } from "../crews/memory-engine.ts";
import { MemoryLines } from "../crews/memory-lines.ts";
import { RemoteCrew } from "../../../src/crew/remote-crew.ts";
import { type Seal, sealOf } from "../../../src/crew/seal.ts";
import { TickingClock } from "../crews/ticking-clock.ts";
import { timelessSchemes } from "../crews/timeless-schemes.ts";
import { Worker } from "../../../src/crew/worker.ts";
import type { FaultPlan } from "./fault-plan.ts";
import type { SimulatedDisk } from "./simulated-storage.ts";

const workerCount = 2;
const leaseMs = 1000;
const patienceMs = 60_000;
/** Of payloads, and of connections. */
const lineFaultShare = 0.03;
const version = "simulated";
const crewKey = new Uint8Array(32).fill(5);

interface Running {
  readonly connection: MemoryConnection;
  readonly cutLines: () => void;
  readonly end: AbortController;
}

export class SimulatedCrew {
  readonly #party: string;
  readonly #plan: FaultPlan;
  readonly #blockRows: number;
  readonly #clock = new TickingClock();
  readonly #engine: MemoryEngine;
  readonly #folder: string;
  readonly #disk: SimulatedDisk;
  readonly #lines: MemoryLines;
  #passed = 0;
  readonly #workers: Running[] = [];
  #started = 0;
  #stored = 0;
  #isOver = false;

  constructor(party: string, plan: FaultPlan, disk: SimulatedDisk, blockRows: number) {
    this.#party = party;
    this.#plan = plan;
    this.#blockRows = blockRows;
    this.#disk = disk;
    this.#folder = join(party, "crew");
    this.#engine = new MemoryEngine({
      clock: this.#clock,
      leaseMs,
      statusMs: 3 * leaseMs,
      faults: { random: new SeededRandom(`${plan.seed} ${party}`), doubling: 0.1, delayMs: 4 },
      onStored: () => this.#trouble(this.#stored++),
    });
    this.#lines = new MemoryLines((fault) => plan.happens(fault, lineFaultShare, party, "line", this.#passed++));
    for (let i = 0; i < workerCount; i++) this.#workers.push(this.#work());
  }

  /** For a new process of the party. */
  party(storage: Storage): { readonly crew: RemoteCrew; readonly cut: () => void } {
    const connection = this.#engine.connect();
    const host = this.#lines.host();
    const crew = new RemoteCrew({
      engine: connection,
      sealOf: sealed,
      files: new BlockFiles(storage, this.#folder),
      version,
      leaseMs,
      blockRows: this.#blockRows,
      workersMin: 1,
      patienceMs,
      clock: this.#clock,
      lines: host.lines,
    });
    const cut = (): void => {
      connection.cut();
      host.cut();
    };
    return { crew, cut };
  }

  stop(): void {
    this.#isOver = true;
    for (const worker of this.#workers) kill(worker);
  }

  #work(): Running {
    const connection = this.#engine.connect();
    const end = new AbortController();
    const storage = this.#disk.storage(() => false, { ticks: () => 0, before() {}, after() {} });
    const line = this.#lines.dialler();
    const worker = new Worker({
      dial: line.dial,
      id: `w${this.#started++}`,
      engine: connection,
      sealOf: sealed,
      files: new BlockFiles(storage, this.#folder),
      version,
      threads: 1,
      schemeNamed: timelessSchemes(this.#clock),
      clock: this.#clock,
    });
    void worker.run(end.signal);
    return { connection, cutLines: line.cut, end };
  }

  /** After every message that was stored. */
  #trouble(index: number): void {
    if (this.#isOver) return;
    const place = [this.#party, index] as const;
    const which = this.#plan.upTo(workerCount - 1, "which worker", ...place);
    if (this.#plan.happens("worker killed", 0.02, ...place)) {
      kill(this.#workers[which]);
      this.#workers[which] = this.#work();
    } else if (this.#plan.happens("worker stopped for a while", 0.02, ...place)) {
      this.#clock.after(2 * leaseMs, this.#workers[which].connection.freeze());
    }
    if (this.#plan.happens("engine forgot everything", 0.002, ...place)) this.#engine.forget();
  }
}

function kill({ connection, cutLines, end }: Running): void {
  connection.cut();
  cutLines();
  end.abort();
}

const sealed = (epoch: string): Seal => sealOf(crewKey, epoch);
