/**
 * An epoch at a worker: it takes blocks up to its share, holds them, and returns surplus ones when a round begins. A
 * block whose lease expires goes to the next worker that asks; the worker that lost it is notified and drops it.
 */
import { TandemError } from "../base/error.ts";
import { CrewHeldSchema, type CrewHold, CrewHoldSchema } from "../wire/generated/tandem/v1/crew_pb.ts";
import type { BlockWork } from "../scheme/blocks/block.ts";
import type { TaskJob, TaskWork } from "../scheme/tasks/tasks.ts";
import { Activity } from "./activity.ts";
import { type Clock, every, sleep } from "./clock.ts";
import type { Epoch, Lease } from "./engine.ts";
import { HeldBlock } from "./held-block.ts";
import type { Line } from "./line/line.ts";
import type { SealedMessages } from "./sealed-messages.ts";
import { allHeld, holdQueue, lastNumber, roundBegan, unreadSubject, whoHolds } from "./subjects.ts";
import { ServedTasks } from "./tasks/served-tasks.ts";
import { type StuckTurn, WatchedTurns } from "./watched-turns.ts";

export interface ServedEpochOptions {
  readonly worker: string;
  readonly epoch: Epoch;
  readonly messages: SealedMessages;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Its connection to the party; null: it has none. */
  readonly line: Line | null;
  readonly make: (hold: CrewHold) => Promise<BlockWork>;
  /** Null: the epoch has no tasks. */
  readonly makeTasks: ((job: TaskJob) => Promise<TaskWork>) | null;
  readonly onTask?: (() => void) | undefined;
  /** The number of blocks that this worker should hold, as currently known. */
  readonly share: () => number;
  /** Whether the process has memory for one more block. */
  readonly hasRoom: () => boolean;
  /** Called with a block that this worker cannot hold. */
  readonly onTrouble: (error: unknown) => void;
}

/** The time limit of one request for a block, because the share may change. */
const askMs = 1000;
const shareMs = 250;
const stuckLookMs = 1000;

export class ServedEpoch {
  readonly #options: ServedEpochOptions;
  readonly #turns: WatchedTurns;
  readonly #activity = new Activity();
  readonly #held = new Map<number, HeldBlock>();
  readonly #ended = new AbortController();
  readonly #tasks: ServedTasks | null;
  /** Blocks whose bins cannot be read, and how often they had been handed out then. */
  readonly #unread = new Map<number, number>();
  #isUnfit = false;

  constructor(options: ServedEpochOptions) {
    this.#options = options;
    this.#turns = new WatchedTurns(options.clock);
    const { makeTasks } = options;
    this.#tasks = makeTasks === null ? null : new ServedTasks({ ...options, makeTasks, turns: this.#turns.unwatched });
  }

  get blockCount(): number {
    return this.#held.size;
  }

  get doing(): number {
    return this.#activity.doing;
  }

  get isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Runs until the epoch is over, or is left. */
  async run(): Promise<void> {
    const { signal } = this.#ended;
    every(this.#options.clock, stuckLookMs, signal, () => {
      const { stuck } = this.#turns;
      if (stuck !== null && this.#held.size > 0) this.#giveUp(stuck);
    });
    try {
      const work = [this.#takeBlocks(signal), this.#hearHolders(signal), this.#hearParty(signal)];
      if (this.#tasks !== null) work.push(this.#tasks.run(signal));
      await Promise.race(work);
    } catch (error) {
      if (!isEpochOver(error)) this.#options.onTrouble(error);
    } finally {
      this.leave(false);
    }
  }

  /** @param givesBack whether its blocks are released at once */
  leave(givesBack: boolean): void {
    if (givesBack) this.#tasks?.giveBack();
    this.#ended.abort();
    this.#options.line?.close();
    for (const block of this.#held.values()) {
      if (givesBack) block.giveBack();
      else block.drop();
    }
    this.#held.clear();
  }

  /** A worker that has its share waits for a lease time before it takes more, so that workers without blocks come
   * first. */
  async #takeBlocks(signal: AbortSignal): Promise<void> {
    const { epoch, clock, leaseMs, share, hasRoom } = this.#options;
    let fullSince: number | null = null;
    while (!signal.aborted) {
      fullSince = this.#held.size < share() ? null : (fullSince ?? clock.now());
      const mayTake = !this.#isUnfit && hasRoom() && (fullSince === null || clock.now() - fullSince >= leaseMs);
      if (!mayTake) {
        await sleep(clock, shareMs, signal);
        continue;
      }
      fullSince = null;
      const lease = await this.#within(askMs, signal, (asking) => epoch.take(holdQueue, asking));
      // The memory of a block is known once it is read: one at a time.
      if (lease !== null) await this.#hold(lease)?.read;
    }
  }

  async #within<T>(ms: number, signal: AbortSignal, ask: (asking: AbortSignal) => Promise<T>): Promise<T> {
    const asking = new AbortController();
    const stop = (): void => asking.abort();
    const cancel = this.#options.clock.after(ms, stop);
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await ask(asking.signal);
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
    }
  }

  #hold(lease: Lease): HeldBlock | null {
    const hold = this.#options.messages.open(CrewHoldSchema, holdQueue, lease.message);
    if (hold === null || this.isOver) return null; // its lease expires
    this.#held.get(hold.block)?.drop(); // this worker was disconnected, and holds it again
    const held = new HeldBlock({ ...this.#options, turns: this.#turns, activity: this.#activity }, hold, lease);
    this.#held.set(hold.block, held);
    held.announce();
    held.follow().catch((error: unknown) => this.#lose(held, error));
    return held;
  }

  /** Other workers may be able to hold it: this worker takes no more blocks. */
  #lose(held: HeldBlock, error: unknown): void {
    if (isEpochOver(error)) return this.leave(false);
    this.#isUnfit = true;
    if (this.#held.get(held.block) === held) this.#held.delete(held.block);
    held.giveBack();
    const isUnread = error instanceof TandemError && error.code === "CHECKPOINT";
    if (!isUnread) return this.#options.onTrouble(error);
    this.#unread.set(held.block, held.deliveries);
    this.#sayUnread();
    this.#options.onTrouble(new TandemError(error.code, `block ${held.block}: ${error.message}`, { cause: error }));
  }

  /** The party checks whether the file is unchanged: then this worker sees another folder. */
  #sayUnread(): void {
    const { epoch, messages, worker } = this.#options;
    for (const [block, deliveries] of this.#unread) {
      const subject = unreadSubject(block);
      epoch.say(subject, messages.seal(CrewHeldSchema, subject, { worker, deliveries }));
    }
  }

  /** A computation that does not end blocks all others, so all blocks are released. */
  #giveUp({ block, forMs }: StuckTurn): void {
    const { worker, onTrouble } = this.#options;
    this.#isUnfit = true;
    for (const held of this.#held.values()) held.giveBack();
    this.#held.clear();
    const words = `has worked on block ${block} for ${Math.round(forMs / 1000)} s, and takes no more`;
    onTrouble(new TandemError("INTERNAL", `worker ${worker} ${words}. Restart it`));
  }

  async #hearHolders(signal: AbortSignal): Promise<void> {
    const { epoch, messages, worker } = this.#options;
    for await (const { subject, message } of epoch.hear(allHeld, signal)) {
      const other = messages.open(CrewHeldSchema, subject, message);
      const own = this.#held.get(lastNumber(subject));
      if (other === null || own === undefined || other.worker === worker) continue;
      if (other.deliveries <= own.deliveries) continue;
      own.drop();
      this.#held.delete(own.block);
    }
  }

  async #hearParty(signal: AbortSignal): Promise<void> {
    const { epoch, messages } = this.#options;
    const announce = async (): Promise<void> => {
      for await (const { message } of epoch.hear(whoHolds, signal))
        if (messages.open(CrewHeldSchema, whoHolds, message) !== null) {
          for (const block of this.#held.values()) block.announce();
          this.#sayUnread();
        }
    };
    const spread = async (): Promise<void> => {
      for await (const { message } of epoch.hear(roundBegan, signal))
        if (messages.open(CrewHeldSchema, roundBegan, message) !== null) this.#giveBackSurplus();
    };
    await Promise.race([announce(), spread()]);
  }

  #giveBackSurplus(): void {
    const surplus = this.#held.size - Math.max(1, this.#options.share());
    if (surplus <= 0) return;
    for (const block of [...this.#held.values()].slice(-surplus)) {
      this.#held.delete(block.block);
      block.giveBack();
    }
  }
}

function isEpochOver(error: unknown): boolean {
  return error instanceof TandemError && error.code === "ENGINE_LOST";
}
