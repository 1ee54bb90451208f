/**
 * A crew of workers, from the party's side. For each attempt at a job it makes an epoch at the engine, writes the bins
 * of each block where workers can read them, and offers the blocks to whoever takes them.
 */
import { osRandom } from "../base/random.ts";
import { blockBounds, columnsOf } from "../scheme/blocks/block-bounds.ts";
import type { Blocks, Crew, CrewJob } from "../scheme/blocks/crew.ts";
import { CrewHoldSchema } from "../wire/generated/tandem/v1/crew_pb.ts";
import type { BlockFiles } from "./block-files.ts";
import { type Clock, sleep, systemClock } from "./clock.ts";
import { ableWorkers, CrewBoard, workersMissing } from "./crew-board.ts";
import { CrewWatch } from "./crew-watch.ts";
import type { Engine, Epoch } from "./engine.ts";
import { type CrewEvent, RemoteBlocks } from "./remote-blocks.ts";
import { SealedMessages, type SealOf } from "./sealed-messages.ts";
import { holdQueue } from "./subjects.ts";

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

const boardMs = 500;
const epochBytes = 12;
/** Joint bins need many rows: smaller blocks cost more. */
const blockRowsMin = 2 ** 16;
const blockRowsMax = 2 ** 20;
const blocksPerWorker = 4;

export class RemoteCrew implements Crew {
  readonly #options: RemoteCrewOptions;
  readonly #clock: Clock;
  readonly #board: CrewBoard;
  readonly #on: (event: CrewEvent) => void;
  readonly #watch: CrewWatch;
  /** A later attempt may begin before an older one has been cleared away. */
  #current = "";

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
    const name = Buffer.from(osRandom.fill(new Uint8Array(epochBytes))).toString("hex");
    this.#current = name;
    const workers = await this.#workers();
    const bounds = blockBounds(job.rowCount, this.#options.blockRows ?? blockRowsFor(job.rowCount, workers));
    const messages = new SealedMessages(sealOf(name));
    const epoch = await engine.begin(name);
    try {
      await files.begin(name);
      await this.#offer(epoch, messages, job, bounds);
      const { version, leaseMs } = this.#options;
      await this.#board.putEpoch({ epoch: name, version, blocks: bounds.length - 1, leaseMs });
    } catch (error) {
      await this.#close(epoch).catch(() => {}); // the first trouble is the one to tell
      throw error;
    }
    this.#on({ kind: "opened", blocks: bounds.length - 1, rowsPerBlock: bounds[1] });
    const watching = new AbortController();
    let tellEnd = (): void => {};
    const blocks = new RemoteBlocks({
      bounds,
      epoch,
      messages,
      board: this.#board,
      clock: this.#clock,
      patienceMs,
      on: this.#on,
      onClose: () => {
        tellEnd();
        watching.abort();
        return this.#close(epoch);
      },
    });
    tellEnd = this.#watch.begin(() => blocks.facts(), watching.signal);
    return blocks;
  }

  /** How many can take blocks. @throws TandemError WORKERS_MISSING where they stay too few */
  async #workers(): Promise<number> {
    const { version, workersMin, patienceMs } = this.#options;
    const since = this.#clock.now();
    for (let told = -1; ;) {
      const view = await this.#board.read();
      const workers = ableWorkers(view, version);
      if (workers >= workersMin) return workers;
      if (workers !== told) this.#on({ kind: "waiting-for-workers", workers, wanted: workersMin });
      told = workers;
      if (this.#clock.now() - since > patienceMs) throw workersMissing(view, workersMin, workers, null);
      await sleep(this.#clock, boardMs);
    }
  }

  async #offer(epoch: Epoch, messages: SealedMessages, job: CrewJob, bounds: Uint32Array): Promise<void> {
    const { scheme, terms, columns } = job;
    const binCounts = [...columns.binCounts];
    for (let block = 0; block + 1 < bounds.length; block++) {
      const [firstRow, end] = [bounds[block], bounds[block + 1]];
      const written = await this.#options.files.write(epoch.name, block, columnsOf(columns, firstRow, end));
      const hold = { block, scheme, terms, firstRow, rowCount: end - firstRow, binCounts, ...written };
      await epoch.offer(holdQueue, messages.seal(CrewHoldSchema, holdQueue, hold));
    }
  }

  async #close(epoch: Epoch): Promise<void> {
    if (this.#current === epoch.name) await this.#board.removeEpoch();
    await this.#options.files.end(epoch.name);
    await epoch.end();
  }
}

function blockRowsFor(rowCount: number, workers: number): number {
  const wanted = rowCount / (blocksPerWorker * Math.max(1, workers));
  return Math.min(blockRowsMax, Math.max(blockRowsMin, 2 ** Math.ceil(Math.log2(Math.max(1, wanted)))));
}
