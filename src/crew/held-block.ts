/**
 * A block at a worker: its bins are read, its log is replayed from the first entry of the round, and then followed.
 * Large payloads are fetched ahead of the computations.
 * Questions that a previous holder has already answered are skipped.
 */
import { TandemError } from "../base/error.ts";
import { workedAhead } from "../base/scheduling/worked-ahead.ts";
import type { Answer, BlockWork } from "../scheme/blocks/block.ts";
import {
  type CrewEntry,
  CrewEntrySchema,
  CrewHeldSchema,
  type CrewHold,
  CrewSumSchema,
  CrewWantedSchema,
} from "../wire/generated/tandem/v1/crew_pb.ts";
import { type Activity, doing } from "./activity.ts";
import { BlockLog, type LoggedEntry } from "./block-log.ts";
import { type Clock, every, sleep } from "./clock.ts";
import type { Epoch, Lease, StoredMessage } from "./engine.ts";
import { FetchedParts } from "./line/fetched-parts.ts";
import type { Line } from "./line/line.ts";
import { cut, type SealedMessages } from "./sealed-messages.ts";
import { heldSubject, logSubject, sumSubject, wantedSubject } from "./subjects.ts";
import type { WatchedTurns } from "./watched-turns.ts";

export interface HeldBlockOptions {
  readonly worker: string;
  readonly epoch: Epoch;
  readonly messages: SealedMessages;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** One computation at a time, each with all threads. */
  readonly turns: WatchedTurns;
  readonly activity: Activity;
  /** Null: there is none in this attempt. */
  readonly line: Line | null;
  /** Reads the block's bins. */
  readonly make: (hold: CrewHold) => Promise<BlockWork>;
}

const fullRetryMs = 200;
/** Messages of a log that are fetched before they are needed: half a megabyte each. */
const aheadMax = 16;
/** Renewals per lease: some may be lost. */
const renewals = 4;

export class HeldBlock {
  readonly block: number;
  readonly deliveries: number;
  readonly #options: HeldBlockOptions;
  readonly #hold: CrewHold;
  readonly #lease: Lease;
  readonly #gone = new AbortController();
  #work: BlockWork | null = null;
  /** Resolves when its bins are read and its memory is allocated, or it was dropped. */
  readonly read: Promise<void>;
  #onRead: () => void = () => {};
  /** The error of the block, for the rest of the round. */
  #refusal: TandemError | null = null;
  /** The number of log messages stored before this worker took the block. */
  #toReplay = 0;

  constructor(options: HeldBlockOptions, hold: CrewHold, lease: Lease) {
    this.block = hold.block;
    this.deliveries = lease.deliveries;
    this.#options = options;
    this.#hold = hold;
    this.#lease = lease;
    this.read = new Promise((resolve) => (this.#onRead = resolve));
    every(options.clock, options.leaseMs / renewals, this.#gone.signal, () => lease.renew());
  }

  /** Drops the block: another worker holds it, or the epoch is over. */
  drop(): void {
    this.#gone.abort();
    this.#work = null;
    this.#onRead();
  }

  giveBack(): void {
    if (this.#gone.signal.aborted) return;
    this.drop();
    this.#lease.giveBack();
  }

  announce(): void {
    const { epoch, messages, worker, turns } = this.#options;
    const subject = heldSubject(this.block);
    const held = { worker, deliveries: this.deliveries, turns: turns.ended };
    epoch.say(subject, messages.seal(CrewHeldSchema, subject, held));
  }

  /** Runs until it is dropped. @throws any error that makes it impossible to hold the block */
  async follow(): Promise<void> {
    const { epoch, make, turns, activity, line, clock } = this.#options;
    const { signal } = this.#gone;
    const read = (): Promise<BlockWork> => activity.during(doing.reading, () => make(this.#hold));
    const work = await turns.run(this.#hold, () => (signal.aborted ? null : read()));
    if (signal.aborted) return;
    this.#work = work;
    this.#onRead();
    const log = new BlockLog();
    const subject = logSubject(this.block);
    this.#toReplay = this.deliveries > 1 ? await epoch.stored(subject) : 0;
    const parts = new FetchedParts({ block: this.block, log, line, clock, signal, ask: (part) => this.#ask(part) });
    for await (const part of this.#parts(epoch.follow(subject, -1, signal), parts)) {
      if (part !== null) for (const logged of log.take(part)) await this.#take(logged);
      if (this.#toReplay > 0) this.#toReplay--;
      if (signal.aborted) return;
    }
    if (!signal.aborted) throw new TandemError("ENGINE_LOST", "the engine ended the message stream of a block");
  }

  #parts(stored: AsyncIterable<StoredMessage>, parts: FetchedParts): AsyncIterable<CrewEntry | null> {
    const { messages } = this.#options;
    return workedAhead(
      stored,
      async ({ subject, message }) => {
        const part = messages.open(CrewEntrySchema, subject, message);
        return part && parts.whole(part);
      },
      aheadMax,
    );
  }

  /** Asks the party to send payloads to the engine. */
  #ask({ round, sequence }: Pick<CrewEntry, "round" | "sequence">): void {
    const { epoch, messages } = this.#options;
    const { block } = this;
    const subject = wantedSubject(block);
    epoch.say(subject, messages.seal(CrewWantedSchema, subject, { block, round, sequence }));
  }

  async #take({ round, step, isFirst, entry }: LoggedEntry): Promise<void> {
    const work = this.#work;
    if (work === null) return;
    if (isFirst) {
      work.begin();
      this.#refusal = null;
    }
    if (step > 0) {
      if (await this.#isAnswered(round, step)) return;
      const answer = await this.#reportWhile(doing.summing, () => work.answer(entry));
      return this.#answer(round, step, this.#refusal ?? answer);
    }
    const refused = await this.#reportWhile(doing.loading, () => work.take(entry));
    if (refused instanceof TandemError) this.#refusal = refused;
  }

  /** The answer of the block, or its error. After an error the block does nothing more in the round. */
  async #reportWhile<T>(what: number, say: () => Promise<T>): Promise<T | TandemError | null> {
    return this.#options.turns.run(this.#hold, async () => {
      if (this.#refusal !== null || this.#gone.signal.aborted) return null;
      try {
        return await this.#options.activity.during(this.#toReplay > 0 ? doing.replaying : what, say);
      } catch (error) {
        if (error instanceof TandemError && error.code !== "INTERNAL") return error;
        throw error;
      }
    });
  }

  /** A block that is handed out for the first time has no answers yet. */
  async #isAnswered(round: number, step: number): Promise<boolean> {
    if (this.deliveries <= 1) return false;
    return (await this.#options.epoch.stored(sumSubject(round, step, this.block, 0))) > 0;
  }

  /** Piece 0 is stored last: once it is stored, the answer is complete. */
  async #answer(round: number, step: number, answer: Answer | TandemError | null): Promise<void> {
    if (answer === null) return; // the block was dropped in the meantime
    const common = { round, step, block: this.block };
    if (answer instanceof TandemError) {
      await this.#store({ ...common, piece: 0, pieces: 1, refusalCode: answer.code, refusal: answer.message });
      return;
    }
    const pieces = [...cut(await answer.bytes())];
    await Promise.all(pieces.slice(1).map((bytes, i) => this.#store({ ...common, piece: i + 1, bytes })));
    await this.#store({ ...common, piece: 0, pieces: pieces.length, bytes: pieces[0] });
  }

  async #store(sum: Sum): Promise<void> {
    const { epoch, messages, clock } = this.#options;
    const { signal } = this.#gone;
    const subject = sumSubject(sum.round, sum.step, sum.block, sum.piece);
    const sealed = messages.seal(CrewSumSchema, subject, sum);
    while (!signal.aborted) {
      try {
        return await epoch.append(subject, sealed);
      } catch (error) {
        if (!(error instanceof TandemError) || error.code !== "ENGINE_FULL") throw error;
      }
      await sleep(clock, fullRetryMs, signal); // the party also detects this, and gives up in time
    }
  }
}

interface Sum {
  readonly round: number;
  readonly step: number;
  readonly block: number;
  readonly piece: number;
  readonly pieces?: number;
  readonly bytes?: Uint8Array;
  readonly refusalCode?: string;
  readonly refusal?: string;
}
