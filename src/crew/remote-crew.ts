/**
 * A crew of workers, from the party's side. For each attempt at a job it makes an epoch at the engine, writes the bins
 * of each block where workers can read them, and offers the blocks to whoever takes them.
 */
import { TandemError } from "../base/error.ts";
import { osRandom } from "../base/random.ts";
import { blockBounds, columnsOf } from "../scheme/blocks/block-bounds.ts";
import type { Blocks, Crew, CrewJob } from "../scheme/blocks/crew.ts";
import type { OpenTasks, TaskCrew, TaskJob } from "../scheme/tasks/tasks.ts";
import { type CrewHold, CrewHoldSchema } from "../wire/generated/tandem/v1/crew_pb.ts";
import type { BlockFiles } from "./block-files.ts";
import { blockRowsFor } from "./block-rows.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";
import { ableWorkers, CrewBoard, workersMissing } from "./crew-board.ts";
import { CrewWatch } from "./crew-watch.ts";
import type { Engine, Epoch } from "./engine.ts";
import { type CrewEvent, RemoteBlocks } from "./remote-blocks.ts";
import { SealedMessages, type SealOf } from "./sealed-messages.ts";
import { holdQueue } from "./subjects.ts";
import { RemoteTasks } from "./tasks/remote-tasks.ts";
import { turnMsMax } from "./watched-turns.ts";

export interface RemoteCrewOptions {
  readonly engine: Engine;
  readonly sealOf: SealOf;
  readonly files: BlockFiles;
  /** Of this program: workers of another one take nothing. */
  readonly version: string;
  /** As the engine has it. */
  readonly leaseMs: number;
  /** Default: a power of two, about four blocks per worker. Any number gives the same model. */
  readonly blockRows?: number | undefined;
  /** How many workers a job waits for. */
  readonly workersMin: number;
  /** How long it waits for workers, and for room at the engine. */
  readonly patienceMs: number;
  readonly clock?: Clock | undefined;
  readonly on?: ((event: CrewEvent) => void) | undefined;
}

/** What a party remembers of a block that it has offered. */
type Hold = Pick<CrewHold, "file" | "digest" | "rowCount" | "binCounts">;

const boardMs = 500;
/** Who does tasks only is waited for before others are asked to take part, and by those who wait anyway. */
const readyMs = 10_000;
const epochBytes = 12;

export class RemoteCrew implements Crew, TaskCrew {
  readonly #options: RemoteCrewOptions;
  readonly #clock: Clock;
  readonly #board: CrewBoard;
  readonly #on: (event: CrewEvent) => void;
  readonly #watch: CrewWatch;
  /** A later attempt may begin before an older one has been cleared away. */
  #current = "";
  #failure: TandemError | null = null;
  /** What ends an attempt that nobody has ended. */
  readonly #open = new Set<() => Promise<void>>();
  /** Ends that are under way. */
  readonly #clearing = new Set<Promise<void>>();

  constructor(options: RemoteCrewOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#board = new CrewBoard(options.engine.board, options.sealOf);
    this.#on = options.on ?? (() => {});
    this.#watch = new CrewWatch({ board: this.#board, clock: this.#clock, on: this.#on });
  }

  /** @throws TandemError WORKERS_MISSING, ENGINE_LOST */
  async open(job: CrewJob): Promise<Blocks> {
    const { engine, sealOf, files, patienceMs } = this.#options;
    await this.#cleared();
    const name = this.#newEpoch();
    const workers = await this.#workers(name, patienceMs);
    const bounds = blockBounds(job.rowCount, this.#options.blockRows ?? blockRowsFor(job.rowCount, workers));
    const messages = new SealedMessages(sealOf(name));
    const epoch = await engine.begin(name);
    let holds: readonly Hold[];
    try {
      await files.begin(name);
      holds = await this.#offer(epoch, messages, job, bounds);
      const { version, leaseMs } = this.#options;
      const tasks = job.taskTerms !== undefined;
      await this.#board.putEpoch({ epoch: name, version, blocks: bounds.length - 1, leaseMs, tasks });
    } catch (error) {
      await this.#close(epoch).catch(() => {}); // the first trouble is the one to tell
      throw error;
    }
    this.#on({ kind: "opened", blocks: bounds.length - 1, rowsPerBlock: bounds[1] });
    const watching = new AbortController();
    let tellEnd = (): void => {};
    const { scheme, taskTerms: terms } = job;
    const tasks = terms === undefined ? null : this.#tasks(epoch, messages, { scheme, terms });
    const blocks = new RemoteBlocks({
      bounds,
      epoch,
      messages,
      board: this.#board,
      clock: this.#clock,
      patienceMs,
      turnMsMax: Math.max(...holds.map(turnMsMax)),
      isIntact: (block) => this.#isIntact(holds[block]),
      on: this.#on,
      tasks,
      onClose: this.#ending(async () => {
        tellEnd();
        watching.abort();
        tasks?.close();
        await this.#close(epoch);
      }),
    });
    tellEnd = this.#watch.begin(() => blocks.facts(), watching.signal);
    return blocks;
  }

  async ready(): Promise<void> {
    this.#failure = null;
    await this.#workers(this.#current, readyMs);
  }

  /** Nothing of it is ever on the engine's disk. */
  async openTasks(job: TaskJob): Promise<OpenTasks> {
    const { engine, sealOf, version, leaseMs } = this.#options;
    this.#failure = null;
    await this.#cleared();
    const name = this.#newEpoch();
    const workers = await this.#workers(name, readyMs);
    const messages = new SealedMessages(sealOf(name));
    const epoch = await engine.begin(name, true);
    const tasks = this.#tasks(epoch, messages, job, (error) => {
      if (this.#current === name) this.#failure = error;
      this.#on({ kind: "epoch-lost", code: error.code });
    });
    const close = this.#ending(async () => {
      tasks.close();
      await this.#end(epoch);
    });
    try {
      await this.#board.putEpoch({ epoch: name, version, leaseMs, tasks: true });
    } catch (error) {
      await close().catch(() => {}); // the first trouble is the one to tell
      throw error;
    }
    this.#on({ kind: "tasks-opened", workers });
    return { run: (task) => tasks.run(task), close };
  }

  get failure(): TandemError | null {
    return this.#failure;
  }

  /** Ends what is still open. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((end) => end()));
  }

  /** What is done once, by whoever comes first. */
  #ending(end: () => Promise<void>): () => Promise<void> {
    let ended: Promise<void> | null = null;
    const once = (): Promise<void> => {
      if (ended !== null) return ended;
      const ending = end().finally(() => {
        this.#open.delete(once);
        this.#clearing.delete(ending);
      });
      ended = ending;
      this.#clearing.add(ending);
      return ending;
    };
    this.#open.add(once);
    return once;
  }

  /** What an older attempt takes off the board must not be the next one's. */
  async #cleared(): Promise<void> {
    await Promise.allSettled(this.#clearing);
  }

  #newEpoch(): string {
    this.#current = Buffer.from(osRandom.fill(new Uint8Array(epochBytes))).toString("hex");
    return this.#current;
  }

  #tasks(epoch: Epoch, messages: SealedMessages, job: TaskJob, onFailure?: (error: TandemError) => void): RemoteTasks {
    return new RemoteTasks({
      epoch,
      messages,
      board: this.#board,
      clock: this.#clock,
      patienceMs: this.#options.patienceMs,
      job,
      onSilence: () => this.#tellWorkers(),
      onFailure,
    });
  }

  /** Where there are none, somebody should start some. */
  async #tellWorkers(): Promise<void> {
    const { version, workersMin } = this.#options;
    const workers = ableWorkers(await this.#board.read(), version);
    if (workers < workersMin) this.#on({ kind: "waiting-for-workers", workers, wanted: workersMin });
  }

  /**
   * How many can take blocks. @throws TandemError WORKERS_MISSING where they stay too few, PROTOCOL_STATE where a later
   * attempt waits for them too: what the older one began would end what the later one has
   */
  async #workers(epoch: string, patienceMs: number): Promise<number> {
    const { version, workersMin } = this.#options;
    const since = this.#clock.now();
    for (let told = -1; ;) {
      const view = await this.#board.read();
      if (this.#current !== epoch) throw new TandemError("PROTOCOL_STATE", "another attempt has begun");
      const workers = ableWorkers(view, version);
      if (workers >= workersMin) return workers;
      if (workers !== told) this.#on({ kind: "waiting-for-workers", workers, wanted: workersMin });
      told = workers;
      if (this.#clock.now() - since > patienceMs) throw workersMissing(view, workersMin, workers, null);
      await sleep(this.#clock, boardMs);
    }
  }

  async #offer(epoch: Epoch, messages: SealedMessages, job: CrewJob, bounds: Uint32Array): Promise<readonly Hold[]> {
    const { scheme, terms, columns } = job;
    const binCounts = [...columns.binCounts];
    const holds: Hold[] = [];
    for (let block = 0; block + 1 < bounds.length; block++) {
      const [firstRow, end] = [bounds[block], bounds[block + 1]];
      const written = await this.#options.files.write(epoch.name, block, columnsOf(columns, firstRow, end));
      const hold = { block, scheme, terms, firstRow, rowCount: end - firstRow, binCounts, ...written };
      await epoch.offer(holdQueue, messages.seal(CrewHoldSchema, holdQueue, hold));
      holds.push({ rowCount: hold.rowCount, binCounts, ...written });
    }
    return holds;
  }

  async #isIntact({ file, digest, rowCount, binCounts }: Hold): Promise<boolean> {
    try {
      await this.#options.files.read(file, digest, rowCount, Uint32Array.from(binCounts));
      return true;
    } catch {
      return false; // also where the disk does not let it be read
    }
  }

  async #close(epoch: Epoch): Promise<void> {
    await this.#options.files.end(epoch.name);
    await this.#end(epoch);
  }

  async #end(epoch: Epoch): Promise<void> {
    if (this.#current === epoch.name) await this.#board.removeEpoch();
    await epoch.end();
  }
}
