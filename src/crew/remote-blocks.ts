/**
 * A party's blocks at its workers, for one attempt: it writes their logs, and receives their answers. Any loss ends the
 * attempt with an error from which a new attempt may recover; no authoritative state is kept here.
 */
import { setMaxListeners } from "node:events";
import { TandemError } from "../base/error.ts";
import { Exclusive } from "../base/scheduling/exclusive.ts";
import type { Answer, Entry } from "../scheme/blocks/block.ts";
import type { Blocks } from "../scheme/blocks/crew.ts";
import type { Tasks } from "../scheme/tasks/tasks.ts";
import { CrewHeldSchema, CrewSumSchema, CrewWantedSchema } from "../wire/generated/tandem/v1/crew_pb.ts";
import { AwaitedSums } from "./awaited-sums.ts";
import { type Clock, every } from "./clock.ts";
import { type CrewStatusTable, workersMissing } from "./crew-status.ts";
import { type EpochFacts, shownWorker } from "./crew-snapshot.ts";
import type { AwaitedBlocks } from "./crew-summary.ts";
import type { WatchEvent } from "./crew-watch.ts";
import type { Epoch } from "./engine.ts";
import { Holders } from "./holders.ts";
import { KeptParts } from "./line/kept-parts.ts";
import type { LineHost } from "./line/line-host.ts";
import { LogWriter } from "./log-writer.ts";
import type { SealedMessages } from "./sealed-messages.ts";
import { allHeld, allSums, allUnread, allWanted, lastNumber, roundBegan, whoHolds } from "./subjects.ts";

const lookMs = 2000;

/** Events for the owner: numbers and names of workers, nothing of the data. */
export type CrewEvent =
  | { readonly kind: "waiting-for-workers"; readonly workers: number; readonly wanted: number }
  | { readonly kind: "tasks-opened"; readonly workers: number }
  | { readonly kind: "opened"; readonly blocks: number; readonly rowsPerBlock: number }
  | { readonly kind: "block-held"; readonly block: number; readonly worker: string; readonly deliveries: number }
  | { readonly kind: "epoch-lost"; readonly code: string }
  | { readonly kind: "engine-awaited"; readonly why: string }
  | WatchEvent;

export interface RemoteBlocksOptions {
  readonly bounds: Uint32Array;
  readonly epoch: Epoch;
  readonly messages: SealedMessages;
  readonly statusTable: CrewStatusTable;
  readonly clock: Clock;
  readonly patienceMs: number;
  /** The time limit of a worker for one operation. */
  readonly turnMsMax: number;
  /** Whether the file of a block's bins is unchanged. */
  readonly isIntact: (block: number) => Promise<boolean>;
  readonly on: (event: CrewEvent) => void;
  readonly tasks: Tasks | null;
  /** Null: the engine carries everything. */
  readonly lines: LineHost | null;
  /** Called once, at the end. */
  readonly onClose: () => Promise<void>;
}

export class RemoteBlocks implements Blocks {
  readonly bounds: Uint32Array;
  readonly isElsewhere = true;
  readonly tasks: Tasks | null;
  readonly #options: RemoteBlocksOptions;
  readonly #log: LogWriter;
  readonly #kept: KeptParts | null;
  readonly #endLines: () => void;
  readonly #ended = new AbortController();
  readonly #turns = new Exclusive();
  readonly #awaited = new Map<number, AwaitedSums>();
  readonly #holders = new Holders();
  readonly #askedMs = new Map<number, number>();
  #step = 0;
  #takenBytes = 0;
  #failure: TandemError | null = null;
  readonly #failed: Promise<never>;
  #reject: (error: TandemError) => void = () => {};

  constructor(options: RemoteBlocksOptions) {
    const { bounds, epoch, messages, clock, patienceMs, lines } = options;
    this.bounds = bounds;
    this.tasks = options.tasks;
    this.#options = options;
    this.#failed = new Promise((_, reject) => (this.#reject = reject));
    this.#failed.catch(() => {}); // waiting questions rethrow it
    const { signal } = this.#ended;
    setMaxListeners(0, signal); // one listener per message that waits for room
    const onFailure = (error: unknown): void => this.#fail(error);
    const onFull = ({ message }: TandemError): void => options.on({ kind: "engine-awaited", why: message });
    this.#kept = lines && new KeptParts(lines.keptBytesMax, lines.fetchedBytesMin);
    const common = { epoch, messages, clock, patienceMs, signal, kept: this.#kept };
    this.#log = new LogWriter({ ...common, onFailure, onFull }, bounds.length - 1);
    this.#endLines = lines?.share({ messages, partOf: (wanted) => this.#log.kept(wanted) }) ?? (() => {});
    this.#takeSums(signal).catch(onFailure);
    this.#hearHolders(signal).catch(onFailure);
    this.#hearUnread(signal).catch(onFailure);
    this.#hearWanted(signal).catch(onFailure);
  }

  begin(): Promise<void> {
    return this.#turns.run(async () => {
      this.#check();
      this.#awaited.clear();
      await this.#log.begin().catch((error: unknown) => this.#fail(error));
      this.#check();
      const { epoch, messages } = this.#options;
      epoch.say(roundBegan, messages.seal(CrewHeldSchema, roundBegan, {}));
    });
  }

  append(block: number, entry: Entry): Promise<void> {
    return this.#turns.run(async () => {
      this.#check();
      await this.#log.write(block, entry, 0);
      this.#check();
    });
  }

  async ask(questions: readonly (Entry | null)[]): Promise<readonly (Answer | null)[]> {
    const step = ++this.#step;
    const awaited = new AwaitedSums(questions.map((question) => question !== null));
    this.#awaited.set(step, awaited);
    const looking = new AbortController();
    const { clock } = this.#options;
    const askedMs = clock.now();
    this.#askedMs.set(step, askedMs);
    every(clock, lookMs, looking.signal, () => void this.#look(awaited, askedMs));
    try {
      await this.#turns.run(async () => {
        for (const [block, question] of questions.entries()) {
          this.#check();
          if (question !== null) await this.#log.write(block, question, step);
        }
      });
      await Promise.race([awaited.whole, this.#failed]);
      return awaited.taken();
    } finally {
      looking.abort();
      this.#awaited.delete(step);
      this.#askedMs.delete(step);
    }
  }

  /** A snapshot for the owner. */
  facts(): EpochFacts {
    return {
      blocks: this.bounds.length - 1,
      bytesToEngine: this.#log.sentBytes,
      bytesFromEngine: this.#takenBytes,
      awaited: this.#longest(),
    };
  }

  async close(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#endLines();
    this.#kept?.clear();
    this.#fail(new TandemError("PROTOCOL_STATE", "the attempt is over"));
    await this.#options.onClose();
  }

  /** While waiting for an answer: checks that the engine has everything, and that all awaited blocks have a holder.
   * */
  async #look(awaited: AwaitedSums, askedMs: number): Promise<void> {
    const { epoch, messages, clock, patienceMs, turnMsMax, statusTable } = this.#options;
    try {
      epoch.say(whoHolds, messages.seal(CrewHeldSchema, whoHolds, {}));
      await this.#log.check();
      const patience = { unheldMs: patienceMs, stuckMs: patienceMs + turnMsMax };
      const late = this.#holders.late(awaited.missing, askedMs, clock.now(), patience);
      if (late?.stuck) throw stuckWorker(late.block, late.stuck.worker, late.stuck.forMs);
      if (late !== null) throw workersMissing(await statusTable.read(), 1, 0, late.block);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #takeSums(signal: AbortSignal): Promise<void> {
    const { epoch, messages } = this.#options;
    for await (const { subject, message } of epoch.follow(allSums, -1, signal)) {
      this.#takenBytes += message.length;
      const sum = messages.open(CrewSumSchema, subject, message);
      if (sum !== null && sum.round === this.#log.round) this.#awaited.get(sum.step)?.take(sum);
    }
    if (!signal.aborted) throw new TandemError("ENGINE_LOST", "the engine ended the message stream of this attempt");
  }

  async #hearHolders(signal: AbortSignal): Promise<void> {
    const { epoch, messages, clock, on } = this.#options;
    for await (const { subject, message } of epoch.hear(allHeld, signal)) {
      const held = messages.open(CrewHeldSchema, subject, message);
      const block = lastNumber(subject);
      if (held === null || block < 0) continue;
      const { deliveries } = held;
      const worker = shownWorker(held.worker);
      if (this.#holders.hear(block, { ...held, worker }, clock.now()))
        on({ kind: "block-held", block, worker, deliveries });
    }
  }

  /** A worker cannot read a block's bins. If the file is intact, that worker sees another folder; others may read it.
   * */
  async #hearUnread(signal: AbortSignal): Promise<void> {
    const { epoch, messages, isIntact } = this.#options;
    const looked = new Set<string>(); // reports repeat
    for await (const { subject, message } of epoch.hear(allUnread, signal)) {
      const unread = messages.open(CrewHeldSchema, subject, message);
      const block = lastNumber(subject);
      if (unread === null || block < 0 || block + 1 >= this.bounds.length) continue;
      const handedOut = `${block} ${unread.deliveries}`;
      if (looked.has(handedOut)) continue;
      looked.add(handedOut);
      if (!(await isIntact(block)) && !signal.aborted) throw damagedBlock(block);
    }
  }

  /** A worker cannot fetch a payload: the engine brings it. */
  async #hearWanted(signal: AbortSignal): Promise<void> {
    const { epoch, messages } = this.#options;
    for await (const { subject, message } of epoch.hear(allWanted, signal)) {
      const wanted = messages.open(CrewWantedSchema, subject, message);
      if (wanted !== null && wanted.block === lastNumber(subject))
        await this.#turns.run(() => this.#log.sendKept(wanted));
    }
  }

  /** The oldest open question, and the holders that it waits for. */
  #longest(): AwaitedBlocks | null {
    const [oldest] = this.#askedMs;
    if (oldest === undefined) return null;
    const [step, askedMs] = oldest;
    const blocks = new Map<string, number>();
    for (const block of this.#awaited.get(step)?.missing ?? []) {
      const worker = this.#holders.workerOf(block) ?? "";
      blocks.set(worker, (blocks.get(worker) ?? 0) + 1);
    }
    const seconds = Math.floor((this.#options.clock.now() - askedMs) / 1000);
    return { seconds, of: [...blocks].map(([worker, count]) => ({ worker, blocks: count })) };
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure =
      error instanceof TandemError
        ? error
        : new TandemError("ENGINE_LOST", "the connection to the workers failed", { cause: error });
    const { code } = this.#failure;
    if (!this.#ended.signal.aborted) this.#options.on({ kind: "epoch-lost", code });
    this.#reject(this.#failure);
  }
}

/** A worker that responds but makes no progress. */
function stuckWorker(block: number, worker: string, forMs: number): TandemError {
  const words = `worker ${worker} holds block ${block}, and made no progress for ${Math.round(forMs / 1000)} s`;
  return new TandemError("WORKERS_MISSING", `${words}. Restart it`);
}

function damagedBlock(block: number): TandemError {
  return new TandemError(
    "CHECKPOINT",
    `the bins of block ${block} are no longer in the crew's folder as they were written there. ` +
      "No other program may write there. Run the same command again to continue the job; it writes them again",
  );
}
