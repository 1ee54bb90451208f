/**
 * A worker: a process of the same company that holds blocks for a party. It looks at the crew's board for the epoch
 * that is current, and serves one after the other. It opens no port, stores nothing, and may be killed at any time.
 */
import { TandemError } from "../base/error.ts";
import type { BlockWork } from "../scheme/blocks/block.ts";
import type { Scheme } from "../scheme/scheme.ts";
import type { TaskJob, TaskWork } from "../scheme/tasks/tasks.ts";
import type { CrewEpoch, CrewHold } from "../wire/generated/tandem/v1/crew_pb.ts";
import { doing } from "./activity.ts";
import type { BlockFiles } from "./block-files.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";
import { ableWorkers, CrewBoard } from "./crew-board.ts";
import type { Engine } from "./engine.ts";
import { SealedMessages, type SealOf } from "./sealed-messages.ts";
import { ServedEpoch } from "./served-epoch.ts";

export interface WorkerOptions {
  /** Small letters, digits and dashes; no other worker of the crew has it. */
  readonly id: string;
  readonly engine: Engine;
  readonly sealOf: SealOf;
  readonly files: BlockFiles;
  readonly version: string;
  readonly threads: number;
  /** Finds a scheme. @throws TandemError for one that it does not know */
  readonly schemeNamed: (name: string) => Pick<Scheme, "block" | "task">;
  readonly clock?: Clock | undefined;
  /** Ends with the first epoch that it has served. */
  readonly once?: boolean | undefined;
  /** Whether one block more may be taken; always, if left out. */
  readonly hasRoom?: (() => boolean) | undefined;
  /** Says what hinders it, in words that may be shown; empty: nothing any more. */
  readonly onTrouble?: ((trouble: string, cause?: unknown) => void) | undefined;
}

const boardMs = 500;
const anotherKey = "somebody on the board has another crew.key than this worker";
const noRoom = "not one block fits into the --memory of a worker";

export class Worker {
  readonly #options: WorkerOptions;
  readonly #clock: Clock;
  readonly #board: CrewBoard;
  #serving: { readonly epoch: string; readonly served: ServedEpoch } | null = null;
  #share = 0;
  #taskCount = 0;
  #trouble = "";
  /** The engine did not answer. */
  #isAway = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#board = new CrewBoard(options.engine.board, options.sealOf);
  }

  /** Blocks that it holds. */
  get blockCount(): number {
    return this.#serving?.served.blockCount ?? 0;
  }

  get doing(): number {
    return this.#serving?.served.doing ?? doing.nothing;
  }

  /** Tasks that it has done. */
  get taskCount(): number {
    return this.#taskCount;
  }

  /** Until the signal; its blocks are given back then. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#look();
        if (this.#isAway) this.#say("");
        this.#isAway = false;
      } catch (error) {
        this.#isAway = true;
        this.#note(error); // a server may be away: it is looked for again
      }
      if (this.#options.once === true && this.#serving?.served.isOver === true) break;
      await sleep(this.#clock, boardMs, signal);
    }
    this.#serving?.served.leave(true);
    await this.#board.removeWorker(this.#options.id).catch(() => {}); // it goes by itself
  }

  async #look(): Promise<void> {
    const { id, version, threads } = this.#options;
    const { blockCount: blocks, doing: now } = this;
    const memoryMib = Math.ceil(process.memoryUsage.rss() / 2 ** 20);
    // Who can read this line has the same key: another one on the board is no trouble of this worker's.
    const trouble = this.#trouble === anotherKey ? "" : this.#trouble;
    await this.#board.putWorker(id, { version, threads, blocks, trouble, memoryMib, doing: now });
    const view = await this.#board.read();
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

  async #join({ epoch: name, leaseMs, tasks }: CrewEpoch): Promise<void> {
    const { engine, sealOf, id } = this.#options;
    this.#leave();
    const epoch = await engine.join(name);
    if (epoch === null) return; // it is over, or not there yet
    this.#say("");
    const served = new ServedEpoch({
      worker: id,
      epoch,
      messages: new SealedMessages(sealOf(name)),
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

  async #make({ scheme, terms, firstRow, rowCount, binCounts, file, digest }: CrewHold): Promise<BlockWork> {
    const { schemeNamed, files, threads } = this.#options;
    const { block } = schemeNamed(scheme);
    if (block === undefined) throw new TandemError("USAGE", `the scheme ${scheme} has no work for workers`);
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
