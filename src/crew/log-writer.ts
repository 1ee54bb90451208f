/**
 * The party's side of its blocks' logs. Entries are numbered, encrypted and sent, with a limited number unconfirmed. A
 * full engine makes the writer wait, and so the sender of gradients.
 */
import { TandemError } from "../base/error.ts";
import type { Entry } from "../scheme/blocks/block.ts";
import { CrewEntrySchema } from "../wire/generated/tandem/v1/crew_pb.ts";
import { type Clock, sleep } from "./clock.ts";
import type { Epoch } from "./engine.ts";
import { cut, type SealedMessages } from "./sealed-messages.ts";
import { allLogs, allSums, logSubject } from "./subjects.ts";

/** Limit of unconfirmed messages: enough to keep a connection busy. */
const aheadMax = 16;
const fullRetryMs = 200;

export interface LogWriterOptions {
  readonly epoch: Epoch;
  readonly messages: SealedMessages;
  readonly clock: Clock;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** Called once, with an error that occurred in the background. */
  readonly onFailure: (error: unknown) => void;
  /** Called once for each time that the engine is full. */
  readonly onFull: (error: TandemError) => void;
}

export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #sequences: Uint32Array;
  readonly #ahead = new Set<Promise<void>>();
  #isFull = false;
  round = 0;
  /** Encrypted bytes, in all rounds. */
  sentBytes = 0;

  constructor(options: LogWriterOptions, blockCount: number) {
    this.#options = options;
    this.#sequences = new Uint32Array(blockCount);
  }

  /** Begins new logs. */
  async begin(): Promise<void> {
    await this.settled();
    const { epoch } = this.#options;
    this.round++;
    this.#sequences.fill(0);
    await epoch.purge(allLogs);
    await epoch.purge(allSums);
  }

  /** @param step of a question; 0: no question */
  async write(block: number, { head, payload }: Entry, step: number): Promise<void> {
    const { messages } = this.#options;
    const subject = logSubject(block);
    const parts = [...cut(payload)];
    for (const [i, part] of parts.entries()) {
      while (this.#ahead.size >= aheadMax) await Promise.race(this.#ahead);
      const more = i + 1 < parts.length;
      const entry = { round: this.round, sequence: this.#sequences[block]++, step, more, payload: part };
      this.#send(subject, messages.seal(CrewEntrySchema, subject, more ? entry : { ...entry, head }));
    }
  }

  /** Waits until everything written is confirmed, or has failed. */
  async settled(): Promise<void> {
    while (this.#ahead.size > 0) await Promise.all(this.#ahead);
  }

  /**
   * Checks that the engine still has all confirmed messages.
   * @throws TandemError ENGINE_LOST
   */
  async check(): Promise<void> {
    if (this.#ahead.size > 0) return;
    const { round } = this;
    const confirmed = this.#sequences.reduce((a, b) => a + b, 0);
    const stored = await this.#options.epoch.stored(allLogs);
    if (round === this.round && stored < confirmed)
      throw new TandemError("ENGINE_LOST", `the engine has lost ${confirmed - stored} of ${confirmed} messages`);
  }

  #send(subject: string, sealed: Uint8Array): void {
    this.sentBytes += sealed.length;
    const sent = this.#stored(subject, sealed)
      .catch((error: unknown) => this.#options.onFailure(error))
      .finally(() => this.#ahead.delete(sent));
    this.#ahead.add(sent);
  }

  async #stored(subject: string, sealed: Uint8Array): Promise<void> {
    const { epoch, clock, patienceMs, signal, onFull } = this.#options;
    const since = clock.now();
    while (!signal.aborted) {
      try {
        await epoch.append(subject, sealed);
        this.#isFull = false;
        return;
      } catch (error) {
        const isFull = error instanceof TandemError && error.code === "ENGINE_FULL";
        if (!isFull || clock.now() - since > patienceMs) throw error;
        if (!this.#isFull) onFull(error); // many messages wait for room at the same time
        this.#isFull = true;
      }
      await sleep(clock, fullRetryMs, signal);
    }
  }
}
