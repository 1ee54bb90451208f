/**
 * A crew of workers, from the party's side. For each attempt at a job it creates an epoch at the engine, writes the
 * bins of each block to files that workers can read, and offers the blocks to the workers.
 */
import { TandemError } from "../base/error.ts";
import { osRandom } from "../base/random.ts";
import { blockBounds, sliceColumns } from "../scheme/blocks/block-bounds.ts";
import type { Blocks, Crew, CrewJob } from "../scheme/blocks/crew.ts";
import type { OpenTasks, TaskCrew, TaskJob } from "../scheme/tasks/tasks.ts";
import { type CrewHold, CrewHoldSchema } from "../wire/generated/tandem/v1/crew_pb.ts";
import type { BlockFiles } from "./block-files.ts";
import { blockRowsFor } from "./block-rows.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";
import { ableWorkers, CrewStatusTable, workersMissing } from "./crew-status.ts";
import { CrewWatch } from "./crew-watch.ts";
import type { Engine, Epoch } from "./engine.ts";
import type { LineHost } from "./line/line-host.ts";
import { type CrewEvent, RemoteBlocks } from "./remote-blocks.ts";
import { SealedMessages, type SealOf } from "./sealed-messages.ts";
import { holdQueue } from "./subjects.ts";
import { RemoteTasks } from "./tasks/remote-tasks.ts";
import { turnMsMax } from "./watched-turns.ts";

export interface RemoteCrewOptions {
  readonly engine: Engine;
  readonly sealOf: SealOf;
  readonly files: BlockFiles;
  /** The version of this program: workers of another version take no blocks. */
  readonly version: string;
  /** As encrypted at the engine. */
  readonly leaseMs: number;
  /** Default: a power of two, about four blocks per worker. Any number gives the same model. */
  readonly blockRows?: number | undefined;
  /** The number of workers that a job waits for. */
  readonly workersMin: number;
  /** How long to wait for workers, and for room at the engine. */
  readonly patienceMs: number;
  /** Direct connections of workers; left out: the engine carries everything. */
  readonly lines?: LineHost | undefined;
  readonly clock?: Clock | undefined;
  readonly on?: ((event: CrewEvent) => void) | undefined;
}

/** The party's record of an offered block. */
type Hold = Pick<CrewHold, "file" | "digest" | "rowCount" | "binCounts">;

const statusMs = 500;
/** Polling intervals while waiting for workers: before a job is proposed, and during an attempt. */
const readyMs = 10_000;
const epochBytes = 12;

export class RemoteCrew implements Crew, TaskCrew {
  readonly #options: RemoteCrewOptions;
  readonly #clock: Clock;
  readonly #statusTable: CrewStatusTable;
  readonly #on: (event: CrewEvent) => void;
  readonly #watch: CrewWatch;
  /** A later attempt may begin before an older one has been cleaned up. */
  #current = "";
  #failure: TandemError | null = null;
  /** Ends an attempt that was not ended. */
  readonly #open = new Set<() => Promise<void>>();
  /** Pending ends. */
  readonly #clearing = new Set<Promise<void>>();

  constructor(options: RemoteCrewOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#statusTable = new CrewStatusTable(options.engine.statusTable, options.sealOf);
    this.#on = options.on ?? (() => {});
    this.#watch = new CrewWatch({ statusTable: this.#statusTable, clock: this.#clock, on: this.#on });
  }

  /** @throws TandemError WORKERS_MISSING, ENGINE_LOST */
  async open(job: CrewJob): Promise<Blocks> {
    const { engine, sealOf, files, patienceMs } = this.#options;
    await this.#cleared();
    const name = this.#newEpoch();
    await this.#forgetOlder();
    const workers = await this.#workers(name, patienceMs);
    const bounds = blockBounds(job.rowCount, this.#options.blockRows ?? blockRowsFor(job.rowCount, workers));
    const messages = new SealedMessages(sealOf(name));
    const epoch = await engine.begin(name);
    let holds: readonly Hold[];
    try {
      await files.begin(name);
      holds = await this.#offer(epoch, messages, job, bounds);
      const { version, leaseMs, lines } = this.#options;
      const common = { epoch: name, version, leaseMs, tasks: job.taskTerms !== undefined };
      await this.#statusTable.putEpoch({
        ...common,
        blocks: bounds.length - 1,
        lines: [...(lines?.addresses() ?? [])],
      });
    } catch (error) {
      await this.#close(epoch).catch(() => {}); // report the first error
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
      statusTable: this.#statusTable,
      clock: this.#clock,
      patienceMs,
      turnMsMax: Math.max(...holds.map(turnMsMax)),
      isIntact: (block) => this.#isIntact(holds[block]),
      on: this.#on,
      tasks,
      lines: this.#options.lines ?? null,
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

  /** Its epoch is never stored on the engine's disk. */
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
      await this.#statusTable.putEpoch({ epoch: name, version, leaseMs, tasks: true });
    } catch (error) {
      await close().catch(() => {}); // report the first error
      throw error;
    }
    this.#on({ kind: "tasks-opened", workers });
    return { run: (task) => tasks.run(task), close };
  }

  get failure(): TandemError | null {
    return this.#failure;
  }

  /** Ends everything that is still open. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((end) => end()));
  }

  /** Runs once, for the first caller. */
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

  /** An older attempt must not remove the entry of the next one. */
  async #cleared(): Promise<void> {
    await Promise.allSettled(this.#clearing);
  }

  /**
   * Removes what a process that died has left in the status table. Its workers would stay in its attempt, and if they
   * cannot read its blocks any more, none would be available for the next one.
   */
  async #forgetOlder(): Promise<void> {
    if (this.#open.size === 0) await this.#statusTable.removeEpoch();
  }

  #newEpoch(): string {
    this.#current = Buffer.from(osRandom.fill(new Uint8Array(epochBytes))).toString("hex");
    return this.#current;
  }

  #tasks(epoch: Epoch, messages: SealedMessages, job: TaskJob, onFailure?: (error: TandemError) => void): RemoteTasks {
    return new RemoteTasks({
      epoch,
      messages,
      statusTable: this.#statusTable,
      clock: this.#clock,
      patienceMs: this.#options.patienceMs,
      job,
      onSilence: () => this.#tellWorkers(),
      onFailure,
    });
  }

  /** Reports that workers are missing, so that the owner starts some. */
  async #tellWorkers(): Promise<void> {
    const { version, workersMin } = this.#options;
    const workers = ableWorkers(await this.#statusTable.read(), version);
    if (workers < workersMin) this.#on({ kind: "waiting-for-workers", workers, wanted: workersMin });
  }

  /**
   * The number of workers that can take blocks.
   * @throws TandemError WORKERS_MISSING if they stay too few, PROTOCOL_STATE if a later attempt waits for them too:
   * the epoch of the older one would end that of the later one
   */
  async #workers(epoch: string, patienceMs: number): Promise<number> {
    const { version, workersMin } = this.#options;
    const since = this.#clock.now();
    for (let reported = -1; ;) {
      const view = await this.#statusTable.read();
      if (this.#current !== epoch) throw new TandemError("PROTOCOL_STATE", "another attempt has begun");
      const workers = ableWorkers(view, version);
      if (workers >= workersMin) return workers;
      if (workers !== reported) this.#on({ kind: "waiting-for-workers", workers, wanted: workersMin });
      reported = workers;
      if (this.#clock.now() - since > patienceMs) throw workersMissing(view, workersMin, workers, null);
      await sleep(this.#clock, statusMs);
    }
  }

  async #offer(epoch: Epoch, messages: SealedMessages, job: CrewJob, bounds: Uint32Array): Promise<readonly Hold[]> {
    const { scheme, terms, columns } = job;
    const binCounts = [...columns.binCounts];
    const holds: Hold[] = [];
    for (let block = 0; block + 1 < bounds.length; block++) {
      const [firstRow, end] = [bounds[block], bounds[block + 1]];
      const written = await this.#options.files.write(epoch.name, block, sliceColumns(columns, firstRow, end));
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
      return false; // also if it cannot be read
    }
  }

  async #close(epoch: Epoch): Promise<void> {
    await this.#options.files.end(epoch.name);
    await this.#end(epoch);
  }

  async #end(epoch: Epoch): Promise<void> {
    if (this.#current === epoch.name) await this.#statusTable.removeEpoch();
    await epoch.end();
  }
}
