/**
 * The party's side of its blocks' logs. Entries are numbered, encrypted and sent, with a limited number unconfirmed. A
 * full engine makes the writer wait, and so the sender of gradients.
 *
 * If the party has lines to its workers, large payloads stay here and logs have their digests; a worker that cannot
 * fetch them asks, and they are sent to the engine after all.
 */
import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import type { Entry } from "../scheme/blocks/block.ts";
import { CrewEntrySchema, type CrewWanted } from "../wire/generated/tandem/v1/crew_pb.ts";
import { type Clock, sleep } from "./clock.ts";
import type { Epoch } from "./engine.ts";
import type { KeptParts, Part } from "./line/kept-parts.ts";
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
  /** Payloads that workers fetch; null: the engine carries all. */
  readonly kept: KeptParts | null;
  /** Called once, with an error that occurred in the background. */
  readonly onFailure: (error: unknown) => void;
  /** Called once for each time that the engine is full. */
  readonly onFull: (error: TandemError) => void;
}

export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #sequences: Uint32Array;
  readonly #ahead = new Set<Promise<void>>();
  /** Per block, from which message on the engine has all payloads: a worker has asked for them. */
  readonly #inEngine: Float64Array;
  /** Messages of this round, those that were sent a second time included. */
  #written = 0;
  #isFull = false;
  round = 0;
  /** Encrypted bytes, in all rounds. */
  sentBytes = 0;

  constructor(options: LogWriterOptions, blockCount: number) {
    this.#options = options;
    this.#sequences = new Uint32Array(blockCount);
    this.#inEngine = new Float64Array(blockCount).fill(Infinity);
  }

  /** Begins new logs. */
  async begin(): Promise<void> {
    await this.settled();
    const { epoch, kept } = this.#options;
    this.round++;
    this.#sequences.fill(0);
    this.#inEngine.fill(Infinity);
    this.#written = 0;
    kept?.clear();
    await epoch.purge(allLogs);
    await epoch.purge(allSums);
  }

  /** @param step of a question; 0: no question */
  async write(block: number, { head, payload }: Entry, step: number): Promise<void> {
    const parts = [...cut(payload)];
    for (const [i, bytes] of parts.entries()) {
      await this.#room();
      const more = i + 1 < parts.length;
      const entry = { round: this.round, sequence: this.#sequences[block]++, step, more, payload: bytes };
      const part = more ? entry : { ...entry, head };
      const isKept = part.sequence < this.#inEngine[block] && this.#options.kept?.keep(block, part) === true;
      this.#send(block, isKept ? toFetch(part) : part);
    }
  }

  /** Sends kept payloads to the engine, and later ones too: a worker cannot fetch them. Must not overlap writes. */
  async sendKept({ block, round, sequence }: CrewWanted): Promise<void> {
    const { kept } = this.#options;
    if (round !== this.round || kept === null || !(sequence < this.#inEngine[block])) return;
    const end = this.#inEngine[block];
    this.#inEngine[block] = sequence;
    for (const part of kept.between(block, sequence, end)) {
      await this.#room();
      this.#send(block, part);
    }
  }

  /** The payload of a message of this round, if it is kept. */
  kept({ block, round, sequence }: CrewWanted): Uint8Array | null {
    const { kept } = this.#options;
    return round === this.round ? (kept?.get(block, sequence)?.payload ?? null) : null;
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
    const confirmed = this.#written;
    const stored = await this.#options.epoch.stored(allLogs);
    if (round === this.round && stored < confirmed)
      throw new TandemError("ENGINE_LOST", `the engine has lost ${confirmed - stored} of ${confirmed} messages`);
  }

  async #room(): Promise<void> {
    while (this.#ahead.size >= aheadMax) await Promise.race(this.#ahead);
  }

  #send(block: number, part: MessageInitShape<typeof CrewEntrySchema>): void {
    const subject = logSubject(block);
    const sealed = this.#options.messages.seal(CrewEntrySchema, subject, part);
    this.#written++;
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

/** What the log says of a payload that stays here. */
function toFetch({ payload, ...part }: Part): MessageInitShape<typeof CrewEntrySchema> {
  return { ...part, size: payload.length, digest: createHash("sha256").update(payload).digest() };
}
