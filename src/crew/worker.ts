/**
 * A worker: a process of the same company that holds blocks for a party. It polls the crew's status table for the
 * current epoch, and serves epochs one after the other. It opens no port, stores nothing, and may be killed at any
 * time.
 */
import { TandemError } from "../base/error.ts";
import type { BlockWork } from "../scheme/blocks/block.ts";
import type { Scheme } from "../scheme/scheme.ts";
import type { TaskJob, TaskWork } from "../scheme/tasks/tasks.ts";
import type { CrewEpoch, CrewHold } from "../wire/generated/tandem/v1/crew_pb.ts";
import { doing } from "./activity.ts";
import type { BlockFiles } from "./block-files.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";
import { ableWorkers, CrewStatusTable } from "./crew-status.ts";
import type { Engine } from "./engine.ts";
import { type Dial, Line } from "./line/line.ts";
import { SealedMessages, type SealOf } from "./sealed-messages.ts";
import { ServedEpoch } from "./served-epoch.ts";

export interface WorkerOptions {
  /** Lower-case letters, digits and dashes; unique in the crew. */
  readonly id: string;
  readonly engine: Engine;
  readonly sealOf: SealOf;
  readonly files: BlockFiles;
  readonly version: string;
  readonly threads: number;
  /** Looks up a scheme. @throws TandemError for an unknown one */
  readonly schemeNamed: (name: string) => Pick<Scheme, "block" | "task">;
  /** Connects to its party; left out: the engine carries everything. */
  readonly dial?: Dial | undefined;
  /** Called in each attempt whose party listens. @param why there is no connection; null: there is one */
  readonly onLine?: ((why: string | null) => void) | undefined;
  readonly clock?: Clock | undefined;
  /** Stop after the first epoch. */
  readonly once?: boolean | undefined;
  /** Whether one more block fits; default: always. */
  readonly hasRoom?: (() => boolean) | undefined;
  /** Reports a problem, with a message that may be shown; empty: it is resolved. */
  readonly onTrouble?: ((trouble: string, cause?: unknown) => void) | undefined;
}

const statusMs = 500;
const anotherKey = "another process of the crew has a different crew.key than this worker";
const noRoom = "not one block fits into the --memory of a worker";

export class Worker {
  readonly #options: WorkerOptions;
  readonly #clock: Clock;
  readonly #statusTable: CrewStatusTable;
  #serving: { readonly epoch: string; readonly served: ServedEpoch } | null = null;
  #share = 0;
  #taskCount = 0;
  #trouble = "";
  /** Set if the engine did not answer. */
  #isAway = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#statusTable = new CrewStatusTable(options.engine.statusTable, options.sealOf);
  }

  /** The number of held blocks. */
  get blockCount(): number {
    return this.#serving?.served.blockCount ?? 0;
  }

  get doing(): number {
    return this.#serving?.served.doing ?? doing.nothing;
  }

  /** The number of finished tasks. */
  get taskCount(): number {
    return this.#taskCount;
  }

  /** Runs until the signal; then its blocks are returned. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#look();
        if (this.#isAway) this.#say("");
        this.#isAway = false;
      } catch (error) {
        this.#isAway = true;
        this.#note(error); // a server may be unreachable: it is tried again
      }
      if (this.#options.once === true && this.#serving?.served.isOver === true) break;
      await sleep(this.#clock, statusMs, signal);
    }
    this.#serving?.served.leave(true);
    await this.#statusTable.removeWorker(this.#options.id).catch(() => {}); // the entry expires by itself
  }

  async #look(): Promise<void> {
    const { id, version, threads } = this.#options;
    const { blockCount: blocks, doing: now } = this;
    const memoryMib = Math.ceil(process.memoryUsage.rss() / 2 ** 20);
    // A process that can read this entry has the same key: another key in the table is then no problem of this
    // worker.
    const trouble = this.#trouble === anotherKey ? "" : this.#trouble;
    await this.#statusTable.putWorker(id, { version, threads, blocks, trouble, memoryMib, doing: now });
    const view = await this.#statusTable.read();
    const { epoch } = view;
    this.#share = Math.ceil((epoch?.blocks ?? 0) / Math.max(1, ableWorkers(view, version)));
    if (epoch === null) {
      this.#leave();
      this.#say(view.hasOthers ? anotherKey : "");
    } else if (epoch.version !== version) {
      this.#leave();
      this.#say(`a worker has version ${version} of Tandem, its party ${epoch.version}`);
    } else if (epoch.epoch !== this.#serving?.epoch || this.#serving.served.isOver) await this.#join(epoch);
    else if (this.#trouble === "" || this.#trouble === noRoom) {
      const isTooSmall = epoch.blocks > 0 && blocks === 0 && this.#options.hasRoom?.() === false;
      this.#say(isTooSmall ? noRoom : "");
    }
  }

  #leave(): void {
    this.#serving?.served.leave(false);
  }

  async #join({ epoch: name, leaseMs, tasks, lines }: CrewEpoch): Promise<void> {
    const { engine, sealOf, id } = this.#options;
    this.#leave();
    const epoch = await engine.join(name);
    if (epoch === null) return; // the epoch is over, or does not exist yet
    this.#say("");
    const messages = new SealedMessages(sealOf(name));
    const served = new ServedEpoch({
      worker: id,
      epoch,
      messages,
      line: this.#line(lines, messages),
      clock: this.#clock,
      leaseMs,
      make: (hold) => this.#make(hold),
      makeTasks: tasks ? (job) => this.#makeTasks(job) : null,
      onTask: () => void this.#taskCount++,
      share: () => this.#share,
      hasRoom: this.#options.hasRoom ?? (() => true),
      onTrouble: (error) => this.#note(error),
    });
    this.#serving = { epoch: name, served };
    void served.run();
  }

  #line(addresses: readonly string[], messages: SealedMessages): Line | null {
    const { id: worker, dial, onLine = () => {} } = this.#options;
    if (addresses.length === 0 || dial === undefined) return null;
    return new Line({ addresses, dial, messages, worker, clock: this.#clock, onState: onLine });
  }

  async #make({ scheme, terms, firstRow, rowCount, binCounts, file, digest }: CrewHold): Promise<BlockWork> {
    const { schemeNamed, files, threads } = this.#options;
    const { block } = schemeNamed(scheme);
    if (block === undefined) throw new TandemError("USAGE", `the scheme ${scheme} does not support workers`);
    const columns = await files.read(file, digest, rowCount, Uint32Array.from(binCounts));
    return block({ terms, firstRow, rowCount, columns }, { threads });
  }

  #makeTasks({ scheme, terms }: TaskJob): Promise<TaskWork> {
    const { schemeNamed, threads } = this.#options;
    const { task } = schemeNamed(scheme);
    if (task === undefined) throw new TandemError("USAGE", `the scheme ${scheme} has no tasks for workers`);
    return task(terms, { threads });
  }

  #note(error: unknown): void {
    this.#say(error instanceof TandemError ? error.message : "a worker failed; its own log says why", error);
  }

  #say(trouble: string, cause?: unknown): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#options.onTrouble?.(trouble, cause);
  }
}
