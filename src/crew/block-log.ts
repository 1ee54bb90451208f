/**
 * Reassembles a block's log from messages that may be duplicated, early, of a finished round, or partial. Each entry is
 * delivered once, in order and whole. Messages are numbered by the party; the engine's order is ignored.
 */
import type { Entry } from "../scheme/blocks/block.ts";
import type { CrewEntry } from "../wire/generated/tandem/v1/crew_pb.ts";

export interface LoggedEntry {
  readonly round: number;
  /** The step of a question; 0: no question. */
  readonly step: number;
  /** It is the first of its round. */
  readonly isFirst: boolean;
  readonly entry: Entry;
}

export class BlockLog {
  #round = -1;
  #next = 0;
  /** Early messages: at most as many as a party has unconfirmed. */
  readonly #early = new Map<number, CrewEntry>();
  #parts: Uint8Array[] = [];
  #isFirst = true;

  /** Whether a message is of this round or a later one, and has not been taken. */
  misses({ round, sequence }: Pick<CrewEntry, "round" | "sequence">): boolean {
    if (round !== this.#round) return round > this.#round;
    return sequence >= this.#next && !this.#early.has(sequence);
  }

  /** The entries that are complete after this message. */
  *take(message: CrewEntry): Generator<LoggedEntry> {
    if (message.round > this.#round) this.#begin(message.round);
    if (message.round < this.#round || message.sequence < this.#next) return;
    this.#early.set(message.sequence, message);
    for (let due = this.#early.get(this.#next); due !== undefined; due = this.#early.get(this.#next)) {
      this.#early.delete(this.#next++);
      this.#parts.push(due.payload);
      if (due.more) continue;
      const payload = this.#parts.length === 1 ? due.payload : Buffer.concat(this.#parts);
      this.#parts = [];
      yield { round: due.round, step: due.step, isFirst: this.#isFirst, entry: { head: due.head, payload } };
      this.#isFirst = false;
    }
  }

  #begin(round: number): void {
    this.#round = round;
    this.#next = 0;
    this.#early.clear();
    this.#parts = [];
    this.#isFirst = true;
  }
}
